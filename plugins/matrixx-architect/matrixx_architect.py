"""Keep an orchestrating agent to handing out work, checking what comes back, and going on until the plan is done.

An orchestrator is the agent ``architect``, or one of yours with the role ``orchestrator`` in the settings' ``agents.roles``. Where it writes
files itself it is reminded to delegate. A task that it hands out is to be one task; a report that comes back carries what has changed in the
project's files since, how far the mission is, and how to check it. A session of the mission that falls idle is offered to go on, until the
plan is done: then the mission ends.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import wake
from matrixx_builtin.services.agents import agent_of, canonical, role_named, role_of
from matrixx_builtin.services.background import OPEN, manager
from matrixx_builtin.services.delegation import TOOLS, Worker, failed, prompt_of, under_way, worker_of
from matrixx_builtin.services.effects import Touch, effects_of
from matrixx_builtin.services.effects.matching import folded
from matrixx_builtin.services.effects.paths import LONGEST
from matrixx_builtin.services.mission import Mission, MissionFile
from matrixx_builtin.services.plans import PlanStore, Progress, progress
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.sensitive import named
from matrixx_builtin.services.text_files import revision
from matrixx_builtin.services.worktree import Changed, Snapshot, changes_since, look
from matrixx_core import ChatMessage, HostClient, Inject, Session, SessionEvent, ToolCall, ToolFailure, ToolResult, observe, rewrite
from matrixx_core.events import by_person

RUN_AFTER = (
    "mouse-notepad",  # the seed's order of those that change a call: this one stands outermost
    "edit-error-recovery",  # the seed's order of what is added to a result
    "delegate-task-retry",
    "plan-persister",  # it ticks boxes when a session falls idle: a plan may be done by that
)

SOURCE = "architect"
WRITERS = frozenset({"write", "edit", "multiedit", "apply_patch", "hashline_edit", "notebookedit"})

MOST_PENDING = 50
"""Tasks of a session whose end is waited for; a host that never reports an end loses the oldest."""

LISTED = 25
"""Changed files that a report names."""

REFUSALS = 2
"""Prompts that the host refused in a row after which a session is left alone (spec session-hooks D10)."""

ALWAYS = frozenset({"morpheus"})
"""Agents, besides orchestrators, that carry out a mission which names none."""

DELEGATE = (
    "You orchestrate: {path} is outside of .matrixx, and writing it is work to be handed out. Delegate with the task tool; do it yourself only "
    "where it is a small fix that checking has shown."
)
DELEGATED = (
    "You have written {path} yourself. Delegate such work with the task tool; yours are checking, coordinating and the files in .matrixx."
)

SINGLE = """\
<system-reminder>
What follows must be one task: one outcome that can be checked by itself. If it holds several, do none of them: answer which tasks you see \
and ask for one.
</system-reminder>"""

CHECK = """\
1. Do not trust the report: run the diagnostics, the tests and the build yourself.
2. Read every file that was changed, whole.
3. Try it by hand where people will use it: a page in the browser, a program in a terminal, an interface with requests.
4. What is missing or wrong goes back into the same session{resume}."""

MISSION = """\
<system-reminder>
{changed}Mission: {plan!r}, {done}/{total} boxes done, {left} remaining. Before you go on:
{check}
5. Read .matrixx/notepads/{plan}/ and, with plan_read, the plan as it is now; tick the box with plan_update once all of this holds.
6. Commit this one change if the project keeps commits, then hand out the next box.
</system-reminder>"""

NO_MISSION = """\
<system-reminder>
{changed}Before you go on:
{check}
5. Put what is still open on your todo list or into task_create, and mark this one done only now.
</system-reminder>"""

CONTINUE = """\
[MISSION CONTINUATION] The plan {plan!r} is not done: {left} of {total} boxes remain. Read it with plan_read and go on at its first open box, \
without asking. Tick each box as soon as its work is done and checked. Keep notes in .matrixx/notepads/{plan}/. What blocks you goes there \
too: then go on with what is not blocked instead of stopping."""


class Config(BaseModel):
    """Settings of ``architect``."""

    model_config = ConfigDict(frozen=True)

    changes: bool = Field(default=True, description="Put under each report what has changed in the project's files, by Git.")
    continues: bool = Field(default=True, description="Offer a session of the mission to go on while boxes of its plan are open.")


@dataclass(slots=True)
class Memory:
    """What is known of one session: whether it was told to delegate, tasks under way, and what became of the last offer."""

    told: bool = False
    told_call: str = ""
    trees: dict[str, Snapshot] = field(default_factory=dict[str, Snapshot])
    offered_at: float = 0.0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a mission's plan is; the revision changes with any change of the file."""

    plan: str
    progress: Progress
    revision: str


@rewrite(tools=WRITERS | TOOLS)
async def tool_execute_before(call: ToolCall, session: Session, client: HostClient, config: Config) -> ToolCall | Inject | None:
    """Ask for one task, and look at the files before it; or, once in a session, tell to delegate."""
    prompt = prompt_of(call) if call.tool in TOOLS else ""
    touch, memory = None if call.tool in TOOLS else _outside(call), session.state(Memory)
    if not (prompt or (touch and not memory.told)) or await role_of(session, client) != "orchestrator":
        return None
    if touch:
        memory.told, memory.told_call = True, call.call_id
        return Inject(DELEGATE.format(path=named(touch)), priority="high")
    if config.changes and (tree := await look(call.directory or session.directory)):
        memory.trees[call.call_id] = tree
        if len(memory.trees) > MOST_PENDING:
            memory.trees.pop(next(iter(memory.trees)))
    return None if prompt.startswith(SINGLE) else call.with_args(prompt=f"{SINGLE}\n{prompt}")


