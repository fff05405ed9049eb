"""Deliver what other hooks left for a session's next prompt."""

from dataclasses import dataclass, field

from matrixx_core import Inject, Session, Transcript, rewrite
from matrixx_core.events import last_user_message

from ..services.context import Context


@dataclass(slots=True)
class Delivered:
    """User messages that have had their delivery; what comes later waits for the next one, so no sent byte changes."""

    messages: set[str] = field(default_factory=set[str])


@rewrite
def messages_transform(transcript: Transcript, session: Session) -> Inject | None:
    last = last_user_message(transcript.messages)
    delivered = session.state(Delivered).messages
    if last is None or last.id in delivered:
        return None
    delivered.add(last.id)
    text = session.state(Context).take()
    return Inject(text, priority="high") if text else None
