"""Tell workers which notepad belongs to their work, and that the plan is not theirs to change.

Acts where an orchestrator (the agent ``architect``, or one of yours with that role in the settings' ``agents.roles``) hands out work through
the task tool. The notepad is that of the plan which the mission carries out, else ``adhoc``; a session that goes on has read it already.
"""

from anyio.to_thread import run_sync

from matrixx_builtin.services.agents import role_of
from matrixx_builtin.services.delegation import TOOLS, prompt_of, resumed
from matrixx_builtin.services.mission import MissionFile
from matrixx_builtin.services.notepads import ADHOC
from matrixx_builtin.services.plans import PlanStore
from matrixx_builtin.services.records import RecordError
from matrixx_core import HostClient, Session, ToolCall, rewrite

RUN_AFTER = ("oracle-md-only",)  # the seed's order: what a planner says stands innermost

OPENING = "<work-context>"

NOTEPAD = """\
Notepad of this work: .matrixx/notepads/{bucket}/ with learnings.md, decisions.md, issues.md and problems.md. Read what is there before you begin. \
Add what the next one must know at the end of the file that fits (`mkdir -p` the folder, then `cat >> file <<'EOF'`); \
never overwrite or edit what others have written."""

PLAN = """
The plan is {plan!r}: look at it with plan_read if you must. It is read-only for you; whoever gave you this work ticks its boxes."""


@rewrite(tools=TOOLS)
async def tool_execute_before(call: ToolCall, session: Session, client: HostClient) -> ToolCall | None:
    prompt = prompt_of(call)
    if not prompt or resumed(call) or prompt.startswith(OPENING) or await role_of(session, client) != "orchestrator":
        return None
    plan = await run_sync(carried_out, call.directory or session.directory)
    return call.with_args(prompt=f"{_context(plan)}\n\n{prompt}")


def carried_out(directory: str) -> str:
    """The name of the plan that the project's mission carries out; ``""``: none."""
    if not directory:
        return ""
    try:
        mission = MissionFile(directory).read()
    except (RecordError, ValueError):
        return ""
    return PlanStore(directory).name_of(mission.active_plan) if mission else ""


def _context(plan: str) -> str:
    notepad = NOTEPAD.format(bucket=plan or ADHOC)
    return f"{OPENING}\n{notepad}{PLAN.format(plan=plan) if plan else ''}\n</work-context>"
