"""Stop the write tool from replacing a file that exists.

A whole new text loses what others have put into the file. Covered are the write tool under any name, and patches that add a file, or
move one, onto an existing path; a link counts as existing even if it leads nowhere. The shell's ``>`` is not covered: there it is a
plain way of working. Notes under ``.matrixx/`` (``*.md``) may be replaced, but plans (``.matrixx/plans``) belong to the plan tools.
"""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.effects import Touch, covers, effects_of
from matrixx_builtin.services.effects.paths import exists
from matrixx_builtin.services.sensitive import FILELESS_TOOLS, named, place_of
from matrixx_core import Block, Session, ToolCall, ToolResult, guard, observe

UNCONCERNED = FILELESS_TOOLS | {"read", "glob", "grep", "list", "lsp", "webfetch", "edit", "multiedit"}
MOST_PENDING = 200
"""Calls of a session whose end is waited for; a host that never reports an end loses the oldest."""


class Config(BaseModel):
    """Which existing files may be replaced after all."""

    model_config = ConfigDict(frozen=True)

    allow_own: bool = Field(default=False, description="Allow the files that the same session has created.")
    allow_empty: bool = Field(default=False, description="Allow empty files.")


@dataclass(slots=True)
class Created:
    """Files that this session has created, and those that calls still running are about to create."""

    files: set[str] = field(default_factory=set[str])
    pending: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


@guard(but=UNCONCERNED)
def tool_execute_before(call: ToolCall, session: Session, config: Config) -> Block | None:
    created = session.state(Created)
    fresh: list[str] = []
    for touch in effects_of(call).writes:
        if not _is_whole(touch):
            continue
        if not _exists(touch):
            fresh.append(touch.path)
        elif not _may_replace(touch, call.directory, config, created):
            return Block(f"{named(touch)} exists, and all of it would be replaced", "read it and use the edit tool for what has to change.")
    if fresh and config.allow_own:
        created.pending[call.call_id] = fresh
        if len(created.pending) > MOST_PENDING:
            created.pending.pop(next(iter(created.pending)))
    return None


@observe(but=UNCONCERNED)
def tool_execute_after(result: ToolResult, session: Session) -> None:
    created = session.state(Created)
    created.files.update(created.pending.pop(result.call.call_id, ()))


def _is_whole(touch: Touch) -> bool:
    """Whether the touch gives a path a whole new text: the write tool does, and a patch where it adds or moves a file."""
    return touch.how in {"write", "patch"} and touch.mode in {"create", "overwrite"}


def _exists(touch: Touch) -> bool:
    return exists(touch.path) or (touch.link != "" and exists(touch.link))


def _may_replace(touch: Touch, directory: str, config: Config, created: Created) -> bool:
    if config.allow_own and touch.path in created.files:
        return True
    return _is_note(touch, directory) or (config.allow_empty and _is_empty(touch))


def _is_empty(touch: Touch) -> bool:
    try:
        return Path(touch.path).is_file() and Path(touch.path).stat().st_size == 0
    except (OSError, ValueError):
        return False


def _is_note(touch: Touch, directory: str) -> bool:
    notes = Path(directory or ".") / ".matrixx"
    return touch.path.lower().endswith(".md") and covers(place_of(notes), touch.path) and not covers(place_of(notes / "plans"), touch.path)
