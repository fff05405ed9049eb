"""Let rtk replace shell commands by ones whose output costs fewer tokens.

``rtk rewrite COMMAND`` is run without a shell; what it answers is judged by the guards again before it runs. Where rtk is
missing, hangs, knows nothing better or would rather not, the command stays as it is.
"""

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.processes import run, which
from matrixx_core import Session, ToolCall, rewrite
from matrixx_core.settings import TRUSTED_ONLY

SETTINGS_KEY = "rtk"

REWRITTEN = frozenset({0, 3})
"""Exit codes with which rtk prints another command (spec tool-hooks 1.12); 1: there is none, 2: it would rather not."""

LONGEST = 32_768
"""Characters of a command that is handed to rtk; a longer one is a program of its own."""


class Config(BaseModel):
    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(default=False, description="Ask rtk about every shell command; one process for each.")
    binary_path: str = Field(
        default="rtk", description="The program: a name on PATH or a path.", json_schema_extra=TRUSTED_ONLY
    )  # a project could name any program
    timeout_ms: int = Field(
        default=5_000, ge=1_000, le=30_000, description="Deadline in ms; above 5,000 raise hooks.rtk-bash-rewriter.deadline_ms as well."
    )


def off_because(config: Config) -> str:
    return "" if config.enabled else f"{SETTINGS_KEY}.enabled is false"


@rewrite(tools={"bash"})
async def tool_execute_before(call: ToolCall, session: Session, config: Config) -> ToolCall | None:
    command = call.args.get("command")
    if not isinstance(command, str) or not command.strip() or command.lstrip().startswith("-") or len(command) > LONGEST:
        return None
    program = which(config.binary_path)
    if program is None:
        return None
    there = call.directory or session.directory or "."
    done = await run([program, "rewrite", command], cwd=there, timeout=config.timeout_ms / 1_000, limit_bytes=2 * LONGEST)
    better = done.stdout.strip()
    if done.timed_out or done.truncated or done.code not in REWRITTEN or not better or better == command.strip():
        return None
    return call.with_args(command=better)
