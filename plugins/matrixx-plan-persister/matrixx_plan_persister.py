"""Tick a mission's plan as its tasks get done, and keep the plan in mind when the session is summarised.

A completed task ticks the box that says the same. A box is never unticked, no other byte of the plan changes, and nothing is
written where nothing changed. How far the plan is, since when, stands beside it in ``.matrixx/plan-state/``.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import records
from matrixx_builtin.services.mission import Mission, MissionFile
from matrixx_builtin.services.plans import Box, PlanStore, Progress, boxes, progress, ticked
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.tasks import DONE, Task, TaskStore
from matrixx_builtin.services.text_files import Document
from matrixx_core import Compaction, Inject, Session, SessionEvent, ToolResult, rewrite

SETTINGS_KEY = "tasks"

DEEPEST = 3
"""Tasks above a task that are looked at to tell whose it is (spec config-and-dispatch 8.6)."""

SHOWN, SHOWN_CHARACTERS = 25, 3_000
"""Open boxes that a summary is told of, and the characters they may take."""

STOP_WORDS = frozenset(["the", "a", "an", "to", "of", "and", "or", "for", "with", "on", "in"])

_WORD = re.compile(r"[^\W\d_]+|\d+")

log = logging.getLogger("matrixx")


class Config(BaseModel):
    """Settings of ``plan-persister``; they are those of the tasks."""

    model_config = ConfigDict(frozen=True, extra="allow")  # the section also holds what other hooks read

    scope: Literal["project", "global"] = Field(default="project", description="Whose tasks: the project's, or the person's.")
    session_scoped: bool = Field(default=True, description="Only tasks of the mission's sessions, or that name its plan, tick boxes.")


class State(BaseModel):
    """How far a plan was when that last changed, and whose work it was."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    updated_at: str = ""
    session_id: str = ""
    total: int = 0
    done: int = 0


@rewrite(types={"session.idle", "session.compacted"})
async def session_event(event: SessionEvent, session: Session, config: Config) -> None:
    """Whatever the session has done is in the plan before anybody goes on with it."""
    await run_sync(_told, sync, session, config)


@rewrite(tools={"task_update"})
async def tool_execute_after(result: ToolResult, session: Session, config: Config) -> None:
    """A task that is over is in the plan at once."""
    if result.call.args.get("status") in DONE:
        await run_sync(_told, sync, session, config)


@rewrite
async def session_compacting(compaction: Compaction, session: Session, config: Config) -> Inject | None:
    """Let the summary know the plan: which it is, how far, and what comes next."""
    text = await run_sync(_told, rehydration, session, config)
    return Inject(text, priority="high") if text else None


def sync(session: Session, config: Config) -> str:
    """Tick what completed tasks stand for, and note how far the plan is; returns the plan's name, ``""`` without one."""
    mission = _mission(session)
    if mission is None:
        return ""
    plans = PlanStore(session.directory)
    name = plans.name_of(mission.active_plan)
    votes = [words(task.subject) for task in _completed(mission, session, config)]
    after = plans.change(name, lambda plan: _with_ticks(plan, votes)).after if votes else plans.read(name)
    _note(session, name, progress(after.texts))
    return name


def rehydration(session: Session, config: Config) -> str:
    """What a summary must keep of the plan; ``""`` without a mission, or when it is complete."""
    if not (name := sync(session, config)):
        return ""
    lines = PlanStore(session.directory).read(name).texts
    how_far = progress(lines)
    if how_far.complete or not how_far.total:
        return ""
    state = records.read(_state_file(session, name), State) or State()
    return (
        f"[plan-persister] This session carries out the plan {name!r} (.matrixx/plans/{name}.md). {how_far} boxes are ticked; the last one at "
        f"{state.updated_at} in session {state.session_id}.\nNext:\n{_next_boxes(boxes(lines))}\n"
        "Keep this in the summary. Afterwards read the plan again, go on at its first open box, and tick each box as soon as its work is done and checked."
    )


