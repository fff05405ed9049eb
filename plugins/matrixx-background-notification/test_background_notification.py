from pathlib import Path
from typing import Any

import anyio
import matrixx_background_notification as hook
import pytest

from matrixx_builtin.services import wake
from matrixx_builtin.services.background import Order, Work, manager
from matrixx_core import SessionEvent
from matrixx_core.events import Message, added_part
from matrixx_core.testing import SESSION, RecordingClient, Rig, message


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(hook, directory=str(tmp_path), client=RecordingClient(answer_agents=[{"name": "general"}]))


def launched(rig: Rig) -> Work:
    return anyio.run(manager(rig.client).launch, rig.host.sessions[SESSION], rig.client, Order("general", "Count.", "Count"))


def finish(rig: Rig, work: Work) -> None:
    """The child answers and falls idle: the tools' own hook hears of it, then this one."""
    assert isinstance(rig.client, RecordingClient)
    rig.client.answer_messages = (Message(info={"role": "assistant"}, parts=({"type": "text", "text": "42"},)),)
    event = SessionEvent(session_id=work.session, type="session.idle")
    anyio.run(manager(rig.client).heard, event, rig.client)
    anyio.run(rig.host.session_event, event)


def told(rig: Rig) -> list[str]:
    assert isinstance(rig.client, RecordingClient)
    return [one["text"] for name, one in rig.client.requests if name == "prompt" and one["session_id"] == SESSION]


def test_an_idle_parent_is_woken_once(rig: Rig) -> None:
    work = launched(rig)
    finish(rig, work)
    rig.event("session.status", status={"type": "busy"})
    [text] = told(rig)
    assert f"{work.id} 'Count' (general): completed" in text


def test_a_parent_that_works_is_told_when_it_falls_idle(rig: Rig) -> None:
    state = rig.host.sessions[SESSION].state(wake.Wake)
    work = launched(rig)
    state.busy = True
    finish(rig, work)
    assert told(rig) == []
    state.offers.clear()
    rig.event("session.idle")
    [offer] = state.offers
    assert offer.purpose == "background"


def test_a_parent_that_falls_idle_is_left_to_the_arbiter_in_whatever_way_that_is_told(rig: Rig) -> None:
    state = rig.host.sessions[SESSION].state(wake.Wake)
    work = launched(rig)
    state.busy = True
    finish(rig, work)
    state.busy = False
    rig.event("session.status", status={"type": "idle"})
    rig.event("session.idle")
    assert told(rig) == []
    assert [offer.purpose for offer in state.offers] == ["background"]


def test_a_prompt_of_the_person_carries_what_is_new_once(rig: Rig) -> None:
    work = launched(rig)
    rig.host.sessions[SESSION].state(wake.Wake).busy = True
    finish(rig, work)
    texts = [str(part["text"]) for part in rig.chat("and now?").event.parts]
    assert texts[0] == "and now?"
    assert "Background work is over" in texts[1]
    assert [part["text"] for part in rig.chat("thanks").event.parts] == ["thanks"]


def test_our_own_prompt_is_not_told_twice(rig: Rig) -> None:
    finish(rig, launched(rig))
    prompt = message("").model_copy(update={"parts": (added_part(told(rig)[-1]),)})
    assert anyio.run(rig.host.chat_message, prompt).event == prompt


@pytest.mark.parametrize("kind", sorted(hook.ENDINGS))
@pytest.mark.parametrize("properties", [{}, {"status": None}, {"error": 5}, {"info": []}])
def test_where_nothing_runs_nothing_is_said(rig: Rig, kind: str, properties: dict[str, Any]) -> None:
    rig.event(kind, **properties)
    assert rig.client.requests == []  # type: ignore[attr-defined]  # the rig's own recording client
    assert rig.host.sessions[SESSION].state(wake.Wake).offers == []
