"""The file-backed tasks of a project: ``.matrixx/tasks/T-<uuid>.json``, safe for several processes.

Facts: spec config-and-dispatch 8. A task belongs to the session that made it (``threadID``); it is open while it is pending
or in progress and everything that blocks it is done.
"""

import re
import time
import uuid
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from matrixx_core.trust import state_dir

from .records import RecordError, locked, read, write

Status: TypeAlias = Literal["pending", "in_progress", "completed", "deleted"]
DONE = frozenset({"completed", "deleted"})

ID = re.compile(r"T(-[A-Za-z0-9]+)+")
"""A task's id, which is also its file's name: no slash and no dot can be in it."""

SAME_TASK_SECONDS = 600
"""Within this time a task of the same subject is the same task (spec 8.4)."""

STALE_HOURS = 24.0
"""A task whose file nobody touched for so long is no longer claimed by anyone (spec 2.5)."""


class Task(BaseModel):
    """One task as it stands in its file; the names are those of the seed's schema."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(pattern=f"^{ID.pattern}$")
    subject: str = Field(min_length=1)
    description: str = ""
    status: Status = "pending"
    activeForm: str | None = None  # noqa: N815  the seed's name
    blocks: tuple[str, ...] = ()
    blockedBy: tuple[str, ...] = ()  # noqa: N815
    owner: str | None = None
    metadata: Mapping[str, Any] = {}
    parentID: str | None = None  # noqa: N815
    threadID: str  # noqa: N815
    projectRoot: str | None = None  # noqa: N815

    @property
    def done(self) -> bool:
        return self.status in DONE


class TaskStore:
    """The tasks of one project, or of the person (``scope="global"``)."""

    def __init__(self, directory: Path | str, scope: Literal["project", "global"] = "project") -> None:
        self.project = str(directory)
        self.folder = Path(directory) / ".matrixx" / "tasks" if scope == "project" else state_dir() / "tasks"

    def create(self, subject: str, session: str, **fields: Any) -> tuple[Task, bool]:
        """A new task, or the open one of the same subject that was made a moment ago (then the second value is true)."""
        with locked(self.folder):
            for task in self.all():
                if task.subject.strip() == subject.strip() and not task.done and self.age_seconds(task.id) < SAME_TASK_SECONDS:
                    return task, True
            made = Task(id=f"T-{uuid.uuid4()}", subject=subject.strip(), threadID=session, projectRoot=self.project, **fields)
            self._save(made)
            return made, False

    def get(self, task_id: str) -> Task | None:
        """The task, or ``None``; raises ``RecordError`` for an id that cannot be one."""
        return read(self.path(task_id), Task)

    def update(self, task_id: str, **changes: Any) -> Task:
        """Change some fields; ``addBlocks`` and ``addBlockedBy`` add, a metadata key set to ``None`` goes."""
        with locked(self.folder):
            task = self.get(task_id)
            if task is None:
                raise RecordError(f"there is no task {task_id!r}; task_list shows those there are")
            changed = Task.model_validate({**task.model_dump(), **_merged(task, changes)})
            self._save(changed)
            return changed

    def cleanup(self, older_than_seconds: float = 0.0) -> list[str]:
        """Remove completed and deleted tasks that nobody touched for so long; returns their ids."""
        with locked(self.folder):
            gone = [task.id for task in self.all() if task.done and self.age_seconds(task.id) >= older_than_seconds]
            for task_id in gone:
                self.path(task_id).unlink(missing_ok=True)
            return gone

    def all(self) -> Iterator[Task]:
        """Every task that can be read, by id; broken files are set aside."""
        for path in sorted(self.folder.glob("T-*.json")):
            if ID.fullmatch(path.stem) and (task := read(path, Task)):
                yield task

    def open(self, sessions: Collection[str] | None = None, stale_hours: float = STALE_HOURS) -> list[Task]:
        """What still can be worked on: not done, not blocked, not abandoned, of these sessions (``None``: of any)."""
        tasks = {task.id: task for task in self.all()}
        return [
            task
            for task in tasks.values()
            if not task.done
            and (sessions is None or task.threadID in sessions)
            and not (task.parentID in tasks and tasks[task.parentID].done)
            and not unresolved(task, tasks)
            and self.age_seconds(task.id) < stale_hours * 3_600
        ]

    def age_seconds(self, task_id: str) -> float:
        """Since its file was last written; 0 when that cannot be told, or lies in the future."""
        try:
            return max(0.0, time.time() - self.path(task_id).stat().st_mtime)
        except OSError:
            return 0.0

    def path(self, task_id: str) -> Path:
        """The task's file; raises ``RecordError`` for what is no id."""
        if not ID.fullmatch(task_id):
            raise RecordError(f"{task_id!r} is no task id: they look like T-1f0c...")
        return self.folder / f"{task_id}.json"

    def _save(self, task: Task) -> None:
        write(self.path(task.id), task)


def unresolved(task: Task, tasks: Mapping[str, Task]) -> list[str]:
    """The ids that still block this task; one that does not exist blocks."""
    return [blocker for blocker in task.blockedBy if blocker not in tasks or not tasks[blocker].done]


def _merged(task: Task, changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = {key: value for key, value in changes.items() if value is not None and key not in {"addBlocks", "addBlockedBy", "metadata"}}
    for adding, field in (("addBlocks", "blocks"), ("addBlockedBy", "blockedBy")):
        more = changes.get(adding) or ()
        there = merged.get(field, getattr(task, field))
        merged[field] = (*there, *(one for one in more if one not in there))
    metadata = {**task.metadata, **(changes.get("metadata") or {})}
    merged["metadata"] = {key: value for key, value in metadata.items() if value is not None}
    return merged
