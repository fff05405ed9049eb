"""Who is calling: the agent that runs a session, and its part in planning, delegating and doing the work.

What a session's newest prompt says is known without asking anybody; where no prompt was seen (the engine was started in the
middle), the mission file says it, then what the adapter read, then the host's messages, which are asked for once.
"""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio
from anyio.to_thread import run_sync

from matrixx_core import HostClient, Message, Session
from matrixx_core.errors import ClientError

from .mission import MissionFile
from .records import RecordError

Role: TypeAlias = Literal["planner", "orchestrator", "worker", "other"]
"""Who writes plans, who has them carried out by others, who does one delegated task, and everybody else."""

RENAMED: Mapping[str, str] = {
    "sisyphus": "morpheus",
    "prometheus": "oracle",
    "planner-sisyphus": "oracle",
    "oracle-planner": "oracle",
    "atlas": "architect",
    "orchestrator-sisyphus": "architect",
    "metis": "seraph",
    "plan-consultant": "seraph",
    "momus": "smith",
    "sisyphus-junior": "mouse",
    "librarian": "operator",
    "explore": "trinity",
    "multimodal-looker": "construct",
    "hephaestus": "keymaker",
}
"""Older names of the seed's agents (spec config-and-dispatch 2.4)."""

ROLES: Mapping[str, Role] = {"oracle": "planner", "architect": "orchestrator", "mouse": "worker"}
"""The seed's agents that have a part by their name; any other one works for whoever delegated to it."""

INTERNAL = frozenset({"compaction", "title", "summary"})
"""Agents that the host itself runs inside a session; they say nothing about whose session it is."""

LOOKUP_SECONDS = 3.0
"""How long the host may take for its messages: less than the 5 s that a hook has."""

RETRY_SECONDS = 60.0
"""How long a lookup that found nothing is not repeated."""


@dataclass(slots=True)
class Caller:
    """What is known of a session's agent; ``roles`` are those that the person gave to agents of their own."""

    agent: str = ""
    roles: Mapping[str, Role] = field(default_factory=dict[str, Role])
    not_before: float = field(default=-1e9)
    lock: anyio.Lock = field(default_factory=anyio.Lock)


def canonical(name: str) -> str:
    """The present key of an agent's name: ``"Architect (Plan Execution Orchestrator)"`` and ``"atlas"`` are ``"architect"``."""
    plain = "-".join(re.sub(r"\([^()]{0,100}\)", " ", name[:200]).lower().split())
    return RENAMED.get(plain, plain)


def role_named(name: str, session: Session) -> Role:
    """The role of an agent of this name in this session; what a delegated session does is work, unless its agent plans."""
    key = canonical(name)
    if key in ROLES:
        return ROLES[key]
    for own, role in session.state(Caller).roles.items():
        if canonical(own) == key:
            return role
    return "worker" if session.parent else "other"


def assign(session: Session, agent: str) -> None:
    """From now on this agent runs the session, until a prompt names another one."""
    if agent and canonical(agent) not in INTERNAL:
        session.state(Caller).agent = agent


async def agent_of(session: Session, client: HostClient) -> str:
    """The name of the agent that runs the session, as its host writes it; ``""`` when nobody knows."""
    caller = session.state(Caller)
    if caller.agent or time.monotonic() < caller.not_before:
        return caller.agent
    async with caller.lock:
        if not caller.agent and time.monotonic() >= caller.not_before:
            found = await _found(session, client)
            caller.agent = caller.agent or found  # a prompt may have come in between
            caller.not_before = time.monotonic() + RETRY_SECONDS
    return caller.agent


async def role_of(session: Session, client: HostClient) -> Role:
    """The role of whoever runs the session; ``"other"`` when nobody knows, ``"worker"`` then in a delegated session."""
    return role_named(await agent_of(session, client), session)


async def _found(session: Session, client: HostClient) -> str:
    if agent := await run_sync(_in_mission, session):
        return agent
    if session.agent and canonical(session.agent) not in INTERNAL:
        return session.agent
    try:
        with anyio.fail_after(LOOKUP_SECONDS):
            return newest(await client.messages(session.id))
    except (ClientError, TimeoutError):
        return ""


def _in_mission(session: Session) -> str:
    """The agent of the project's mission, if this session is a part of it."""
    try:
        mission = MissionFile(session.directory).read() if session.directory else None
    except RecordError:
        return ""
    return mission.agent if mission and session.id in mission.session_ids else ""


def newest(messages: Iterable[Message]) -> str:
    """The agent of the newest user message that names one."""
    said = [str(message.info.get("agent") or "") for message in messages if message.role == "user"]
    return next((agent for agent in reversed(said) if agent and canonical(agent) not in INTERNAL), "")
