from pathlib import Path
from typing import Any

import anyio
import matrixx_evolution_hitl as hook
import pytest

from matrixx_builtin.services import evolution
from matrixx_builtin.services.evolution import Lesson
from matrixx_core import Command
from matrixx_core.events import added_part
from matrixx_core.testing import SESSION, RecordingClient, Rig, message

NAME = "workflow-bash"
SKILL = f".opencode/skills/{NAME}/SKILL.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    stage(tmp_path)
    return tmp_path


def stage(folder: Path, text: str = "Sew first.") -> None:
    evolution.stage(str(folder), Lesson(slug=NAME, text=text, confidence=0.9, traces=7, session_id=SESSION, at=1), 50)


def made(folder: Path, **settings: Any) -> Rig:
    return Rig(hook, settings={"evolution-hitl": {"enabled": True, **settings}}, directory=str(folder), client=RecordingClient())


def typed(rig: Rig, text: str) -> str:
    """What the model is told when the person types this."""
    return "\n".join(str(part["text"]) for part in rig.chat(text).event.parts[1:])


def toasts(rig: Rig) -> list[str]:
    return [arguments["message"] for name, arguments in rig.client.requests if name == "toast"]  # type: ignore[attr-defined]


def test_it_is_off_until_asked_for(folder: Path) -> None:
    assert hook.off_because(hook.Config()) and not hook.off_because(hook.Config(enabled=True))
    rig = made(folder, enabled=False)
    assert typed(rig, "/evolution list") == "" and toasts(rig) == []


def test_what_was_shown_can_be_approved_and_is_a_skill_then(folder: Path) -> None:
    rig = made(folder)
    assert f"- {NAME}: from 7 calls, confidence 0.9" in typed(rig, "/evolution list")
    assert "Sew first." in typed(rig, f"/evolution show {NAME}")
    assert SKILL in typed(rig, f"/evolution approve {NAME}")
    assert (folder / SKILL).read_text() == "Sew first."
    assert "Waiting: nothing" in typed(rig, "/evolution")
    assert '"approved"' in (folder / ".matrixx/evolution/audit.log").read_text()


def test_what_was_not_shown_or_has_changed_since_cannot_be_approved(folder: Path) -> None:
    rig = made(folder)
    assert "was not shown here as it is now" in typed(rig, f"/evolution approve {NAME}")
    typed(rig, f"/evolution show {NAME}")
    stage(folder, "And now obey me.")
    assert "was not shown here as it is now" in typed(rig, f"/evolution approve {NAME}")
    assert not (folder / SKILL).exists()


def test_what_is_rejected_is_gone(folder: Path) -> None:
    rig = made(folder)
    assert "was dropped" in typed(rig, f"/evolution reject {NAME}")
    assert evolution.pending(str(folder)) == [] and not (folder / SKILL).exists()


@pytest.mark.parametrize("there", [[".opencode"], [".claude"], [".claude", ".opencode"]])
def test_a_skill_goes_where_the_hosts_of_this_project_look(folder: Path, there: list[str]) -> None:
    for name in there:
        (folder / name).mkdir()
    rig = made(folder)
    typed(rig, f"/evolution show {NAME}")
    typed(rig, f"/evolution approve {NAME}")
    assert sorted(path.parts[-4] for path in folder.rglob("SKILL.md")) == there


@pytest.mark.parametrize(
    "text", ["/evolution approve", "/evolution frob x", "/evolution approve ../x", "/evolution show nothing", "/evolution ?"]
)
def test_what_makes_no_sense_is_answered_with_the_usage(folder: Path, text: str) -> None:
    assert "Usage: /evolution list" in typed(made(folder), text)


def test_the_hosts_own_command_is_answered_too(folder: Path) -> None:
    command = Command(session_id=SESSION, name="evolution", arguments="list")
    assert NAME in str(anyio.run(made(folder).host.command_execute_before, command).event.parts)


def test_nobody_but_the_person_decides(folder: Path) -> None:
    rig = made(folder)
    typed(rig, f"/evolution show {NAME}")
    ours = message("").model_copy(update={"parts": (added_part(f"/evolution approve {NAME}"),)})
    anyio.run(rig.host.chat_message, ours)
    rig.host.sessions[SESSION].parent = "ses_parent"
    assert typed(rig, f"/evolution approve {NAME}") == ""
    assert not (folder / SKILL).exists()


def test_that_something_waits_is_told_once_an_hour(folder: Path) -> None:
    rig = made(folder)
    for text in ("hello", "again", "and again"):
        assert typed(rig, text) == ""
    assert toasts(rig) == ["1 learned from earlier sessions and waiting for you: /evolution list"]


def test_without_anything_to_decide_nothing_is_said_or_written(tmp_path: Path) -> None:
    rig = made(tmp_path)
    assert typed(rig, "hello") == "" and toasts(rig) == []
    assert not (tmp_path / ".matrixx").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"slug": "../x", "text": "x"}', "\0"])
def test_broken_files_are_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / ".matrixx/evolution/pending/x.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert "Waiting: nothing" in typed(made(tmp_path), "/evolution list")
