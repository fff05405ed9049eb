"""Give the model tools for tasks that outlive its context.

Tasks are files under ``.matrixx/tasks``, shared by all sessions of a project and safe for several engines at once.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.records import RecordError, as_json
from matrixx_builtin.services.tasks import Status, Task, TaskStore, unresolved
from matrixx_core import HostClient, Session, Tool, ToolError, hookimpl, tool

SETTINGS_KEY = "tasks"

UNITS = {"m": 60, "h": 3_600, "d": 86_400}


class Config(BaseModel):
    model_config = ConfigDict(frozen=True)

    scope: Literal["project", "global"] = Field(default="project", description="Whose tasks: the project's, or the person's.")


class Create(BaseModel):
    subject: str = Field(min_length=1, max_length=500, description="What is to be done, in one line.")
    description: str = Field(default="", description="All that whoever does it must know.")
    activeForm: str | None = Field(default=None, description="What is going on while it is done.")  # noqa: N815
    blockedBy: list[str] = Field(default=[], description="Ids of tasks that must be done before.")  # noqa: N815
    blocks: list[str] = Field(default=[], description="Ids of tasks that wait for this one.")
    parentID: str | None = Field(default=None, description="Id of the task that this is a part of.")  # noqa: N815
    metadata: dict[str, Any] = Field(default={}, description="Anything else; planName links it to a plan.")


class Update(BaseModel):
    id: str = Field(description="The task's id.")
    subject: str | None = None
    description: str | None = None
    status: Status | None = Field(default=None, description="pending, in_progress, completed or deleted.")
    activeForm: str | None = None  # noqa: N815
    owner: str | None = Field(default=None, description="Who does it.")
    addBlocks: list[str] = []  # noqa: N815
    addBlockedBy: list[str] = []  # noqa: N815
    metadata: dict[str, Any] = Field(default={}, description="Keys to set; null removes a key.")


class Get(BaseModel):
    id: str = Field(description="The task's id.")


class Listing(BaseModel):
    all: bool = Field(default=False, description="Completed and deleted tasks too.")
    mine: bool = Field(default=False, description="Only those of this session.")


class Cleanup(BaseModel):
    olderThan: str = Field(default="0m", pattern=r"^\d+[dhm]$", description="Only what nobody touched for so long: 7d, 12h, 30m.")  # noqa: N815


@hookimpl
def tools(config: Config) -> Sequence[Tool]:
    """The five tools, all on one store."""

    def store(session: Session) -> TaskStore:
        return TaskStore(session.directory or ".", config.scope)

    @tool("task_create", "Record a task that must not be forgotten. The same subject within ten minutes is the same task.")
    async def create(args: Create, session: Session, client: HostClient) -> str:
        fields = args.model_dump(exclude={"subject"}, exclude_none=True)
        task, known = await off_loop(lambda: store(session).create(args.subject, session.id, **fields))
        return as_json({"tasks": [{"id": task.id, "subject": task.subject, **({"deduplicated": True} if known else {})}]})

    @tool("task_update", "Change a task: its status, its text, what blocks it.")
    async def update(args: Update, session: Session, client: HostClient) -> str:
        task = await off_loop(lambda: store(session).update(args.id, **args.model_dump(exclude={"id"}, exclude_none=True)))
        return as_json({"task": task.model_dump(mode="json", exclude_none=True)})

    @tool("task_get", "Read one task.")
    async def get(args: Get, session: Session, client: HostClient) -> str:
        task = await off_loop(lambda: store(session).get(args.id))
        if task is None:
            raise ToolError(f"there is no task {args.id!r}; task_list shows those there are")
        return as_json({"task": task.model_dump(mode="json", exclude_none=True)})

    @tool("task_list", "List the tasks that are not done, with what still blocks each. Work on unblocked ones in parallel where you can.")
    async def listing(args: Listing, session: Session, client: HostClient) -> str:
        tasks = {task.id: task for task in await off_loop(lambda: list(store(session).all()))}
        shown = [task for task in tasks.values() if (args.all or not task.done) and (not args.mine or task.threadID == session.id)]
        return as_json({"tasks": [_row(task, tasks) for task in shown]})

    @tool("task_cleanup", "Remove completed and deleted tasks.")
    async def cleanup(args: Cleanup, session: Session, client: HostClient) -> str:
        return as_json({"removed": await off_loop(lambda: store(session).cleanup(_seconds(args.olderThan)))})

    return create, update, get, listing, cleanup


async def off_loop(work: Any) -> Any:
    """Do file work in a thread, and tell the model what went wrong."""
    try:
        return await run_sync(work)
    except (RecordError, ValueError) as error:
        raise ToolError(str(error)) from None


def _row(task: Task, tasks: dict[str, Task]) -> dict[str, Any]:
    row = {"id": task.id, "subject": task.subject, "status": task.status, "owner": task.owner, "blockedBy": unresolved(task, tasks)}
    return {key: value for key, value in row.items() if value}


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+)([dhm])", text)
    return int(found[1]) * UNITS[found[2]] if found else 0.0
