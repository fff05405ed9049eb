"""Keep count of the tmux sessions that an agent opens, and end them with its session.

Only sessions whose names begin with ``matrixx-`` are counted: all others belong to somebody else. The count survives a restart
of the engine.
"""

import hashlib
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
from anyio.to_thread import run_sync
from pydantic import BaseModel

from matrixx_builtin.services import records
from matrixx_builtin.services.effects import effects_of
from matrixx_builtin.services.processes import run, which
from matrixx_core import HostClient, Inject, SessionEvent, ToolCall, ToolResult, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.trust import state_dir

RUN_AFTER = ("category-skill-reminder",)  # the seed's order of what is said behind a call

PREFIX = "matrixx-"
"""How the names of the agent's own sessions begin (spec tool-hooks 2.11)."""

KILL = 5.0
"""Seconds for ending one tmux session."""

VALUED = frozenset("LSfcT")
"""tmux's global options that take a value; ``-L`` and ``-S`` say which server."""

COMMANDS = {
    **dict.fromkeys(("new", "new-session"), "new"),
    "kill-session": "kill",
    "kill-server": "kill-server",
}


class Opened(BaseModel):
    """What an agent's session has opened: the options that choose the server, with the name."""

    sessions: tuple[tuple[tuple[str, ...], str], ...] = ()


@rewrite(tools={"bash", "interactive_bash"})
async def tool_execute_after(result: ToolResult) -> Inject | None:
    done = list(_commands(result.call))
    if not done or result.output.startswith("Error:"):
        return None
    path = _record(result.session_id)
    opened = await run_sync(records.read, path, Opened) or Opened()
    changed = list(opened.sessions)
    for server, command, name in done:
        changed = [one for one in changed if one[0] != server or (command != "kill-server" and one[1] != name)]
        changed += [(server, name)] if command == "new" else []
    if tuple(changed) != opened.sessions:
        await run_sync(records.write, path, Opened(sessions=tuple(changed)))
    names = ", ".join(name for _, name in changed)
    return Inject(f"[tmux sessions of this conversation that still run: {names}]") if names else None


@rewrite(types={"session.deleted"})
async def session_event(event: SessionEvent, client: HostClient) -> None:
    """End what the session has opened, and what its children do there."""
    path = _record(event.session_id)
    opened = await run_sync(records.read, path, Opened)
    if opened is None:
        return
    with suppress(ClientError):
        for child in await client.sessions(event.session_id):
            await client.abort(str(child.get("id")))
    if tmux := which("tmux"):
        async with anyio.create_task_group() as group:
            for server, name in opened.sessions:
                group.start_soon(_kill, [tmux, *server, "kill-session", "-t", f"={name}"])
    path.unlink(missing_ok=True)


async def _kill(argv: Sequence[str]) -> None:
    await run(argv, cwd="/", timeout=KILL)


def _commands(call: ToolCall) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Sessions that the call opens or ends: server, what is done, name."""
    for argv in _invocations(call):
        server, rest = _server(argv)
        command = COMMANDS.get(rest[0], "") if rest else ""
        flag = "-s" if command == "new" else "-t"
        name = _value(rest, flag).removeprefix("=").partition(":")[0].partition(".")[0]
        if command == "kill-server" or (command and name.startswith(PREFIX)):
            yield server, command, name


def _invocations(call: ToolCall) -> Iterator[Sequence[str]]:
    """The arguments of tmux, from the tmux tool or from a shell command."""
    typed = call.args.get("tmux_command")
    if call.tool == "bash":
        yield from (one.argv[1:] for one in effects_of(call).runs if one.program == "tmux")
    elif isinstance(typed, str):
        with suppress(ValueError):  # a quotation that does not end
            yield shlex.split(typed)


def _server(argv: Sequence[str]) -> tuple[tuple[str, ...], Sequence[str]]:
    """The options that choose tmux's server, and what follows the global options."""
    server: list[str] = []
    at = 0
    while at < len(argv) and argv[at].startswith("-"):
        option, glued = argv[at][1:2], argv[at][2:]
        at += 1
        if option == "-":
            break
        if option in VALUED:
            value = glued or (argv[at] if at < len(argv) else "")
            at += not glued
            server += [f"-{option}", value] if option in {"L", "S"} else []
    return tuple(server), argv[at:]


def _value(argv: Sequence[str], flag: str) -> str:
    """What an option is given, apart or glued to it."""
    for at, word in enumerate(argv):
        if word.startswith(flag):
            return word[len(flag) :] or (argv[at + 1] if at + 1 < len(argv) else "")
    return ""


def _record(session_id: str) -> Path:
    return state_dir() / "tmux" / f"{hashlib.sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.json"
