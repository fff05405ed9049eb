"""Tell a session when background work that it has started is over, and wake it if it is idle.

The work itself (``matrixx-background-tools``) runs, ends and is looked at without this hook all the same.
"""

from matrixx_builtin.services.background import manager
from matrixx_core import ChatMessage, HostClient, Inject, Session, SessionEvent, rewrite

ENDINGS = {"session.status", "session.idle", "session.error", "session.deleted"}
"""Events of any session at which background work may have ended."""


@rewrite(types=ENDINGS)
async def session_event(event: SessionEvent, session: Session, client: HostClient) -> None:
    works = manager(client)
    if event.type == "session.idle":
        works.offer(session)
    await works.notify(client, but=session.id)


@rewrite
def chat_message(message: ChatMessage, client: HostClient) -> Inject | None:
    """What the session was not told yet goes with its next prompt."""
    notice = manager(client).deliver(message)
    return Inject(notice, priority="high") if notice else None
