"""Choose the agent of a delegated task: mouse for a category of work, and for a resumed session its own.

A call of the task tool that names a ``category`` goes to the agent ``mouse``, whatever agent it names besides. Where the host has that
agent, the model is told of the argument; where it has others only, the call stays as it is. One that names a session to go on with, and no agent, goes to the agent that runs that session; the seed's
name of this argument, ``session_id``, is understood by hosts that call it ``task_id``.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import anyio

from matrixx_builtin.services.agents import INTERNAL, LOOKUP_SECONDS, canonical
from matrixx_builtin.services.delegation import TOOLS, resumed
from matrixx_core import HostClient, Message, Session, ToolCall, ToolDefinition, rewrite
from matrixx_core.errors import ClientError

WORKER = "mouse"

CATEGORY = "category"
ABOUT = (
    "Optional: the kind of work, such as quick, visual or writing. The task then goes to the agent {agent}, whatever subagent_type says."
)

T = TypeVar("T")


@dataclass(slots=True)
class Known:
    """The host's name for the worker, once it was found; what the model is told stays the same from then on."""

    worker: str = ""


@rewrite(tools=TOOLS)
async def tool_definition(definition: ToolDefinition, session: Session, client: HostClient) -> ToolDefinition | None:
    """Tell the model of the argument, where the tool's arguments are known and somebody is there to do the work."""
    properties, known = definition.parameters.get("properties"), session.state(Known)
    if not isinstance(properties, Mapping) or CATEGORY in properties:
        return None
    known.worker = known.worker or await _worker(client, "")
    if not known.worker:
        return None
    about = {"type": "string", "description": ABOUT.format(agent=known.worker)}
    added = {**cast(Mapping[str, Any], properties), CATEGORY: about}
    return definition.model_copy(update={"parameters": {**definition.parameters, "properties": added}})


@rewrite(tools=TOOLS)
async def tool_execute_before(call: ToolCall, client: HostClient) -> ToolCall | None:
    changes: dict[str, str] = {}
    session_id = resumed(call)
    if session_id and not call.args.get("task_id"):
        changes["task_id"] = session_id
    if _said(call, CATEGORY):
        agent = await _worker(client, WORKER)
    elif session_id and not _said(call, "subagent_type"):
        agent = await _agent_of(session_id, client)
    else:
        agent = ""
    if agent:
        changes["subagent_type"] = agent
    return call.with_args(**changes) if any(call.args.get(name) != value for name, value in changes.items()) else None


async def _worker(client: HostClient, otherwise: str) -> str:
    """The host's own name for the worker; ``""`` where it has other agents only, ``otherwise`` where it names none."""
    offered: Sequence[Mapping[str, Any]] = await _asked(client.agents, ())
    names = [str(one.get("name") or "") for one in offered]
    return next((name for name in names if canonical(name) == WORKER), "" if names else otherwise)


async def _agent_of(session_id: str, client: HostClient) -> str:
    """The agent of the session's first message that names one; the host's own helpers do not count."""

    async def read() -> Sequence[Message]:
        return await client.messages(session_id)

    nothing: Sequence[Message] = ()
    agents = [message.info.get("agent") for message in await _asked(read, nothing)]
    return next((agent for agent in agents if isinstance(agent, str) and agent and canonical(agent) not in INTERNAL), "")


async def _asked(ask: Callable[[], Awaitable[T]], otherwise: T) -> T:
    try:
        with anyio.fail_after(LOOKUP_SECONDS):
            return await ask()
    except (ClientError, TimeoutError):
        return otherwise


def _said(call: ToolCall, name: str) -> str:
    value = call.args.get(name)
    return value.strip() if isinstance(value, str) else ""
