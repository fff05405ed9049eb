"""Begin or resume the work on a plan at /start-work.

``/start-work`` alone resumes the project's mission, or takes the one plan in ``.matrixx/plans`` that is not done; a name, or a part
of one, chooses. What cannot be decided is asked of the person. The mission then says which plan is carried out, by which
sessions and which agent; where the host has an agent ``architect``, that one takes over.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import anyio
from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.agents import agent_of, assign, canonical
from matrixx_builtin.services.mission import Mission, MissionFile
from matrixx_builtin.services.plans import Plan, PlanStore
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.slash import Typed, expanded, typed
from matrixx_core import ChatMessage, Command, HostClient, Session, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.events import Part

COMMAND = "start-work"

LISTED = 20
"""Plans that a list shows; the newest come first."""

ASKING = 1.5
"""Seconds that the host may take to name its agents."""

BEGIN = """\
Read the whole plan, then work at its first open box and go on to the next until none is left. Tick a box as soon as its work is done \
and checked, not later. Write what the next one must know into .matrixx/notepads/{name}/, and what blocks you too, \
instead of stopping there."""

CREATE = "A plan is a Markdown file with check boxes (`- [ ] what is to be done`) in that folder: write one with the user, then call /start-work again."


class Config(BaseModel):
    """Settings of ``start-work``."""

    model_config = ConfigDict(frozen=True)

    agent: str = Field(default="architect", description="The agent that carries out plans, where the host has one of this name.")


@rewrite
async def chat_message(message: ChatMessage, session: Session, client: HostClient, config: Config) -> ChatMessage | None:
    """Answer what was typed; of the host's own template of the command only the agent changes."""
    command, came_from = typed(message, session), expanded(message, session)
    if (command or came_from or Typed("")).name != COMMAND or not session.directory:
        return None
    agent = await _agent(client, config)
    if agent:
        assign(session, agent)
        message = message.model_copy(update={"agent": agent})
    return message.with_text(await _started(command, session, client, agent)) if command else message


@rewrite
async def command_execute_before(command: Command, session: Session, client: HostClient, config: Config) -> Command | None:
    """Put the answer behind the host's template, and what the template asks for into it."""
    known = typed(command, session)
    if known is None or known.name != COMMAND or not session.directory:
        return None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    command = command.model_copy(update={"parts": tuple(_filled(part, session.id, now) for part in command.parts)})
    typed(command, session)  # so that the prompt it becomes is known by its new text
    return command.with_text(await _started(known, session, client, await _agent(client, config)))


def situation(name: str, session: Session, agent: str) -> str:
    """Start or resume what can be, and say what the agent is to do."""
    store = PlanStore(session.directory)
    plans = [plan for plan in store.all() if plan.progress]
    missions = MissionFile(session.directory)
    if name:
        return _named(name, plans, missions, session, agent)
    told = ""
    if mission := missions.read():
        its_name = store.name_of(mission.active_plan)
        active = next((plan for plan in plans if plan.name == its_name), None)
        if active and is_open(active):
            return _begun(active, missions.start(Path(mission.active_plan), session.id, agent), "RESUMING")
        state = (
            "is complete" if active and active.progress and active.progress.complete else "is not there any more, or holds no check boxes"
        )
        told = f"The plan of the last mission, {mission.plan_name or Path(mission.active_plan).stem!r}, {state}.\n"
    open_ones = [plan for plan in plans if is_open(plan)]
    if len(open_ones) == 1:
        return told + _begun(open_ones[0], missions.start(open_ones[0].path, session.id, agent), "SELECTED, the only plan that is not done")
    if open_ones:
        return told + _choose("Several plans are not done.", open_ones, session)
    done = [plan for plan in plans if plan.progress and plan.progress.complete]
    there = f"All {len(done)} plans are complete." if done else "There is no plan with check boxes in .matrixx/plans."
    return f"{told}{there} {CREATE}"


def is_open(plan: Plan) -> bool:
    """Whether there are boxes and one of them is not ticked."""
    return plan.progress is not None and plan.progress.done < plan.progress.total


def _named(name: str, plans: Sequence[Plan], missions: MissionFile, session: Session, agent: str) -> str:
    wanted = name.lower().removesuffix(".md")
    exact = [plan for plan in plans if plan.name.lower() == wanted]
    fitting = exact or [plan for plan in plans if wanted in plan.name.lower()]
    fitting = [plan for plan in fitting if is_open(plan)] or fitting
    if len(fitting) > 1:
        return _choose(f"{name!r} fits several plans.", fitting, session)
    if not fitting:
        open_ones = [plan for plan in plans if is_open(plan)]
        if not open_ones:
            return f"There is no plan {name!r}, and none that is not done in .matrixx/plans. {CREATE}"
        return _choose(f"There is no plan {name!r}.", open_ones, session)
    (plan,) = fitting
    if is_open(plan):
        there = missions.read()
        same = there is not None and PlanStore(session.directory).name_of(there.active_plan) == plan.name
        path = Path(there.active_plan) if there and same else plan.path  # one plan by two paths would lose its sessions
        return _begun(plan, missions.start(path, session.id, agent), "SELECTED")
    if plan.progress and plan.progress.complete:
        return f"The plan {plan.name!r} is complete: {plan.progress} done. {CREATE}"
    return f"The plan {plan.name!r} ({plan.path}) has no check boxes, so nobody can tell how far it is. Add them with the user first."


def _begun(plan: Plan, mission: Mission, how: str) -> str:
    rows = {
        "Plan": f"{plan.name} ({how})",
        "Path": str(plan.path),
        "Progress": str(plan.progress),
        "Sessions": str(len(mission.session_ids)),
        "Started": mission.started_at or "unknown",
    }
    return "\n".join([*(f"{name}: {value}" for name, value in rows.items()), "", BEGIN.format(name=plan.name)])


def _choose(why: str, plans: Sequence[Plan], session: Session) -> str:
    lines = [
        f"{number}. {plan.name} (changed {time.strftime('%Y-%m-%d %H:%M', time.localtime(plan.modified))}, {plan.progress} done)"
        for number, plan in enumerate(plans[:LISTED], 1)
    ]
    more = [f"... and {len(plans) - LISTED} more"] if len(plans) > LISTED else []
    asked = "Ask the user which one to work on, and begin nothing before they have said it; then call /start-work with its name."
    return "\n".join([f"{why} (session {session.id}, {time.strftime('%Y-%m-%d %H:%M')})", *lines, *more, asked])


async def _started(command: Typed, session: Session, client: HostClient, agent: str) -> str:
    """The block for the model; what cannot be read or written is told in it."""
    name = " ".join(word for word in command.given().text.split() if word.lower() not in {"ultrawork", "ulw"})[:200]
    try:
        text = await run_sync(situation, name, session, agent or await agent_of(session, client))
    except RecordError as error:
        text = f"The work cannot be started: {error}. Tell the user."
    return f"<start-work>\n{text}\n</start-work>"


async def _agent(client: HostClient, config: Config) -> str:
    """The host's own name for the agent that carries out plans; ``""`` where it has none."""
    try:
        with anyio.fail_after(ASKING):
            offered = [str(one.get("name") or "") for one in await client.agents()]
    except (ClientError, TimeoutError):
        return ""
    return next((name for name in offered if name and canonical(name) == canonical(config.agent)), "")


def _filled(part: Part, session_id: str, now: str) -> Part:
    text = part.get("text")
    return {**part, "text": text.replace("$SESSION_ID", session_id).replace("$TIMESTAMP", now)} if isinstance(text, str) else part
