"""Let a planning agent write nothing but Markdown in .matrixx, and say so to whom it consults.

A planner is the agent ``oracle``, or one of yours with the role ``planner`` in the settings' ``agents.roles``. Its file tools, patches and
shell commands may write, move and delete ``*.md`` below a folder ``.matrixx`` of the project and nothing else; plans themselves have
their own tools. Whom it consults through the task tool reads that nothing is to be changed now.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.agents import role_of
from matrixx_builtin.services.delegation import TOOLS, prompt_of
from matrixx_builtin.services.effects import Effects, Touch, covers, effects_of, matching
from matrixx_builtin.services.effects.matching import folded
from matrixx_builtin.services.effects.paths import LONGEST
from matrixx_builtin.services.sensitive import FILELESS_TOOLS, named, place_of, too_much
from matrixx_core import Block, HostClient, Inject, Session, ToolCall, guard, rewrite

RUN_AFTER = ("bash-file-read-guard",)  # the seed's order of those that change a call

PLANS = (".matrixx/plans/*",)
SHELLS = frozenset({"bash", "interactive_bash"})

INSTEAD = "go on planning: write notes as Markdown in .matrixx/drafts and the plan with plan_create. It is carried out when the user runs /start-work."

NOTICE = """\
<consultation>
A planning agent asks you: this is read-only. Do not create, edit, rename or delete files, and run no command that changes anything. \
Look, analyse and answer; what you find is carried out later, by others.
</consultation>"""

WORKFLOW = (
    "The way of planning: 1. interview the user, with drafts in .matrixx/drafts; 2. consult the agent seraph about what is missing; 3. write the plan; "
    "4. where high accuracy is asked for, have the agent smith review it until it agrees; 5. sum it up and tell the user to run /start-work."
)


class Config(BaseModel):
    """Settings of ``oracle-md-only``."""

    model_config = ConfigDict(frozen=True)

    shell: bool = Field(
        default=True, description="Hold shell commands of planners to it as well, as far as it can be told what they write."
    )


@dataclass(slots=True)
class Reminded:
    """Whether this session has read how plans are made."""

    done: bool = False


@guard(but=FILELESS_TOOLS | {"read", "glob", "grep", "list", "lsp", "webfetch"}, spec="tool_execute_before")
async def only_notes(call: ToolCall, session: Session, client: HostClient, config: Config) -> Block | None:
    if call.tool in SHELLS and not config.shell:
        return None
    effects = effects_of(call)
    hit = next((touch for touch in (*effects.writes, *effects.deletes) if not _is_note(touch, call.directory)), None)
    if (hit is None and not _is_cut(effects)) or await role_of(session, client) != "planner":
        return None
    return Block(f"{named(hit)} is no Markdown file in .matrixx, and a planner writes nothing else", INSTEAD) if hit else too_much(effects)


@rewrite(tools=TOOLS | {"plan_create", "write"})
async def tool_execute_before(call: ToolCall, session: Session, client: HostClient) -> ToolCall | Inject | None:
    """Put the notice before what a planner asks others, and tell once how plans are made when it writes one."""
    prompt, reminded = prompt_of(call) if call.tool in TOOLS else "", session.state(Reminded)
    plans = call.tool not in TOOLS and not reminded.done and _is_plan(call)
    asks = prompt and not prompt.startswith(NOTICE)
    if not (asks or plans) or await role_of(session, client) != "planner":
        return None
    if asks:
        return call.with_args(prompt=f"{NOTICE}\n\n{prompt}")
    reminded.done = True
    return Inject(WORKFLOW)


def _is_note(touch: Touch, directory: str) -> bool:
    """Whether it is Markdown below a folder ``.matrixx`` of the project, or such a folder being made."""
    project = place_of(directory or ".")
    if len(touch.path) > LONGEST or not covers(project, touch.path):
        return False
    *folders, name = folded(touch.path).removeprefix(folded(project.path)).split("/")
    if touch.how == "mkdir":
        return ".matrixx" in {*folders, name}
    return ".matrixx" in folders and name.endswith(".md")


def _is_cut(effects: Effects) -> bool:
    return too_much(effects) is not None


def _is_plan(call: ToolCall) -> bool:
    if call.tool == "plan_create":
        return True
    return bool(
        matching((touch for touch in effects_of(call).writes if len(touch.path) <= LONGEST), PLANS, base=str(Path(call.directory or ".")))
    )
