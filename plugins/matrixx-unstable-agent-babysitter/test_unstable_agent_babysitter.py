import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import matrixx_unstable_agent_babysitter as hook
import pytest

from matrixx_builtin.services import wake
from matrixx_builtin.services.background import Order, Work, manager
from matrixx_core import SessionEvent
from matrixx_core.errors import ClientError
from matrixx_core.events import Message
from matrixx_core.testing import SESSION, RecordingClient, Rig

LONG_AGO = 1_000.0


def thinking(*parts: Any) -> tuple[Message, ...]:
    return (Message(info={"role": "user"}, parts=({"type": "text", "text": "Count."},)), Message(info={"role": "assistant"}, parts=parts))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(hook, directory=str(tmp_path), client=RecordingClient(answer_agents=[{"name": "general"}]))


def launched(rig: Rig, *, silent: bool = True) -> Work:
    work = anyio.run(manager(rig.client).launch, rig.host.sessions[SESSION], rig.client, Order("general", "Count.", "Count"))
    if silent:
        work.started -= LONG_AGO
    return work


def idle(rig: Rig, session_id: str = SESSION) -> None:
    """The session falls idle, and what the hook does beside that gets a moment."""

    async def play() -> None:
        await rig.host.session_event(SessionEvent(session_id=session_id, type="session.idle"))
        with anyio.move_on_after(5 * hook.SHORTEST):
            await rig.host.sessions[session_id].settled()

    anyio.run(play)


def told(rig: Rig) -> list[str]:
    assert isinstance(rig.client, RecordingClient)
    return [one["text"] for name, one in rig.client.requests if name == "prompt" and one["session_id"] == SESSION]


def test_silent_work_is_told_with_how_to_look_and_how_to_stop(rig: Rig) -> None:
    work = launched(rig)
    idle(rig)
    [text] = told(rig)
    assert f"{work.id} 'Count' (general): running, silent for {LONG_AGO:.0f} s, session {work.session}" in text
    assert f'background_output(task_id="{work.id}")' in text and f'background_cancel(task_id="{work.id}")' in text
    assert "This is a reminder; nothing was stopped." in text


def test_a_running_child_does_not_hold_up_word_of_itself(rig: Rig) -> None:
    work = launched(rig)
    rig.host.sessions[SESSION].state(wake.Wake).running_children = {work.session}
    idle(rig)
    assert len(told(rig)) == 1


def test_one_work_is_told_of_once_in_five_minutes(rig: Rig) -> None:
    work = launched(rig)
    idle(rig)
    again(rig)
    assert len(told(rig)) == 1
    rig.host.sessions[SESSION].state(hook.Watch).told[work.id] -= hook.AGAIN
    again(rig)
    assert len(told(rig)) == 2


def again(rig: Rig) -> None:
    rig.host.sessions[SESSION].state(wake.Wake).busy = False
    idle(rig)


@pytest.mark.parametrize("status", ["completed", "error", "cancelled", "pending"])
def test_what_does_not_run_is_not_silent(rig: Rig, status: Any) -> None:
    launched(rig).status = status
    idle(rig)
    assert told(rig) == []


def test_work_that_lives_is_waited_for_and_told_of_when_it_stops_living(rig: Rig) -> None:
    work = launched(rig)
    work.alive = time.monotonic()
    idle(rig)
    assert told(rig) == []
    work.alive -= 120
    idle(rig)
    assert len(told(rig)) == 1


@pytest.mark.parametrize(
    "closing",
    [{"busy": True}, {"stopped": True}, {"reserved": True}, {"waiting_for_person": {"que_1"}}, {"not_before": float("inf")}],
)
def test_a_session_that_does_not_wait_for_it_is_left_alone(rig: Rig, closing: dict[str, Any]) -> None:
    launched(rig)
    for name, value in closing.items():
        setattr(rig.host.sessions[SESSION].state(wake.Wake), name, value)
    idle(rig)
    assert told(rig) == []


def test_a_sub_agent_and_a_session_without_work_are_not_watched(rig: Rig) -> None:
    idle(rig)
    launched(rig)
    rig.host.sessions["ses_child"].parent = SESSION
    idle(rig, "ses_child")
    idle(rig, "ses_other")
    assert told(rig) == []


def test_two_reports_of_idleness_begin_one_watch(rig: Rig) -> None:
    launched(rig)

    async def play() -> None:
        for _ in range(2):
            await rig.host.session_event(SessionEvent(session_id=SESSION, type="session.idle"))
        await rig.host.sessions[SESSION].settled()

    anyio.run(play)
    assert len(told(rig)) == 1


@pytest.mark.parametrize(
    ("parts", "excerpt"),
    [
        (({"type": "reasoning", "text": "I wonder\n  why."},), "; it thought: 'I wonder why.'"),
        (({"type": "reasoning", "text": "x" * 10_000},), f"; it thought: '{'x' * hook.EXCERPT}'"),
        (({"type": "text", "text": "hello"},), ""),
        (({"type": "reasoning", "text": 5}, {"type": "reasoning"}, {}), ""),
        ((), ""),
    ],
)
def test_what_its_agent_thought_last_is_told_in_one_short_line(rig: Rig, parts: Sequence[Any], excerpt: str) -> None:
    work = launched(rig)
    rig.client.answer_messages = thinking(*parts)  # type: ignore[attr-defined]  # the rig's own recording client
    idle(rig)
    assert f"session {work.session}{excerpt}\n" in told(rig)[0]


def test_a_secret_in_its_thoughts_is_not_told(rig: Rig) -> None:
    launched(rig)
    token = f"ghp_{secrets.token_hex(18)}"
    rig.client.answer_messages = thinking({"type": "reasoning", "text": f"The token is {token}."})  # type: ignore[attr-defined]
    idle(rig)
    assert token not in told(rig)[0] and "[REDACTED]" in told(rig)[0]


def test_a_host_that_cannot_be_asked_takes_no_reminder_away(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuses(session_id: str) -> Sequence[Message]:
        raise ClientError("no such session")

    launched(rig)
    monkeypatch.setattr(rig.client, "messages", refuses)
    idle(rig)
    assert len(told(rig)) == 1
