"""Keep the look that design agents gave a plan's earlier phases when later phases are worked on.

When the person speaks of a numbered phase, and the plan of the mission (without a mission: the newest plan) hands work to a design
agent, the model is told that what was decided about the look stands.
"""

import re

from anyio.to_thread import run_sync

from matrixx_builtin.services.mission import MissionFile
from matrixx_builtin.services.plans import PlanStore
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.spoken import START, spoken
from matrixx_core import ChatMessage, Inject, Session, rewrite

TAG = "<design-intent>"

PHASE = re.compile(rf"{START}phases?[\s#:]{{0,5}}\d{{1,3}}\b", re.IGNORECASE)

DESIGN = re.compile(
    r"(?<![\w/.-])(?:@?(?:construct(?!ed|ing|s|or|ion|\s+(?:an?|the|this|that|it|each|all|your|its|new)\b)|web-designer|frontend-ui-ux)|@designer)(?![\w-])",
    re.IGNORECASE,
)
"""The agents and skills that decide about looks (spec session-hooks A6); ``construct the parser`` is no agent."""

TEXT = f"""\
{TAG}
The look of this plan was decided in its design phase and is frozen: layout, colours, type, spacing, motion, wording of the interface. In this phase \
make only the mechanical changes that the task needs (data, behaviour, wiring, tests) and leave what is seen as it is. A visual change that turns out to be needed \
goes back to the design agent. Note every change you would like in .matrixx/drafts/design-changes.md, with the reason.
</design-intent>"""


@rewrite
async def chat_message(message: ChatMessage, session: Session) -> Inject | None:
    """Remind of the design where a later phase is asked for."""
    if session.parent or not session.directory or TAG in message.text or not PHASE.search(spoken(message.text)):
        return None
    return Inject(TEXT) if DESIGN.search(await run_sync(_plan, session)) else None


def _plan(session: Session) -> str:
    """The text of the plan that this session works on; ``""`` for none, or none of its own."""
    plans = PlanStore(session.directory)
    try:
        if mission := MissionFile(session.directory).read():
            name = plans.name_of(mission.active_plan)
            return _text(plans, name) if name and session.id in mission.session_ids else ""
        newest = next(iter(plans.all()), None)
        return _text(plans, newest.name) if newest else ""
    except RecordError:
        return ""


def _text(plans: PlanStore, name: str) -> str:
    return "\n".join(plans.read(name).texts)
