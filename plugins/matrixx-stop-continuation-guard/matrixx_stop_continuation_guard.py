"""Let nothing continue a session by itself after /stop-continuation, until its person writes again.

Besides, the background work of the session is cancelled without further word, and the project's mission ends if the session is
a part of it. While the session waits for an answer of its person, running agents are left to finish.
"""

import contextlib

from anyio.to_thread import run_sync

from matrixx_builtin.services import wake
from matrixx_builtin.services.background import manager
from matrixx_builtin.services.mission import MissionFile
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.slash import Typed, expanded, typed
from matrixx_core import ChatMessage, Command, HostClient, Inject, Session, rewrite
from matrixx_core.errors import ClientError

COMMAND = "stop-continuation"

TEXT = f"""\
{wake.STOPPED} The user has stopped all automatic continuation of this session: no loop, mission or task list goes on by itself \
until they write again. Do not start or continue any work in answer to this; say in one sentence that it is stopped{{and_more}}."""


@rewrite
async def chat_message(message: ChatMessage, session: Session, client: HostClient) -> Inject | None:
    """Stop when the command is typed; what its template becomes is no new message of the person, so it stays stopped."""
    came_from = expanded(message, session)
    if came_from and came_from.name == COMMAND:
        wake.stop(session)
        return None
    return await stopped(typed(message, session), session, client)


@rewrite
async def command_execute_before(command: Command, session: Session, client: HostClient) -> Inject | None:
    """Stop when the host knows the command."""
    return await stopped(typed(command, session), session, client)


async def stopped(command: Typed | None, session: Session, client: HostClient) -> Inject | None:
    """Stop everything that would wake the session, and tell both person and model; of another command nothing."""
    if command is None or command.name != COMMAND:
        return None
    wake.stop(session)
    asked = bool(session.state(wake.Wake).waiting_for_person)
    works = manager(client)
    cancelled = [] if asked else await works.cancel(works.of(session.id), client, "the user stopped it", tell=False)
    ended = await run_sync(_end_mission, session)
    more = [f"background work cancelled: {len(cancelled)}"] if cancelled else []
    more += ["the mission is ended (its plan stays)"] if ended else []
    with contextlib.suppress(ClientError):
        await client.toast("; ".join(["Nothing continues by itself until you write again", *more]) + ".", title="Stopped")
    return Inject(TEXT.format(and_more="".join(f"; {one}" for one in more)), priority="high")


def _end_mission(session: Session) -> bool:
    """End the project's mission if this session carries it out, or nobody in particular."""
    if not session.directory:
        return False
    try:
        file = MissionFile(session.directory)
        mission = file.read()
        mine = mission is not None and (not mission.session_ids or session.id in mission.session_ids)
        return mine and file.clear()
    except RecordError:
        return False
