"""Background work in the real OpenCode: the parent goes on, is woken when its sub-agent has answered, and fetches the answer."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import SupportsIndex

import pytest

from matrixx_builtin.rehearsal.model import Script
from matrixx_builtin.rehearsal.opencode import ANSWER

from ..programs import program
from ..scenario import Scenario, Turn
from .runner import Opened, Runner, install, start

HOOK = "background-tools"

DELEGATING = Scenario.model_validate({
    "hook": HOOK,
    "needs": ["block", "tools"],
    "prompts": ["Have the files counted."],
    "turns": [
        {
            "tool": "task",
            "args": {"description": "Count", "prompt": "Count the files.", "subagent_type": "general", "run_in_background": True},
        },
        {"say": "I wait."},
        {"tool": "background_output", "args": {"task_id": "<WORK>"}},
        {"say": "It is 42."},
    ],
    "expect": [],
})  # fmt: skip


class Turns(list[Turn]):
    """Turns that name the work by the id in the newest request."""

    def __init__(self, turns: list[Turn], script: Script) -> None:
        super().__init__(turns)
        self.script = script

    def pop(self, index: SupportsIndex = -1) -> Turn:
        turn = super().pop(index)
        ids = re.findall(r"bg_[0-9a-f]{8}", self.script.requests[-1].body)
        return Turn.model_validate_json(turn.model_dump_json(exclude_unset=True).replace("<WORK>", ids[-1])) if ids else turn


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("background")) as runner:
        yield runner


def opened(opencode: Runner, permission: Mapping[str, str] | None = None, **settings: object) -> Opened:
    """The scenario's project with OpenCode's own permissions, or those given."""
    one = opencode.open(DELEGATING, settings=settings)
    script, configuration = one.script, one.project / "opencode.json"
    configuration.write_text(json.dumps({**json.loads(configuration.read_text()), "permission": permission or {}}))
    script.turns["main"] = Turns(script.turns["main"], script)
    script.turns["subagent"] = [Turn(say="There are 42 files.")]
    install(one.project)
    return one


def until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + ANSWER
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.1)
    return held


def main(one: Opened) -> list[list[str]]:
    """The texts of each request that the main session has made."""
    return [[message.text for message in request.messages] for request in list(one.script.requests) if request.kind == "main"]


def test_the_parent_goes_on_is_woken_and_fetches_the_answer(opencode: Runner) -> None:
    one = opened(opencode)
    session = opencode.server.session(one.project)
    try:
        assert opencode.server.prompt(one.project, session, DELEGATING.prompts[0])
        assert until(lambda: len(main(one)) >= 4), main(one)
        [child] = opencode.server.request("GET", f"/session/{session}/children", one.project)
    finally:
        opencode.server.dispose(one.project)
    requests = main(one)
    assert "in the background as bg_" in requests[1][-1]
    assert requests[2][-1].startswith("<system-reminder>")
    assert "'Count' (general): completed" in requests[2][-1]
    assert requests[3][-1].endswith("There are 42 files.")
    assert child["title"] == "Count (@general subagent)"
    assert {"permission": "task", "pattern": "*", "action": "deny"} in child["permission"]


def test_without_the_hook_the_parent_waits_and_nobody_wakes_it(opencode: Runner) -> None:
    one = opened(opencode, disabled_hooks=[HOOK])
    session = opencode.server.session(one.project)
    try:
        assert opencode.server.prompt(one.project, session, DELEGATING.prompts[0])
    finally:
        opencode.server.dispose(one.project)
    requests = main(one)
    assert len(requests) == 2
    assert "There are 42 files." in requests[1][-1]


def test_what_the_person_wants_to_be_asked_about_is_not_started_behind_their_back(opencode: Runner) -> None:
    one = opened(opencode, {"task": "ask"})
    session = opencode.server.session(one.project)
    try:
        assert opencode.server.prompt(one.project, session, DELEGATING.prompts[0])
        assert opencode.server.request("GET", f"/session/{session}/children", one.project) == []
    finally:
        opencode.server.dispose(one.project)
    assert "say 'ask' to handing work to agent 'general'" in main(one)[1][-1]
    assert "call the task tool again without run_in_background" in main(one)[1][-1]
