"""Whole conversations in the real OpenCode that hooks keep going: they end, and every request of the model is counted (C25, C26, C28)."""

import json
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

import pytest

from matrixx_builtin.rehearsal.opencode import END
from matrixx_builtin.rehearsal.turns import Turn
from matrixx_builtin.services.mission import MissionFile

from ..programs import program
from ..scenario import Scenario
from .runner import Opened, Runner, install, start
from .test_bridge import engines, middleman
from .test_recovery import shown
from .test_wake import SETTLED, asked, until

BEGIN = "Begin."
LOOP, MISSION, TASKS, BACKGROUND = "[matrix loop", "[MISSION CONTINUATION]", "[task continuation]", "<system-reminder>"
IN_VAIN = "Nothing changed after three prompts"

TODO = {"tool": "todowrite", "args": {"todos": [{"content": "Sew", "status": "pending", "priority": "high", "id": "1"}]}}
WAITS = {"tool": "bash", "args": {"command": "touch begun; sleep 60", "description": "Wait"}}
STUCK = {"say": "I cannot proceed."}


@dataclass(frozen=True, slots=True)
class Place:
    """A project with its own engine, and all that its OpenCode has told so far."""

    opencode: Runner
    one: Opened
    events: list[dict[str, Any]]

    def begin(self, *turns: dict[str, Any], delegated: Sequence[dict[str, Any]] = ()) -> str:
        """A new session for these turns of the model; the last one is its answer to all further requests too."""
        self.one.script.requests.clear()
        self.events.clear()
        self.one.script.turns["main"] = [Turn.model_validate(turn) for turn in [*turns, *[turns[-1]] * 9]]
        self.one.script.turns["subagent"] = [Turn.model_validate(turn) for turn in delegated]
        return self.opencode.server.session(self.one.project)

    def say(self, session: str, prompt: str) -> None:
        self.opencode.server.prompt(self.one.project, session, prompt)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return self.opencode.server.request(method, path, self.one.project, body)

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [event["properties"] for event in list(self.events) if event.get("type") == kind]

    def settle(self) -> None:
        """Wait until the person is told that it is in vain, and then for what should not come."""
        until(lambda: shown(list(self.events), IN_VAIN) > 0)
        time.sleep(SETTLED)

    @property
    def requests(self) -> list[str]:
        """Whose word each request of the main session follows: a hook's, the person's, or a result (``""``)."""
        heads = (LOOP, MISSION, TASKS, BACKGROUND, BEGIN, "/matrix-loop", "/stop-continuation")
        return [next((head for head in heads if text.startswith(head)), "") for text in asked(self.one)]

    @property
    def delegated(self) -> int:
        """Requests of sub-agents."""
        return sum(request.kind == "subagent" for request in list(self.one.script.requests))


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("loops")) as runner:
        yield runner


def placed(opencode: Runner, command: Sequence[str] = ()) -> Iterator[Place]:
    one = opencode.open(Scenario.model_validate({"hook": "x", "needs": [], "prompts": [], "turns": [STUCK], "expect": []}))
    install(one.project, command)
    with opencode.server.events(one.project) as events:
        try:
            yield Place(opencode, one, events)
        finally:
            opencode.server.dispose(one.project)


@pytest.fixture(scope="module")
def shared(opencode: Runner) -> Iterator[Place]:
    """One place for all sessions in which no engine is killed."""
    yield from placed(opencode)


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    return tmp_path / "engine"


@pytest.fixture
def own(opencode: Runner, engine: Path) -> Iterator[Place]:
    """A place whose engines can be killed."""
    yield from placed(opencode, middleman(engine))


@pytest.mark.parametrize("answer", ["I cannot proceed.", " "])
def test_without_progress_three_prompts_are_the_end(shared: Place, answer: str) -> None:
    shared.say(shared.begin(TODO, {"say": answer}), BEGIN)
    shared.settle()
    assert shared.requests == [BEGIN, "", TASKS, TASKS, TASKS]
    assert shown(shared.events, IN_VAIN) == 1


def test_an_open_question_is_the_persons_to_answer(shared: Place) -> None:
    choices = [{"label": "Red", "description": "Red"}, {"label": "Blue", "description": "Blue"}]
    question = {"tool": "question", "args": {"questions": [{"question": "Which?", "header": "Colour", "options": choices}]}}
    shared.say(shared.begin(TODO, STUCK, question, STUCK), BEGIN)
    until(lambda: bool(shared.told("question.asked")))
    time.sleep(SETTLED)
    assert shared.requests == [BEGIN, "", TASKS]
    [asked_for] = shared.told("question.asked")
    shared.ask("POST", f"/question/{asked_for['id']}/reply", {"answers": [["Red"]]})
    shared.settle()
    assert shared.requests == [BEGIN, "", TASKS, "", TASKS, TASKS]