def words(text: str) -> frozenset[str]:
    """The words and numbers that a subject or a box is known by; of a text of stop words all of them."""
    found = frozenset(_WORD.findall(text.lower()))
    return found - STOP_WORDS or found


def fits(task: frozenset[str], box: frozenset[str]) -> int:
    """How many words a task and a box share if they mean the same, else 0.

    The spec's two words are not enough where a third differs ("write parser tests", "write lexer tests"), nor where numbers do: a
    box that stays open costs less than one ticked wrongly.
    """
    shared = len(task & box)
    numbers = [{word for word in side if word.isdigit()} for side in (task, box)]
    if not shared or (all(numbers) and numbers[0] != numbers[1]):
        return 0
    return shared if task == box or (shared >= 2 and 3 * shared > 2 * min(len(task), len(box))) else 0


def _with_ticks(plan: Document, votes: Sequence[frozenset[str]]) -> Document:
    """The plan with the box of each vote ticked: of those that fit, the best one; ticked ones count, so that a vote counts once."""
    there = [(box, words(box.text)) for box in boxes(plan.texts)]
    for vote in votes:
        best = max(there, key=lambda one: fits(vote, one[1]), default=None)
        if best and fits(vote, best[1]) and not best[0].done:
            at = best[0].anchor.line - 1
            plan = plan.spliced(at, at + 1, [ticked(plan.texts[at], done=True)])
    return plan


def _completed(mission: Mission, session: Session, config: Config) -> Iterable[Task]:
    """The completed tasks that belong to the mission, in the order of their ids."""
    tasks = {task.id: task for task in TaskStore(session.directory, config.scope).all()}
    return (task for task in tasks.values() if task.status == "completed" and _is_of(task, tasks, mission, session, config))


def _is_of(task: Task, tasks: Mapping[str, Task], mission: Mission, session: Session, config: Config) -> bool:
    """Whether a task, or one that it is a part of, belongs to the mission."""
    above: Task | None = task
    for _ in range(DEEPEST + 1):
        if above is None or (above.projectRoot and Path(above.projectRoot) != Path(session.directory)):
            return False
        if plan := above.metadata.get("planName"):
            return plan in {mission.plan_name, Path(mission.active_plan).stem}
        if above.threadID in mission.session_ids or not config.session_scoped:
            return True
        above = tasks.get(above.parentID or "")
    return False


def _mission(session: Session) -> Mission | None:
    """The mission that this session works on, if its plan is one of the project's and there."""
    if not session.directory:
        return None
    mission = MissionFile(session.directory).read()
    mine = mission is not None and session.id in mission.session_ids
    return mission if mission and mine and PlanStore(session.directory).name_of(mission.active_plan) else None


def _note(session: Session, name: str, how_far: Progress) -> None:
    """Write down how far the plan is, where that has changed."""
    path = _state_file(session, name)
    before = records.read(path, State)
    if before is None or (before.total, before.done) != (how_far.total, how_far.done):
        now = datetime.now(UTC).isoformat(timespec="seconds")
        records.write(path, State(updated_at=now, session_id=session.id, total=how_far.total, done=how_far.done))


def _state_file(session: Session, name: str) -> Path:
    return Path(session.directory) / ".matrixx" / "plan-state" / f"{name}.json"


def _next_boxes(all_boxes: Sequence[Box]) -> str:
    """The open boxes of the first section that has any."""
    section = next((box.section for box in all_boxes if not box.done), "")
    lines = [f"{'  ' * box.depth}- [ ] {box.text}" for box in all_boxes if not box.done and box.section == section]
    more = [f"... and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "\n".join([*([f"## {section}"] if section else []), *lines[:SHOWN], *more])[:SHOWN_CHARACTERS]


def _told(work: Callable[[Session, Config], str], session: Session, config: Config) -> str:
    """Do it; what cannot be read or written is told in the log, and the session goes on."""
    try:
        return work(session, config)
    except (RecordError, FileNotFoundError) as error:
        log.warning("the plan of the mission is left as it is: %s", error)
        return ""
