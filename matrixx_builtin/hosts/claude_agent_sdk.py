"""The hooks in a program that runs Claude Code through the Claude Agent SDK for Python, in its own process and without an engine beside it.

``pip install matrixx-core[claude-sdk]``, then::

    async with hooks(".") as mapping:
        async for message in query(prompt="...", options=ClaudeAgentOptions(cwd=".", hooks=mapping)):
            ...

The SDK (0.2) delivers neither the start and end of a session nor what comes after a compaction, and takes no text for the
summary: a session's start is told to the hooks with its first prompt, the others never.
"""

import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, cast

try:
    from claude_agent_sdk import HookContext, HookInput, HookMatcher
    from claude_agent_sdk.types import HookEvent, HookJSONOutput
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "the Claude Agent SDK is not installed; run: pip install 'matrixx-core[claude-sdk]'", name=error.name
    ) from None

from matrixx_core.host import Host
from matrixx_core.watchdog import watching

from ..daemon.client import BLOCKABLE
from .claude_code.adapter import ClaudeCode
from .claude_code.client import ClaudeCodeClient
from .claude_code.install import TIMEOUT

EVENTS: tuple[HookEvent, ...] = (
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "Stop",
)
"""All that the SDK delivers."""

Payload: TypeAlias = Mapping[str, Any]


@asynccontextmanager
async def hooks(directory: str | PathLike[str] = ".", *, fail_closed: bool = False) -> AsyncGenerator[dict[HookEvent, list[HookMatcher]]]:
    """The ``hooks`` of ``ClaudeAgentOptions`` for a project, for as long as the block lasts; any number of clients may share them.

    ``directory`` is the project, which should be the options' ``cwd`` as well. With ``fail_closed``, a callback that breaks
    refuses what it would have judged; else Claude Code goes on, as it does by itself. On the main thread a hook that never
    returns is interrupted by SIGALRM, whose handler is put back at the end.
    """
    client = ClaudeCodeClient()
    async with Host.open(Path(directory), client=client) as host:
        with _watched(host):
            answer = _callback(ClaudeCode(host, client).answer)
            yield {
                event: [HookMatcher(hooks=[answer], timeout=TIMEOUT, on_failure="block" if fail_closed and event in BLOCKABLE else None)]
                for event in EVENTS
            }


def _watched(host: Host) -> AbstractContextManager[None]:
    return watching(host.rules.running) if threading.current_thread() is threading.main_thread() else nullcontext()


def _callback(
    ask: Callable[[Payload], Awaitable[dict[str, Any] | str]],
) -> Callable[[HookInput, str | None, HookContext], Awaitable[HookJSONOutput]]:
    """One function for all events, which tells the hooks of a session's start before its first prompt."""
    begun: set[str] = set()

    async def answer(event: HookInput, _tool_use_id: str | None, _context: HookContext) -> HookJSONOutput:
        payload = cast("Payload", event)
        session = str(payload.get("session_id"))
        opening = ""
        if payload.get("hook_event_name") == "UserPromptSubmit" and session not in begun:
            begun.add(session)
            opening = _added(await ask({**payload, "hook_event_name": "SessionStart", "source": "startup"}))
        return cast("HookJSONOutput", _with(opening, await ask(payload)))

    return answer


def _added(reply: dict[str, Any] | str) -> str:
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", "")) if isinstance(reply, dict) else ""


def _with(opening: str, reply: dict[str, Any] | str) -> dict[str, Any]:
    """A reply with text before what it adds itself; a plain text, which only a command hook can give, becomes nothing."""
    if not isinstance(reply, dict):
        return {}
    if not opening or reply.get("decision") == "block":
        return reply
    specific = {"hookEventName": "UserPromptSubmit", **reply.get("hookSpecificOutput", {})}
    specific["additionalContext"] = "\n\n".join(filter(None, (opening, _added(reply))))
    return {**reply, "hookSpecificOutput": specific}
