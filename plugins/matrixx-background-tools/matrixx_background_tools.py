"""Let sub-agents work in the background while their parent goes on.

A call of the host's ``task`` tool with ``run_in_background=true`` is judged by all guards like any other; then, instead of
running and holding up its caller, it is started as a child session, and the caller reads its id in place of a result. The
host shows that as a failed call: no host lets a hook answer for a tool, and a tool of ours named ``task`` would lose what
the host's own can do. A session that cannot begin children runs the task as ever.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from anyio.to_thread import run_sync
from pydantic import BaseModel, Field

from matrixx_builtin.services.background import HISTORY, OPEN, BackgroundError, Handle, Limits, Order, UsedModel, handles, manager, text_of
from matrixx_builtin.services.records import RecordError
from matrixx_core import (
    Block,
    ChatMessage,
    Compaction,
    Done,
    HostClient,
    Inject,
    Session,
    SessionEvent,
    Tool,
    ToolCall,
    ToolDefinition,
    ToolError,
    guard,
    hookimpl,
    observe,
    rewrite,
    tool,
)
from matrixx_core.client import NoClient
from matrixx_core.errors import ClientError

SETTINGS_KEY = "background_task"

FLAG = "run_in_background"
ABOUT = "Start it and go on at once: you read its id, and background_output fetches the answer when it is done."

HEARD = {"session.status", "session.idle", "session.error", "session.deleted"}

LOOK = 0.5
"""Seconds between two looks while a tool waits for an answer."""

LONGEST = 600
"""Seconds that one call of ``background_output`` may wait."""


class Config(Limits):
    """The limits of background work."""


@dataclass(slots=True)
class Asked:
    """Calls of this session that asked for the background and have passed every guard."""

    calls: set[str] = field(default_factory=set[str])


class Output(BaseModel):
    task_id: str = Field(description="The id, bg_ and eight digits.")
    wait: int = Field(default=0, ge=0, le=LONGEST, description="Seconds to wait for the end; only where you cannot go on without it.")


class Cancel(BaseModel):
    task_id: str = Field(default="", description="The id of what is to be cancelled.")
    all: bool = Field(default=False, description="Cancel all background work of this session.")


class Nothing(BaseModel):
    """No arguments."""


@rewrite(tools={"task"})
def tool_definition(definition: ToolDefinition, client: HostClient) -> ToolDefinition | None:
    """Tell the model of the flag, where the tool's arguments are known."""
    properties = definition.parameters.get("properties")
    if isinstance(client, NoClient) or not isinstance(properties, Mapping):
        return None
    added = {**cast(Mapping[str, Any], properties), FLAG: {"type": "boolean", "description": ABOUT}}
    return definition.model_copy(update={"parameters": {**definition.parameters, "properties": added}})


@rewrite(tools={"task"}, spec="tool_execute_before")
def take_over(call: ToolCall, session: Session, client: HostClient) -> ToolCall | None:
    """Remember the call, and change it: so it is judged once more, and ``launch`` sees it after all guards have."""
    if isinstance(client, NoClient) or call.args.get(FLAG) not in {True, "true"}:
        return None
    session.state(Asked).calls.add(call.call_id)
    return call.model_copy(update={"args": {name: value for name, value in call.args.items() if name != FLAG}})


@guard(tools={"task"}, spec="tool_execute_before")
async def launch(call: ToolCall, session: Session, client: HostClient, config: Config) -> Block | None:
    asked = session.state(Asked).calls
    if call.call_id not in asked:
        return None
    asked.discard(call.call_id)
    again = f"call the task tool again without {FLAG}."
    if call.args.get("task_id"):
        return Block("a task cannot be resumed in the background", again)
    agent, prompt, description = (str(call.args.get(name) or "").strip() for name in ("subagent_type", "prompt", "description"))
    if not agent or not prompt:
        return Block("background work needs subagent_type and prompt", "say both.")
    try:
        work = await manager(client, config).launch(session, client, Order(agent, prompt, description))
    except BackgroundError as error:
        return Block(f"nothing was started in the background: {error}", again)
    state = "started" if work.status == "running" else "queued"
    return Done(
        f"This call was {state} in the background as {work.id}, so it has no result yet; that is no failure. Go on with other work. "
        f'When it is done, background_output(task_id="{work.id}") fetches the answer. Do not poll.'
    )


@observe(spec="tool_execute_before")
def count(call: ToolCall, client: HostClient, config: Config) -> None:
    manager(client, config).called(call)


@observe(types=HEARD)
async def session_event(event: SessionEvent, client: HostClient, config: Config) -> None:
    await manager(client, config).heard(event, client)


@observe
def chat_message(message: ChatMessage, session: Session) -> None:
    """Learn which model the session uses."""
    if message.provider and message.model:
        session.state(UsedModel).name = f"{message.provider}/{message.model}"


@rewrite
def session_compacting(compaction: Compaction, session: Session, client: HostClient) -> Inject | None:
    lines = [f"- {work.handle().line()}" for work in manager(client).of(session.id)[-HISTORY:]]
    return Inject("\n".join(["Background work of this session:", *lines])) if lines else None


@hookimpl
def host_closed(host: Any) -> None:
    manager(host.rules.client).close()


@hookimpl
def tools(config: Config) -> Sequence[Tool]:
    """The tools on what runs in the background; it is started with ``task``."""

    @tool("background_output", "Read what background work has answered, or how it stands.", deadline_s=LONGEST + 30.0)
    async def output(args: Output, session: Session, client: HostClient) -> str:
        until = time.monotonic() + args.wait
        while (found := await _find(args.task_id, session, client)).status in OPEN and time.monotonic() < until:
            await anyio.sleep(LOOK)
            await manager(client, config).check(client)
        if work := manager(client).works.get(args.task_id):
            work.told = work.status not in OPEN
        return found.line() if found.status in OPEN else f"{found.line()}\n\n{await _answer(found, client)}"

    @tool("background_cancel", "Stop background work: one, or all that this session has started.")
    async def cancel(args: Cancel, session: Session, client: HostClient) -> str:
        found = manager(client, config)
        if not args.all:
            await _find(args.task_id, session, client)
        works = [work for work in found.of(session.id) if args.all or work.id == args.task_id]
        stopped = await found.cancel(works, client, "it was cancelled", tell=False)
        return "\n".join(work.handle().line() for work in stopped) or "Nothing of it is under way."

    @tool("background_list", "List the background work of this session.")
    async def listing(args: Nothing, session: Session, client: HostClient) -> str:
        await manager(client, config).check(client)
        return "\n".join(one.line() for one in await _known(session, client)) or "This session has no background work."

    return output, cancel, listing


async def _known(session: Session, client: HostClient) -> list[Handle]:
    if isinstance(client, NoClient):
        raise ToolError("this host has no child sessions, so nothing can run in the background")
    try:
        return await run_sync(handles, manager(client), session)
    except (RecordError, OSError) as error:
        raise ToolError(str(error)) from None


async def _find(task_id: str, session: Session, client: HostClient) -> Handle:
    found = next((one for one in await _known(session, client) if one.id == task_id), None)
    if found is None:
        raise ToolError(f"this session has no background work {task_id!r}; background_list shows what it has")
    return found


async def _answer(found: Handle, client: HostClient) -> str:
    """The last thing that its agent said."""
    try:
        said = (
            [text for one in await client.messages(found.session) if one.role == "assistant" and (text := text_of(one))]
            if found.session
            else []
        )
    except ClientError as error:
        raise ToolError(f"{found.line()}; its session cannot be read: {error}") from None
    return said[-1] if said else "It has said nothing."
