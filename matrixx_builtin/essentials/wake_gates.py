"""Watch what decides whether a session may be woken: its person, its questions, its children."""

from collections.abc import Mapping
from typing import Any

from matrixx_core import ChatMessage, Session, SessionEvent, observe
from matrixx_core.events import by_person

from ..services.wake import ABORTED, Wake, rearm, stop

ASKED = {"question.asked", "permission.asked"}
ANSWERED = {"question.replied", "question.rejected", "permission.replied"}
STATES = {"session.status", "session.idle", "session.error"}


@observe
def chat_message(message: ChatMessage, session: Session) -> None:
    """Only a part that nobody made for the person is the person's."""
    if by_person(message.parts):
        rearm(session)


@observe(types=ASKED | ANSWERED | STATES)
def session_event(event: SessionEvent, session: Session) -> None:
    wake = session.state(Wake)
    name = str(event.properties.get("requestID") or event.properties.get("id") or "")
    if event.type in ASKED:
        wake.waiting_for_person.add(name)
    elif event.type in ANSWERED:
        wake.waiting_for_person.discard(name)
    elif event.type == "session.idle":
        wake.busy = wake.interrupted = False
    elif event.type == "session.status":
        wake.busy = _kind(event.properties.get("status")) in {"busy", "retry"}
    elif _kind(event.properties.get("error"), "name") == ABORTED:
        stop(session)


def _kind(value: Any, key: str = "type") -> str:
    return str(value.get(key, "")) if isinstance(value, Mapping) else ""
