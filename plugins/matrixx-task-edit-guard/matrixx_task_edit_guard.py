"""Keep plans and task records to the tools that own them.

Plans (``.matrixx/plans``) and tasks (``.matrixx/tasks/T-*.json``) are shared by sessions and engines. The ``plan_*`` and ``task_*`` tools
lock them and check what they write; a file tool or a shell command knows nothing of that, so it may not write, move or delete them, nor a
folder that holds some. Reading a plan is left to ``plan_read``, whose anchors ``plan_update`` needs; searching plans, and reading tasks, is
free. Install it with ``matrixx-plan-tools`` and ``matrixx-task-tools``, which bring these tools.
"""

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.effects import Touch, covers, effects_of, matching
from matrixx_builtin.services.effects.paths import LONGEST
from matrixx_builtin.services.sensitive import FILELESS_TOOLS, named
from matrixx_core import Block, ToolCall, guard

PLANS = (".matrixx/plans/*",)
TASKS = (".matrixx/tasks/T-*.json",)

FOLDERS = (("plans", "*.md"), ("tasks", "T-*.json"))
"""Folders below ``.matrixx``, and what in them must not go away with a folder around it."""

READ = "use plan_read, which shows each line with the anchor that plan_update takes; plan_list tells which plans there are."
WRITE = "use plan_create, plan_update or plan_delete."
TASK = "use task_create, task_update or task_cleanup."


class Config(BaseModel):
    """Settings of ``task-edit-guard``."""

    model_config = ConfigDict(frozen=True)

    allow_read: bool = Field(default=False, description="Let the read tool show plans as well.")


@guard(but=FILELESS_TOOLS | {"glob", "grep", "list", "lsp", "webfetch"})
def tool_execute_before(call: ToolCall, config: Config) -> Block | None:
    effects = effects_of(call)
    changed = _usual((*effects.writes, *effects.deletes))
    if hit := _first(changed, PLANS, call.directory):
        return Block(f"{named(hit)} is a plan, which only the plan tools change", WRITE)
    if hit := _first(changed, TASKS, call.directory):
        return Block(f"{named(hit)} is a task's record, which only the task tools change", TASK)
    if hit := next((touch for touch in _usual(effects.deletes) if _holds_records(touch, call.directory)), None):
        return Block(f"{named(hit)} holds plans or tasks, which only the plan and task tools remove", "use plan_delete or task_cleanup.")
    if not config.allow_read and (hit := _first(_usual(effects.reads), PLANS, call.directory)) and hit.how == "read":
        return Block(f"{named(hit)} is a plan, which plan_read shows", READ)
    return None


def _first(touches: Iterable[Touch], patterns: tuple[str, ...], directory: str) -> Touch | None:
    return next(iter(matching(touches, patterns, base=directory)), None)


def _usual(touches: Iterable[Touch]) -> list[Touch]:
    """Without names longer than any file has."""
    return [touch for touch in touches if len(touch.path) <= LONGEST]


def _holds_records(touch: Touch, directory: str) -> bool:
    """Whether plans or tasks of this project go away with what is deleted."""
    home = Path(directory or ".") / ".matrixx"
    return any(covers(touch, str((home / name).absolute())) and _any(home / name, pattern) for name, pattern in FOLDERS)


def _any(folder: Path, pattern: str) -> bool:
    try:
        return next(folder.glob(pattern), None) is not None
    except (OSError, ValueError):
        return False
