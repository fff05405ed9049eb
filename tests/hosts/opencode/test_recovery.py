"""How often a model is asked again, in the real OpenCode, when it refuses a conversation: each request is counted."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, SupportsIndex

import pytest

from matrixx_builtin.rehearsal.opencode import END
from matrixx_builtin.rehearsal.turns import Turn

from ..programs import program
from ..scenario import Scenario
from .runner import Opened, Runner, install, start
from .test_bridge import engines, middleman
from .test_wake import SETTLED, asked, until

BEGIN = "Begin."
GO_ON = "[session recovery] The provider refused the conversation:"
GOES_ON, IN_VAIN = "the agent goes on", "has not helped"
"""What the person is told."""

ORDER = (
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final "
    "`assistant` message must start with a thinking block."
)
REFUSAL = {"error": 400, "body": {"type": "error", "error": {"type": "invalid_request_error", "message": ORDER}}}
"""As Anthropic answers a request whose thinking blocks it does not like."""

THOUGHT = "What was thought before"
WORK = {"think": THOUGHT, "tool": "bash", "args": {"command": "true", "description": "Nothing"}}
DONE = {"say": "done"}


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("recovery")) as runner:
        yield runner


def opened(opencode: Runner, turns: Sequence[dict[str, Any]], command: Sequence[str] = ()) -> Opened:
    """A project for these turns of the model; the last one is its answer to all further requests too."""
    scenario = {"hook": "session-recovery", "needs": [], "prompts": [], "turns": [*turns, *[turns[-1]] * 5], "expect": []}
    one = opencode.open(Scenario.model_validate(scenario))
    install(one.project, command)
    return one


def played(opencode: Runner, one: Opened, requests: int, told: str) -> list[dict[str, Any]]:
    """Say the first prompt, wait for so many requests, for what the person is told, and for what should not come; returns OpenCode's events."""
    with opencode.server.events(one.project) as events:
        session = opencode.server.session(one.project)
        opencode.server.prompt(one.project, session, BEGIN)
        until(lambda: len(asked(one)) >= requests and shown(list(events), told) > 0)
        time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    return events


def prompts(one: Opened) -> list[str]:
    """The agent's requests, each by whether its newest message is the person's, ours, or a call's result."""
    return [GO_ON if said.startswith(GO_ON) else BEGIN if said == BEGIN else "" for said in asked(one)]


def shown(events: Sequence[dict[str, Any]], text: str) -> int:
    return sum(event.get("type") == "tui.toast.show" and text in str(event) for event in events)


def idle_reports(events: Sequence[dict[str, Any]]) -> int:
    """How often OpenCode told that the session is idle, from the error on until it was busy again."""
    reports, failed = 0, False
    for event in events:
        status = event.get("properties", {}).get("status")
        failed = failed or event.get("type") == "session.error"
        if failed and status == {"type": "busy"}:
            break
        reports += failed and (event.get("type") == "session.idle" or status == {"type": "idle"})
    return reports


def test_one_refusal_one_prompt_without_the_thinking_however_often_idleness_is_told(opencode: Runner) -> None:
    one = opened(opencode, [WORK, REFUSAL, DONE])
    events = played(opencode, one, 3, GOES_ON)
    assert prompts(one) == [BEGIN, "", GO_ON]
    assert [THOUGHT in request.body for request in one.script.requests] == [False, True, False]
    assert idle_reports(events) >= 2  # within some ms: 1.18.33 tells it four times
    assert shown(events, GOES_ON) == 1


def test_refused_again_for_the_same_reason_the_session_waits_for_its_person(opencode: Runner) -> None:
    one = opened(opencode, [REFUSAL])
    events = played(opencode, one, 2, IN_VAIN)
    assert prompts(one) == [BEGIN, GO_ON]
    assert shown(events, IN_VAIN) == 1


def test_after_an_abort_it_is_not_gone_on_with(opencode: Runner) -> None:
    waiting = {"tool": "bash", "args": {"command": "touch begun; sleep 60", "description": "Wait"}}
    one = opened(opencode, [REFUSAL, waiting, REFUSAL])
    with opencode.server.events(one.project) as events:
        session = opencode.server.session(one.project)
        opencode.server.prompt(one.project, session, BEGIN)
        until((one.project / "begun").exists)
        opencode.server.request("POST", f"/session/{session}/abort", one.project)
        until(lambda: any("MessageAbortedError" in str(event) for event in list(events)))
        time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    assert prompts(one) == [BEGIN, GO_ON]


class Turns(list[Turn]):
    """Turns, before one of which something happens while the host waits for the answer."""

    def __init__(self, turns: Sequence[Turn], number: int, happens: Callable[[], None]) -> None:
        super().__init__(turns)
        self.left, self.happens = number, happens

    def pop(self, index: SupportsIndex = -1) -> Turn:
        self.left -= 1
        if self.left == 0:
            self.happens()
        return super().pop(index)


def replaced(folder: Path) -> None:
    """Kill the engine, and wait until the bridge has started another one."""
    (pid,) = engines(folder)
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + END
    while len(engines(folder)) < 2 and time.monotonic() < end:
        time.sleep(0.02)


@pytest.mark.parametrize("number", [1, 2])
def test_an_engine_killed_while_the_model_answers_makes_no_second_prompt(opencode: Runner, tmp_path: Path, number: int) -> None:
    folder = tmp_path / "engine"
    one = opened(opencode, [REFUSAL], middleman(folder))
    one.script.turns["main"] = Turns(one.script.turns["main"], number, lambda: replaced(folder))
    events = played(opencode, one, 2, IN_VAIN)
    assert prompts(one) == [BEGIN, GO_ON]
    assert len(engines(folder)) == 2
    assert shown(events, IN_VAIN) == 1
