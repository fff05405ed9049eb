import json
from pathlib import Path
from typing import Any

import anyio
import matrixx_stop_continuation_guard as hook
import pytest

from matrixx_builtin.essentials import wake_gates
from matrixx_builtin.services import wake
from matrixx_builtin.services.background import Order, Work, manager
from matrixx_core import Command
from matrixx_core.dispatch import Outcome
from matrixx_core.errors import ClientError
from matrixx_core.events import ChatMessage, added_part
from matrixx_core.testing import SESSION, RecordingClient, Rig, message, session

OFFER = wake.Offer("matrix-loop", "loop", "go on")


def rig(directory: Path | str = "", client: RecordingClient | None = None) -> Rig:
    return Rig(hook, wake_gates, directory=str(directory), client=client)


def command(rig: Rig, name: str = "stop-continuation", template: str = "Stop it.") -> Outcome[Command]:
    parts = ({"type": "text", "text": template},)
    return anyio.run(rig.host.command_execute_before, Command(session_id=SESSION, name=name, parts=parts))


def wakes(rig: Rig, session_id: str = SESSION) -> bool:
    open_session = rig.host.sessions[session_id]
    wake.offer(open_session, OFFER)
    return wake.decide(open_session) is not None


@pytest.mark.parametrize("text", ["/stop-continuation", "  /Stop-Continuation now", "/stop-continuation\n"])
def test_typed_in_a_prompt_it_stops_what_would_wake_the_session(text: str) -> None:
    under_test = rig()
    outcome = under_test.chat(text)
    assert not wakes(under_test)
    assert outcome.event.parts[0]["text"] == text
    assert "until they write again" in outcome.notes[0].text


def test_a_stop_holds_for_its_session_only() -> None:
    under_test = rig()
    under_test.chat("/stop-continuation")
    assert wakes(under_test, "ses_other")


def test_what_was_offered_before_is_dropped() -> None:
    under_test = rig()
    wake.offer(under_test.host.sessions[SESSION], OFFER)
    under_test.chat("/stop-continuation")
    assert under_test.host.sessions[SESSION].state(wake.Wake).offers == []


def test_the_next_message_of_the_person_ends_it() -> None:
    under_test = rig()
    under_test.chat("/stop-continuation")
    under_test.chat("go on")
    assert wakes(under_test)


def test_a_prompt_of_ours_does_not_end_it() -> None:
    under_test = rig()
    under_test.chat("/stop-continuation")
    anyio.run(under_test.host.chat_message, ChatMessage(session_id=SESSION, parts=(added_part("go on"),)))
    assert not wakes(under_test)


def test_as_a_command_of_the_host_it_stops_too_and_its_template_does_not_end_it() -> None:
    under_test = rig()
    outcome = command(under_test)
    assert [note.plugin for note in outcome.notes] == ["stop-continuation-guard"]
    assert under_test.chat("Stop it.").notes == ()
    assert not wakes(under_test)
    assert [method for method, _ in under_test.client.requests] == ["toast"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text", ["stop-continuation", "please /stop-continuation", "/stop-continuations", "/stop", "", "`/stop-continuation`"]
)
def test_nothing_else_stops(text: str) -> None:
    under_test = rig()
    assert under_test.chat(text).notes == ()
    assert command(under_test, "stop").notes == ()
    assert wakes(under_test)


def test_a_delegated_session_stops_nothing() -> None:
    delegated = session()
    delegated.parent = "ses_parent"
    assert anyio.run(hook.chat_message, message("/stop-continuation"), delegated, RecordingClient()) is None


def work(client: RecordingClient, parent: Any) -> Work:
    """A running background work of the session."""
    one = Work(parent, Order("trinity", "look"), "")
    one.status, one.session = "running", "ses_child"
    manager(client).works[one.id] = one
    return one


def test_the_sessions_background_work_is_cancelled_without_another_word() -> None:
    client = RecordingClient()
    under_test = rig(client=client)
    own, other = work(client, under_test.host.sessions[SESSION]), work(client, under_test.host.sessions["ses_other"])
    outcome = under_test.chat("/stop-continuation")
    assert (own.status, own.told, other.status) == ("cancelled", True, "running")
    assert "background work cancelled: 1" in outcome.notes[0].text
    assert ("abort", {"session_id": "ses_child"}) in client.requests


def test_while_the_person_is_asked_something_running_agents_may_finish() -> None:
    client = RecordingClient()
    under_test = rig(client=client)
    own = work(client, under_test.host.sessions[SESSION])
    under_test.event("question.asked", id="que_1")
    under_test.chat("/stop-continuation")
    assert own.status == "running"
    assert not wakes(under_test)


@pytest.mark.parametrize(("sessions", "stays"), [([SESSION, "ses_other"], False), ([], False), (["ses_other"], True)])
def test_the_mission_ends_if_the_session_is_a_part_of_it(tmp_path: Path, sessions: list[str], stays: bool) -> None:
    file = tmp_path / ".matrixx" / "mission.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"active_plan": "/p.md", "session_ids": sessions}))
    outcome = rig(tmp_path).chat("/stop-continuation")
    assert file.exists() is stays
    assert ("mission is ended" in outcome.notes[0].text) is not stays


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff\0", b'{"session_ids": 5}'])
def test_an_odd_mission_file_is_no_mistake(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".matrixx").mkdir()
    (tmp_path / ".matrixx" / "mission.json").write_bytes(content)
    assert len(rig(tmp_path).chat("/stop-continuation").notes) == 1


def test_a_mission_that_cannot_be_ended_is_left(tmp_path: Path) -> None:
    (tmp_path / ".matrixx" / "mission.json").mkdir(parents=True)
    assert len(rig(tmp_path).chat("/stop-continuation").notes) == 1


class Deaf(RecordingClient):
    async def toast(self, message: str, **_: Any) -> None:
        raise ClientError("nobody there")


def test_a_person_who_cannot_be_told_is_obeyed_nevertheless() -> None:
    under_test = rig(client=Deaf())
    under_test.chat("/stop-continuation")
    assert not wakes(under_test)


@pytest.mark.parametrize("parts", [(), ({},), ({"type": "text", "text": 5},), ({"type": "text", "text": "/stop-continuation\0\ud800"},)])
def test_odd_prompts_are_no_mistake(parts: Any) -> None:
    anyio.run(hook.chat_message, ChatMessage(session_id=SESSION, parts=parts), session(), RecordingClient())
