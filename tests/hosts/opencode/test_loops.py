"""Whole conversations in the real OpenCode that hooks keep going: they end, and every request of the model is counted (C25, C26, C28)."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.rehearsal.opencode import END

from ..programs import program
from ..scenario import Scenario
from .runner import Opened, Runner, install, start
from .test_bridge import engines, middleman
from .test_recovery import Turns, shown
from .test_wake import SETTLED, asked, until

BEGIN = "Begin."
TODO = {"tool": "todowrite", "args": {"todos": [{"content": "Sew", "status": "pending", "priority": "high", "id": "1"}]}}
LOOP, TASKS = "[matrix loop", "[task continuation]"
IN_VAIN = "Nothing changed after three prompts"


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("loops")) as runner:
        yield runner


def opened(
    opencode: Runner, turns: Sequence[dict[str, Any]], command: Sequence[str] = (), delegated: Sequence[dict[str, Any]] = ()
) -> Opened:
    """A project for these turns of the model; the last one is its answer to all further requests too."""
    scenario = {"hook": "x", "needs": [], "prompts": [], "turns": [*turns, *[turns[-1]] * 9], "delegated": delegated, "expect": []}
    one = opencode.open(Scenario.model_validate(scenario))
    install(one.project, command)
    return one


def played(
    opencode: Runner, one: Opened, prompt: str, ends: Callable[[list[dict[str, Any]]], bool], meanwhile: Callable[[str], None] | None = None
) -> list[dict[str, Any]]:
    """Say the prompt, wait until it ends, and then for what should not come."""
    with opencode.server.events(one.project) as events:
        session = opencode.server.session(one.project)
        opencode.server.prompt(one.project, session, prompt)
        if meanwhile:
            meanwhile(session)
        until(lambda: ends(list(events)))
        time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    return events


def requests(one: Opened) -> list[str]:
    """Whose word each request of the main session follows: the loop's, the task list's, the person's, or a result (``""``)."""
    heads = (LOOP, TASKS, BEGIN, "/matrix-loop")
    return [next((head for head in heads if text.startswith(head)), "") for text in asked(one)]


def replaced(folder: Path) -> None:
    """Kill the engine, and wait until the bridge has started another one."""
    pid = engines(folder)[-1]
    count = len(engines(folder))
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + END
    while len(engines(folder)) == count and time.monotonic() < end:
        time.sleep(0.02)


def test_without_progress_three_prompts_are_the_end(opencode: Runner) -> None:
    one = opened(opencode, [TODO, {"say": "I cannot proceed."}])
    events = played(opencode, one, BEGIN, lambda events: shown(events, IN_VAIN) > 0)
    assert requests(one) == [BEGIN, "", TASKS, TASKS, TASKS]
    assert shown(events, IN_VAIN) == 1


def test_a_provider_that_answers_nothing_is_asked_no_more_often(opencode: Runner) -> None:
    one = opened(opencode, [TODO, {"say": " "}])
    played(opencode, one, BEGIN, lambda events: shown(events, IN_VAIN) > 0)
    assert requests(one) == [BEGIN, "", TASKS, TASKS, TASKS]


def test_two_that_would_go_on_take_turns_and_never_the_same_one(opencode: Runner) -> None:
    one = opened(opencode, [TODO, {"say": "Something."}, {"say": "Something else."}, {"say": "And else."}, {"say": "The same."}])
    played(opencode, one, '/matrix-loop "Sew the flag" --max-iterations=2', lambda events: shown(events, IN_VAIN) > 0)
    assert requests(one) == ["/matrix-loop", "", LOOP, LOOP, TASKS, TASKS, TASKS]


@pytest.mark.parametrize("number", [3, 4])
def test_an_engine_killed_in_the_middle_makes_no_prompt_more(opencode: Runner, tmp_path: Path, number: int) -> None:
    folder = tmp_path / "engine"
    one = opened(opencode, [TODO, {"say": "I cannot proceed."}], middleman(folder))
    one.script.turns["main"] = Turns(one.script.turns["main"], number, lambda: replaced(folder))
    played(opencode, one, BEGIN, lambda events: shown(events, IN_VAIN) > 0)
    assert len(engines(folder)) == 2
    assert requests(one) == [BEGIN, "", TASKS, TASKS, TASKS]


def test_a_session_that_is_gone_is_not_missed(opencode: Runner) -> None:
    one = opened(
        opencode,
        [TODO, {"say": "I cannot proceed."}, {"tool": "bash", "args": {"command": "touch begun; sleep 60", "description": "Wait"}}],
    )

    def gone(session: str) -> None:
        until((one.project / "begun").exists)
        opencode.server.request("DELETE", f"/session/{session}", one.project)

    played(opencode, one, BEGIN, lambda events: any(event.get("type") == "session.deleted" for event in events), gone)
    assert requests(one) == [BEGIN, "", TASKS]
    assert "Traceback" not in opencode._written()


def test_while_a_child_runs_its_parent_is_left_alone(opencode: Runner) -> None:
    task = {
        "tool": "task",
        "args": {"description": "Count", "prompt": "Count.", "subagent_type": "general", "run_in_background": True},
    }
    waits = {"tool": "bash", "args": {"command": "sleep 3", "description": "Wait"}}
    one = opened(opencode, [TODO, task, {"say": "I cannot proceed."}], delegated=[waits, {"say": "42"}])
    played(opencode, one, BEGIN, lambda events: shown(events, IN_VAIN) > 0)
    heads = [
        "<system-reminder>" if text.startswith("<system-reminder>") else head for text, head in zip(asked(one), requests(one), strict=True)
    ]
    assert heads == [BEGIN, "", "", "<system-reminder>", TASKS, TASKS, TASKS]