def test_the_persons_abort_ends_a_loop_for_good(shared: Place) -> None:
    session = shared.begin(STUCK, WAITS, STUCK)
    begun = shared.one.project / "begun"
    shared.say(session, '/matrix-loop "Sew the flag"')
    until(begun.exists)
    begun.unlink()
    shared.ask("POST", f"/session/{session}/abort")
    until(lambda: "MessageAbortedError" in str(shared.told("session.error")))
    time.sleep(SETTLED)
    shared.say(session, BEGIN)
    time.sleep(SETTLED)
    assert shared.requests == ["/matrix-loop", LOOP, BEGIN]


def test_a_session_that_is_gone_is_not_missed(shared: Place) -> None:
    session = shared.begin(TODO, STUCK, WAITS)
    begun = shared.one.project / "begun"
    shared.say(session, BEGIN)
    until(begun.exists)
    begun.unlink()
    shared.ask("DELETE", f"/session/{session}")
    until(lambda: bool(shared.told("session.deleted")))
    time.sleep(SETTLED)
    assert shared.requests == [BEGIN, "", TASKS]
    assert "Traceback" not in shared.opencode._written()


def test_all_that_would_go_on_take_turns_once_the_child_is_done(shared: Place) -> None:
    work = {"description": "Count", "prompt": "Count.", "subagent_type": "general", "run_in_background": True}
    child = [{"tool": "bash", "args": {"command": "sleep 2", "description": "Wait"}}, {"say": "42"}]
    session = shared.begin(
        TODO, {"tool": "task", "args": work}, {"say": "I wait."}, {"say": "Some."}, {"say": "More."}, STUCK, delegated=child
    )
    plan = shared.one.project / ".matrixx" / "plans" / "flag.md"
    plan.parent.mkdir(parents=True)
    plan.write_text("# Flag\n\n- [ ] Sew\n")
    MissionFile(shared.one.project).start(plan, session, "build")
    shared.say(session, '/matrix-loop "Sew the flag" --max-iterations=2')
    shared.settle()
    assert shared.requests == ["/matrix-loop", "", "", BACKGROUND, LOOP, LOOP, MISSION, MISSION, MISSION]
    assert shared.delegated == 2


class Turns(list[Turn]):
    """Turns, before some of which something happens while the host waits for the answer."""

    def __init__(self, turns: Sequence[Turn], numbers: Collection[int], happens: Callable[[], None]) -> None:
        super().__init__(turns)
        self.number, self.numbers, self.happens = 0, numbers, happens

    def pop(self, index: SupportsIndex = -1) -> Turn:
        self.number += 1
        if self.number in self.numbers:
            self.happens()
        return super().pop(index)


def replaced(folder: Path) -> None:
    """Kill the engine, and wait until the bridge has started another one."""
    before = engines(folder)
    os.kill(max(before, key=lambda pid: (folder / str(pid)).stat().st_mtime_ns), signal.SIGKILL)
    end = time.monotonic() + END
    while len(engines(folder)) == len(before) and time.monotonic() < end:
        time.sleep(0.02)


def test_engines_killed_in_the_middle_make_no_prompt_more_and_wake_neither_a_child_nor_what_was_stopped(own: Place, engine: Path) -> None:
    work = {"description": "Count", "prompt": "Count.", "subagent_type": "general"}
    session = own.begin(
        {"tool": "task", "args": work}, TODO, STUCK, delegated=[{"tool": "task_create", "args": {"subject": "Sew"}}, {"say": "42"}]
    )
    turns = own.one.script.turns
    turns["subagent"] = Turns(turns["subagent"], {2}, lambda: replaced(engine))
    turns["main"] = Turns(turns["main"], {5, 7}, lambda: replaced(engine))
    own.say(session, BEGIN)
    own.settle()
    assert own.requests == [BEGIN, "", "", TASKS, TASKS, TASKS]
    assert own.delegated == 2
    heard = idle_reports(engine)
    own.say(session, "/stop-continuation")
    until(lambda: idle_reports(engine) > heard)
    time.sleep(SETTLED)
    assert own.requests == [BEGIN, "", "", TASKS, TASKS, TASKS, "/stop-continuation"]
    assert len(engines(engine)) == 4


def idle_reports(folder: Path) -> int:
    """How often engines were told that a session is idle."""
    lines = [json.loads(line) for line in (folder / "sent.jsonl").read_text().splitlines()]
    return sum(line.get("event", {}).get("type") == "session.idle" for line in lines)