@rewrite(tools=WRITERS, spec="tool_execute_after")
async def written(result: ToolResult, session: Session, client: HostClient) -> Inject | None:
    """Remind where the agent has written files itself, unless it was told so at the same call."""
    touch = _outside(result.call)
    if touch is None or result.call.call_id == session.state(Memory).told_call or await role_of(session, client) != "orchestrator":
        return None
    return Inject(DELEGATED.format(path=named(touch)), priority="low")


@rewrite(tools=TOOLS)
async def tool_execute_after(result: ToolResult, session: Session, client: HostClient) -> Inject | None:
    """Put what has changed, the mission, and how to check it under a report."""
    tree = session.state(Memory).trees.pop(result.call.call_id, None)
    if failed(result) or under_way(result) or await role_of(session, client) != "orchestrator":
        return None
    directory, check = result.call.directory or session.directory, _check(worker_of(result))
    changed = _listed(await changes_since(tree) if tree else None)
    try:
        mission, standing = await run_sync(standing_in, directory) if directory else (None, None)
        if mission is None:
            return Inject(NO_MISSION.format(changed=changed, check=check), priority="high")
        if standing is None or standing.progress.complete:
            return None
        await run_sync(MissionFile(directory).append, session.id)
    except (RecordError, OSError, ValueError):
        return None
    done, total = standing.progress.done, standing.progress.total
    text = MISSION.format(changed=changed, plan=standing.plan, done=done, total=total, left=total - done, check=check)
    return Inject(text, priority="high")


@observe(tools=TOOLS)
def tool_execute_failed(failure: ToolFailure, session: Session) -> None:
    session.state(Memory).trees.pop(failure.call.call_id, None)


@observe
def chat_message(message: ChatMessage, session: Session) -> None:
    """The person's word takes up again what was given up."""
    if by_person(message.parts):
        session.state(Memory).refused = 0


@rewrite(types={"session.idle", "session.compacted"})
async def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """Offer to go on with the mission; a summarised session is told everything anew."""
    memory = session.state(Memory)
    if event.type == "session.compacted":
        memory.told, memory.refused, memory.offered_at = False, 0, 0.0
        return
    _count_refusals(memory, session)
    if not session.directory or not config.continues or memory.refused >= REFUSALS:
        return
    try:
        mission, standing = await run_sync(standing_in, session.directory)
        if mission is None or standing is None or session.id not in mission.session_ids:
            return
        if standing.progress.complete:
            if await run_sync(MissionFile(session.directory).clear):
                await client.toast(f"The plan {standing.plan!r} is done: its mission has ended.", tone="success")
            return
    except (RecordError, OSError, ValueError):
        return
    agent = await agent_of(session, client)
    if _may_continue(agent, mission, session) and not any(work.status in OPEN for work in manager(client).of(session.id)):
        memory.offered_at = time.monotonic()
        wake.offer(session, _offer(standing, agent))


def standing_in(directory: str) -> tuple[Mission | None, Standing | None]:
    """The project's mission, and how far its plan is; no standing where the plan is not there, or has no boxes."""
    mission, store = MissionFile(directory).read(), PlanStore(directory)
    plan = store.name_of(mission.active_plan) if mission else ""
    if mission is None or not plan:
        return mission, None
    document = store.read(plan)
    how_far = progress(document.texts)
    return mission, Standing(plan, how_far, revision(document.content)) if how_far.total else None


def _offer(standing: Standing, agent: str) -> wake.Offer:
    left, total = standing.progress.total - standing.progress.done, standing.progress.total
    text = CONTINUE.format(plan=standing.plan, left=left, total=total)
    return wake.Offer(SOURCE, "mission", text, f"{standing.plan}:{standing.revision}", agent)


def _may_continue(agent: str, mission: Mission, session: Session) -> bool:
    """Whether the agent that has the word is the mission's; a mission that names none is any orchestrator's, or morpheus's."""
    if mission.agent:
        return canonical(agent) == canonical(mission.agent)
    return role_named(agent, session) == "orchestrator" or canonical(agent) in ALWAYS


def _count_refusals(memory: Memory, session: Session) -> None:
    """Count what the host has refused of our offers in a row: the arbiter begins a cool-down then."""
    if memory.offered_at:
        refused = session.state(wake.Wake).not_before > memory.offered_at
        memory.refused = memory.refused + 1 if refused else 0
        memory.offered_at = 0.0


def _outside(call: ToolCall) -> Touch | None:
    """What the call writes or deletes that lies in no folder ``.matrixx``."""
    effects = effects_of(call)
    touches = (touch for touch in (*effects.writes, *effects.deletes) if len(touch.path) <= LONGEST)
    return next((touch for touch in touches if ".matrixx" not in folded(touch.path).split("/")[:-1]), None)


def _listed(changes: Sequence[Changed] | None) -> str:
    """The changed files, a line each; the project's own records are no work. ``""`` where nobody can tell."""
    if changes is None:
        return ""
    rows = [f"- {one}" for one in changes if not one.path.startswith(".matrixx/")]
    more = [f"- ... and {len(rows) - LISTED} more"] if len(rows) > LISTED else []
    return "\n".join(["Changed files since it was handed out:", *(rows[:LISTED] or ["- none"]), *more, ""])


def _check(worker: Worker | None) -> str:
    resume = f': task({worker.argument}="{worker.session_id}", prompt="...")' if worker else ""
    return CHECK.format(resume=resume)
