"""Give the model tools for plans whose progress everybody can see.

Plans are Markdown files under ``.matrixx/plans`` with check boxes. They are read as ``LINE#ID|text`` and changed by those
anchors, so that ticking one box changes that box and nothing else. Nested and numbered boxes count; boxes in code fences and in
HTML comments do not; a plan without boxes is not complete.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.lines import excerpt, tagged, whole
from matrixx_builtin.services.mission import MissionFile
from matrixx_builtin.services.plans import MOST_BYTES, Change, Edit, Plan, PlanStore, boxes, progress
from matrixx_builtin.services.records import RecordError, as_json
from matrixx_builtin.services.text_files import Document, revision
from matrixx_core import HostClient, Session, Tool, ToolError, hookimpl, tool

SETTINGS_KEY = "plans"

SHOWN_LINES = 2_000
"""Lines that one plan_read shows when nothing else is asked for; hosts' own read tools show as many."""

NAME = Field(description="The plan's name, without folder and .md.")
T = TypeVar("T")


class Config(BaseModel):
    model_config = ConfigDict(frozen=True)

    max_plan_file_bytes: int = Field(default=MOST_BYTES, ge=10_240, le=524_288, description="The largest plan that may be read or written.")


class Create(BaseModel):
    name: str = Field(description="Lower-case words with hyphens, such as login-page.")
    content: str = Field(description="Markdown; every step that can be done is a box: - [ ] step.")


class Read(BaseModel):
    name: str = NAME
    offset: int = Field(default=1, ge=1, description="The first line shown.")
    limit: int = Field(default=SHOWN_LINES, ge=1, description="How many lines are shown.")


class Update(BaseModel):
    name: str = NAME
    edits: list[Edit] = Field(min_length=1, description="All are made, or none.")
    revision: str = Field(default="", description="The revision that plan_read showed; needed only when another session read the plan.")


class Delete(BaseModel):
    name: str = NAME


class Listing(BaseModel):
    open: bool = Field(default=False, description="Only plans that are not complete.")


class Tasks(BaseModel):
    name: str = NAME
    open: bool = Field(default=False, description="Only boxes that are not ticked.")


@dataclass(slots=True)
class Seen:
    """The revision of each plan that this session's model has before it."""

    revisions: dict[str, str] = field(default_factory=dict[str, str])


@hookimpl
def tools(config: Config) -> Sequence[Tool]:
    """The six tools, all on one store."""

    def store(session: Session) -> PlanStore:
        return PlanStore(session.directory or ".", config.max_plan_file_bytes)

    @tool("plan_create", "Write a new plan. Its progress is the boxes that are ticked.")
    async def create(args: Create, session: Session, client: HostClient) -> str:
        plans = store(session)
        made = await off_loop(lambda: plans.create(args.name, args.content))
        return as_json({"plan": _remembered(session, args.name, made), "path": str(plans.path(args.name))})

    @tool("plan_read", "Read a plan as LINE#ID|text. The LINE#ID anchors are what plan_update takes.")
    async def read(args: Read, session: Session, client: HostClient) -> str:
        document = await off_loop(lambda: store(session).read(args.name))
        return _shown(args, _remembered(session, args.name, document), document)

    @tool(
        "plan_update",
        "Change a plan by the anchors of its lines as plan_read showed them: tick or untick a box, replace, append or prepend lines. "
        "All anchors are those from before the update.",
    )
    async def update(args: Update, session: Session, client: HostClient) -> str:
        seen = args.revision or session.state(Seen).revisions.get(_key(args.name), "")
        if not seen:
            raise ToolError(f"read the plan {args.name[:100]!r} with plan_read first, so that you change what is there")
        change = await off_loop(lambda: store(session).update(args.name, args.edits, seen))
        return _told(change, _remembered(session, args.name, change.after))

    @tool("plan_list", "List the plans, the last changed one first, with how many of their boxes are ticked.")
    async def listing(args: Listing, session: Session, client: HostClient) -> str:
        active = await off_loop(MissionFile(session.directory or ".").read)
        rows = [_row(plan, active.plan_name if active else "") for plan in await off_loop(store(session).all)]
        return as_json({"plans": [row for row in rows if not (args.open and row.get("complete"))]})

    @tool("plan_tasks", "List the boxes of a plan: anchor, text, whether it is ticked, depth and the heading above it.")
    async def tasks(args: Tasks, session: Session, client: HostClient) -> str:
        document = await off_loop(lambda: store(session).read(args.name))
        found = [
            {"pos": str(box.anchor), "text": whole(box.text), "done": box.done, "depth": box.depth, "section": whole(box.section)}
            for box in boxes(document.texts)
            if not (args.open and box.done)
        ]
        return as_json({"plan": _remembered(session, args.name, document), "tasks": found})

    @tool("plan_delete", "Delete a plan for good.")
    async def delete(args: Delete, session: Session, client: HostClient) -> str:
        await off_loop(lambda: store(session).delete(args.name))
        session.state(Seen).revisions.pop(_key(args.name), None)
        return as_json({"deleted": _key(args.name)})

    return create, read, update, listing, tasks, delete


async def off_loop(work: Callable[[], T]) -> T:
    """Do file work in a thread, and tell the model what went wrong."""
    try:
        return await run_sync(work)
    except (RecordError, ValueError) as error:
        raise ToolError(whole(str(error))) from None


def _remembered(session: Session, name: str, document: Document) -> dict[str, Any]:
    """What the model is told of a plan that it now has before it."""
    now = session.state(Seen).revisions[_key(name)] = revision(document.content)
    how_far = progress(document.texts)
    return {"name": _key(name), "progress": str(how_far), "complete": how_far.complete, "revision": now}


def _shown(args: Read, about: dict[str, Any], document: Document) -> str:
    texts = document.texts
    shown = [tagged(number, whole(texts[number - 1])) for number in range(args.offset, min(args.offset + args.limit, len(texts) + 1))]
    head = f"plan {about['name']}: {about['progress']} done, {len(texts)} lines, revision {about['revision']}"
    left = len(texts) - (args.offset + len(shown) - 1)
    more = [f"(lines {args.offset + len(shown)} to {len(texts)} are left: offset {args.offset + len(shown)})"] if shown and left > 0 else []
    return "\n".join([head, "", *shown, *more])


def _told(change: Change, about: dict[str, Any]) -> str:
    head = f"plan {about['name']}: {about['progress']} done, revision {about['revision']}"
    if change.after == change.before:
        return f"{head}\nNothing had to be changed: it already was so."
    moved = len(change.after.lines) - len(change.before.lines)
    note = f"\nLines below moved by {moved:+d}: their old numbers no longer hold." if moved else ""
    return f"{head}{note}\n{whole(excerpt(change.touched, change.after.texts))}"


def _row(plan: Plan, active: str) -> dict[str, Any]:
    row = {
        "name": plan.name,
        "progress": str(plan.progress) if plan.progress else "cannot be read",
        "complete": bool(plan.progress and plan.progress.complete),
        "modified": datetime.fromtimestamp(plan.modified, UTC).isoformat(timespec="seconds"),
        "bytes": plan.size,
    }
    return {**row, "active": True} if plan.name == active else row


def _key(name: str) -> str:
    return whole(name).removesuffix(".md")
