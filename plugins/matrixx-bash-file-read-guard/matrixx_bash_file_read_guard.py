"""Remind agents that the read tool shows a file better than a shell command.

It never stops a command: it adds a note, and only a few times in a session, since a reminder that always comes is not read.
"""

import os
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.effects import Run, Touch, effects_of
from matrixx_core import Inject, Session, ToolCall, rewrite

RUN_AFTER = ("non-interactive-env",)  # its warning of a program that hangs comes first

READERS = frozenset({"cat", "head", "tail", "less", "more", "bat", "batcat", "nl", "sed"})
FOLLOWING = frozenset({"-f", "-F", "--follow", "--retry"})
NO_FILES = ("/dev/", "/proc/", "/sys/")
"""Where the read tool is no substitute."""


class Config(BaseModel):
    """Settings of ``bash-file-read-guard``."""

    model_config = ConfigDict(frozen=True)

    most: int = Field(default=3, ge=0, description="How often one session is reminded.")


@dataclass(slots=True)
class Reminded:
    """How often this session has been reminded."""

    times: int = 0


@rewrite(tools={"bash"})
def tool_execute_before(call: ToolCall, session: Session, config: Config) -> Inject | None:
    reminded = session.state(Reminded)
    if reminded.times >= config.most or not only_reads(call):
        return None
    reminded.times += 1
    program = _name(effects_of(call).runs[0])
    return Inject(
        f"To look at a file, prefer the read tool over `{program}`: it numbers the lines, takes `offset` and `limit` for a part, "
        "and edits can refer to what it showed.",
        priority="low",
    )


def only_reads(call: ToolCall) -> bool:
    """Whether the command does nothing but print files: one reading program, or a pipe of such."""
    effects = effects_of(call)
    if not effects.reads or not effects.runs or effects.writes or effects.deletes or effects.fetches or effects.unknown:
        return False
    if not all(_is_in_project(touch, call.directory) for touch in effects.reads):
        return False
    if not str(call.args.get("command")).lstrip().startswith(effects.runs[0].program):
        return False  # it stands inside of something: an assignment, a loop, a substitution
    return all(map(_is_reader, effects.runs))


def _is_in_project(touch: Touch, directory: str) -> bool:
    """Whether the read tool is a substitute: hosts ask the person before it leaves the project, and it reads no devices."""
    if touch.path.startswith(NO_FILES) or touch.given.startswith(NO_FILES):
        return False
    roots = tuple(f"{root.rstrip('/')}/" for root in (directory, os.path.realpath(directory)))
    return not directory or touch.path.startswith(roots) or touch.link.startswith(roots)


def _is_reader(run: Run) -> bool:
    name = _name(run)
    if name not in READERS or not FOLLOWING.isdisjoint(run.argv):
        return False
    return name != "sed" or "-n" in run.argv


def _name(run: Run) -> str:
    return run.program.rpartition("/")[2]
