"""Remind an orchestrating agent that works alone, once, whom it can give work to and with which skills.

Agents that do one delegated task hear nothing: they may not delegate. A summary of the conversation starts it anew.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.agents import agent_of, canonical, role_named
from matrixx_core import HostClient, Inject, Session, ToolResult, observe, rewrite

RUN_AFTER = ("agent-usage-reminder",)  # the seed's order of what is said behind a call

WORKING = {"edit", "write", "bash", "read", "grep", "glob", "multiedit", "apply_patch"}
DELEGATING = {"task", "delegate_agent", "agent"}

OWN_FOLDERS = (".opencode/skill", ".opencode/skills", ".claude/skills", ".matrixx/skills")
HOME_FOLDERS = (".config/opencode/skill", ".config/opencode/skills", ".claude/skills")
"""Where hosts look for skills: a folder each, with a ``SKILL.md``."""

MOST = 8
"""Skills that are named; of more only the number is told."""


class Config(BaseModel):
    """Settings of ``category-skill-reminder``."""

    model_config = ConfigDict(frozen=True)

    after: int = Field(default=3, ge=1, description="Calls that the agent makes itself before it is reminded.")
    agents: tuple[str, ...] = Field(
        default=("morpheus",), description="Agents that are reminded, besides those with the role orchestrator."
    )
    category: str = Field(default="deep", description="The category that the example names.")


@dataclass(slots=True)
class Alone:
    """How much a session has done by itself, and whether it was reminded."""

    calls: int = 0
    done: bool = False


@observe(tools=DELEGATING)
def tool_execute_before(session: Session) -> None:
    session.state(Alone).done = True


@observe(types={"session.compacted"})
def session_event(session: Session) -> None:
    session.state(Alone).done, session.state(Alone).calls = False, 0


@rewrite(tools=WORKING)
async def tool_execute_after(result: ToolResult, session: Session, client: HostClient, config: Config) -> Inject | None:
    alone = session.state(Alone)
    if alone.done or session.parent:
        return None
    alone.calls += 1
    if alone.calls < config.after or not await _is_meant(session, client, config):
        return None
    alone.done = True
    return Inject(_text(await run_sync(skills, session.directory), config), priority="low")


async def _is_meant(session: Session, client: HostClient, config: Config) -> bool:
    name = await agent_of(session, client)
    return role_named(name, session) == "orchestrator" or canonical(name) in map(canonical, config.agents)


def _text(found: list[str], config: Config) -> str:
    known = f" Skills here: {', '.join(found[:MOST])}{f' and {len(found) - MOST} more' if len(found) > MOST else ''}." if found else ""
    example = (
        f'task(category="{config.category}", load_skills={json.dumps(found[:1])}, run_in_background=false, description="...", prompt="...")'
    )
    return (
        f"[work can be delegated] You have worked alone so far. Give separable work to an agent of its own.{known} For example: {example}"
    )


def skills(directory: str) -> list[str]:
    """Names of the project's skills, then of the person's; those of one name are one."""
    places = [*(Path(directory, name) for name in OWN_FOLDERS if directory), *(Path.home() / name for name in HOME_FOLDERS)]
    return list(dict.fromkeys(name for place in places for name in _names(place)))


def _names(place: Path) -> Iterable[str]:
    try:
        return sorted(path.name for path in place.iterdir() if (path / "SKILL.md").is_file() and path.name.isprintable())
    except (OSError, ValueError):
        return ()
