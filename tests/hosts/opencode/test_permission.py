"""A tool of ours that takes the place of one of OpenCode's asks the person for what that one asks."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.rehearsal.opencode import ANSWER

from ..played import Played
from ..programs import program
from ..scenario import Scenario
from .runner import Opened, Runner, install, start

AFTER = {"op": "append", "lines": "NEW = 1"}
OLD, NEW = "OLD = 1\n", "OLD = 1\nNEW = 1\n"


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("permission")) as runner:
        yield runner


def opened(opencode: Runner, *edits: Mapping[str, Any], permission: Any = None) -> Opened:
    """A project whose person has these rules, and a model that makes these edits, one after another."""
    scenario = Scenario.model_validate({
        "hook": "hashline-edit",
        "needs": ["tools"],
        "settings": {"experimental": {"hashline_edit": True}},
        "files": {"free.py": OLD, "locked.py": OLD},
        "prompts": ["Edit it."],
        "turns": [*({"tool": "edit", "args": one} for one in edits), {"say": "done"}],
        "expect": [],
    })  # fmt: skip
    one = opencode.open(scenario)
    settings = one.project / "opencode.json"
    said = json.loads(settings.read_text())
    del said["permission"]
    settings.write_text(json.dumps({**said, **({"permission": permission} if permission else {})}))
    install(one.project)
    return one


def results(played: Played) -> list[str]:
    return [message.text for message in played.requests[-1].messages if message.call]


def test_what_the_persons_rules_deny_is_not_edited(opencode: Runner) -> None:
    """One file is denied, under each way to change it; ``edit`` itself is still offered."""
    edits = (
        {"filePath": "locked.py", "edits": [AFTER]},
        {"filePath": "./x/../locked.py", "delete": True},
        {"filePath": "locked.py", "rename": "free2.py"},
        {"filePath": "free.py", "edits": [AFTER]},
        {"filePath": "free.py", "rename": "locked-too.py"},
    )
    played = opencode.finish(opened(opencode, *edits, permission={"edit": {"*": "allow", "locked*": "deny"}}))
    told = results(played)
    assert [text for text in told if "rule which prevents you" not in text] == ["Updated free.py."], told
    assert {path.name: path.read_text() for path in played.project.glob("*.py")} == {"free.py": NEW, "locked.py": OLD}


def test_what_lies_outside_the_project_needs_that_permission_too(opencode: Runner, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(OLD)
    edit = {"filePath": str(outside), "edits": [AFTER]}
    rules = {"edit": "allow", "external_directory": "deny"}
    played = opencode.finish(opened(opencode, edit, permission=rules))
    assert "external_directory" in results(played)[0]
    assert outside.read_text() == OLD


def test_the_agent_that_only_plans_edits_nothing(opencode: Runner) -> None:
    one = opened(opencode, {"filePath": "free.py", "edits": [AFTER]})
    session = opencode.server.session(one.project)
    body = {"agent": "plan", "parts": [{"type": "text", "text": "Edit it."}]}
    opencode.server.request("POST", f"/session/{session}/message", one.project, body)
    opencode.server.dispose(one.project)
    assert one.script.unplayed == 0
    assert (one.project / "free.py").read_text() == OLD


@pytest.mark.parametrize(("reply", "text"), [("once", NEW), ("reject", OLD)])
def test_the_person_is_asked_and_the_answer_counts(opencode: Runner, reply: str, text: str) -> None:
    one = opened(opencode, {"filePath": "free.py", "edits": [AFTER]}, permission={"edit": "ask"})
    asked: list[dict[str, Any]] = []

    def answer() -> None:
        end = time.monotonic() + ANSWER
        while not asked and time.monotonic() < end:
            asked.extend(opencode.server.request("GET", "/permission", one.project))
            time.sleep(0.1)
        assert (one.project / "free.py").read_text() == OLD
        opencode.server.request("POST", f"/permission/{asked[0]['id']}/reply", one.project, {"reply": reply, "message": "not now"})

    person = threading.Thread(target=answer)
    person.start()
    opencode.finish(one)
    person.join(ANSWER)
    [question] = asked
    assert (question["permission"], question["patterns"]) == ("edit", ["free.py"])
    assert (one.project / "free.py").read_text() == text
