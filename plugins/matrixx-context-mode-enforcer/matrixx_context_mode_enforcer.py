"""Send searches and large reads through the sandbox tools of context-mode, where there are any.

Nothing happens until one of the ``ctx_*`` tools has been described to the model or called: without them there is no other way. Then
each way around them is pointed out once in a session; with ``enforce`` the tools in ``blocked_tools`` are refused. The read tool is
never refused: an edit needs the exact text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.effects import effects_of
from matrixx_builtin.services.offered import note, offered
from matrixx_builtin.services.sensitive import FILELESS_TOOLS
from matrixx_core import Block, HostClient, Inject, Session, ToolCall, ToolDefinition, guard, observe
from matrixx_core.settings import TIGHTENS

SETTINGS_KEY = "context_mode"

SUBSTITUTES = ("ctx_search", "ctx_batch_execute", "ctx_execute", "ctx_execute_file", "ctx_fetch_and_index", "ctx_index")
SERVERS = ("", "context-mode_", "context_mode_")
"""What a host that describes an MCP server's tools to hooks puts before their names."""
CALLED = re.compile(rf"(?:.{{0,100}}[_./:-])?(?:{'|'.join(SUBSTITUTES)})")
"""A call of a substitute, whatever the server is called."""
FAMILIAR = FILELESS_TOOLS | {"bash", "read", "write", "edit", "multiedit", "apply_patch", "glob", "grep", "list", "lsp", "webfetch"}

READERS = frozenset({"cat", "head", "tail", "less", "more", "bat", "nl"})
SEARCHERS = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"})
BUILDERS = frozenset({"bun", "npm", "pnpm", "yarn", "pip", "cargo", "go", "make", "docker"})
BUILDS = frozenset({"build", "install", "add", "test", "run"})
FETCHERS = frozenset({"git", "hg", "svn"})
"""Programs that fetch into files of their own, so that nothing large reaches the context."""

ADVICE: Mapping[str, str] = {
    "search": (
        "search with ctx_batch_execute or ctx_execute (rg inside of the sandbox), and ctx_search for what is indexed: only the answer "
        "reaches the context."
    ),
    "read": "to analyse a file use ctx_execute_file, of which only the answer reaches the context; read stays right before an edit.",
    "webfetch": "use ctx_fetch_and_index, then ctx_search: the page itself stays out of the context.",
    "bash-file-read": "use ctx_execute_file, or ctx_execute with rg; the shell stays right for observing and changing things.",
    "bash-fetch": "use ctx_fetch_and_index, or fetch inside of ctx_execute; the shell stays right for observing and changing things.",
    "bash-build": "its output may be long: run it with ctx_execute, of which only what you print reaches the context.",
}
"""By kind of detour, what to do instead."""

KINDS: Mapping[str, str] = {"grep": "search", "glob": "search", "read": "read", "webfetch": "webfetch"}
NEVER_REFUSED = frozenset({"read", "bash-build"})


class Config(BaseModel):
    """Settings of ``context-mode-enforcer``."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(default=True, description="Whether the hook is on; it is silent while no tool of context-mode is known.")
    enforce: bool = Field(default=False, description="Refuse the tools in `blocked_tools` instead of advising.", json_schema_extra=TIGHTENS)
    blocked_tools: tuple[str, ...] = Field(
        default=("grep", "glob"), description="The tools concerned: grep, glob, read, webfetch, bash.", json_schema_extra=TIGHTENS
    )


@dataclass(slots=True)
class Told:
    """The kinds of detour that this session was told of."""

    kinds: set[str] = field(default_factory=set[str])


def off_because(config: Config) -> str:
    return "" if config.enabled else f"{SETTINGS_KEY}.enabled is false"


@observe(tools=[server + name for server in SERVERS for name in SUBSTITUTES])
def tool_definition(definition: ToolDefinition, client: HostClient) -> None:
    note(client, definition.tool)


@observe(but=FAMILIAR, spec="tool_execute_before")
def called(call: ToolCall, client: HostClient) -> None:
    if CALLED.fullmatch(call.tool):
        note(client, call.tool)


@guard(tools={*KINDS, "bash"})
def tool_execute_before(call: ToolCall, session: Session, client: HostClient, config: Config) -> Block | Inject | None:
    if not any(map(CALLED.fullmatch, offered(client))):
        return None
    kind = KINDS.get(call.tool) or _kind_of_command(call)
    gated = call.tool in {name.lower() for name in config.blocked_tools}
    if not kind or not (gated or call.tool == "bash"):
        return None
    if gated and config.enforce and kind not in NEVER_REFUSED:
        return Block(f"this {call.tool} call would put raw data into the context, and context-mode is enforced here", ADVICE[kind])
    told = session.state(Told).kinds
    if kind in told:
        return None
    told.add(kind)
    return Inject(f"context-mode is there: {ADVICE[kind]}", priority="low")


def _kind_of_command(call: ToolCall) -> str:
    """Which detour a shell command is; one that writes, moves or deletes something is none."""
    effects = effects_of(call)
    if not effects.runs or effects.writes or effects.deletes:
        return ""
    programs = [run.program.rpartition("/")[2] for run in effects.runs]
    if effects.fetches and FETCHERS.isdisjoint(programs):
        return "bash-fetch"
    if programs[0] in SEARCHERS or (effects.reads and not (READERS | SEARCHERS).isdisjoint(programs)):
        return "bash-file-read"
    builds = any(name in BUILDERS and BUILDS.intersection(run.argv[1:3]) for name, run in zip(programs, effects.runs, strict=True))
    return "bash-build" if builds else ""
