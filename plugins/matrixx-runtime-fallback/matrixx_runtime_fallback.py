"""Go on with another model when a provider fails; off until models are named.

After a failure that another provider may not have, the agent is asked to go on by the next model of its chain. The person's prompt, and
what was done since, is in the conversation already, so nothing is sent twice and no file is lost. Where the host tries the same model
again by itself, that is ended first. A model that has failed is left alone for a while, also by the person's next prompts; then the
session's own model is back. Sub-agents are left to their parents.
"""

import time
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import wake
from matrixx_builtin.services.agents import canonical
from matrixx_builtin.services.provider_errors import ELSEWHERE, Kind, parse
from matrixx_core import ChatMessage, ChatParams, HostClient, Session, SessionEvent, observe, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.events import is_added

NAME = "runtime-fallback"
SETTINGS_KEY = "runtime_fallback"

INTERRUPTING = 15.0
"""Seconds that ending the host's own attempts may take."""

REASONS: dict[Kind, str] = {
    "rate_limit": "is over its rate limit",
    "quota": "is over its quota",
    "overloaded": "fails",
    "auth": "refuses the key",
    "model": "is not offered",
    "network": "cannot be reached",
}

Model = Annotated[str, Field(pattern=r"^[^/\s]+/\S+$")]


class Config(BaseModel):
    """Settings of ``runtime-fallback``; names and numbers are those of the seed."""

    model_config = ConfigDict(frozen=True)

    models: list[Model] = Field(default=[], description="Models to go on with, as `provider/model`, the best first.")
    agents: dict[str, list[Model]] = Field(default={}, description="The same for single agents, in place of `models`.")
    max_fallback_attempts: int = Field(default=3, ge=0, le=20, description="Other models that one prompt of the person may take.")
    cooldown_seconds: int = Field(default=60, ge=0, description="Seconds for which a model that has failed is left alone.")
    retries: int = Field(default=0, ge=0, description="How often the host may try the same model again by itself before that.")
    notify_on_fallback: bool = Field(default=True, description="Tell the person.")


@dataclass(slots=True)
class Memory:
    """The session's model now, when others failed (monotonic clock), and a failure that its next idleness is to deal with."""

    model: str = ""
    failed: dict[str, float] = field(default_factory=dict[str, float])
    attempts: int = 0
    pending: Kind | None = None


def off_because(config: Config) -> str:
    return "" if config.models or any(config.agents.values()) else "runtime_fallback.models names no model"


@observe
def chat_params(params: ChatParams, session: Session) -> None:
    """Know which model is asked."""
    if params.provider and params.model:
        session.state(Memory).model = f"{params.provider}/{params.model}"


@observe(types={"session.error", "session.status"}, spec="session_event")
def note(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """Note a failure; an attempt of the host's own is ended, for it takes no prompt meanwhile."""
    memory = session.state(Memory)
    retry = _table(event.properties.get("status"))
    if event.type == "session.error":
        memory.pending = _failure(event.properties.get("error"))
    elif retry.get("type") == "retry" and not session.parent and memory.pending is None and _count(retry.get("attempt")) > config.retries:
        memory.pending = _failure(retry.get("message"))
        if memory.pending and _next(session, config):
            session.beside(NAME, INTERRUPTING, _interrupt, session, client)


@rewrite(types={"session.idle"})
async def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """Offer to go on with the next model, or tell the person that there is none."""
    memory = session.state(Memory)
    why, memory.pending = memory.pending, None
    if why is None or session.parent or wake.closed_gate(session):
        return
    memory.failed[memory.model] = time.monotonic()
    model = _next(session, config)
    said = f"{memory.model or 'The model'} {REASONS[why]}."
    if not model:
        await client.toast(f"{said} No other model is left to go on with: this session waits for you.", tone="error")
        return
    memory.attempts += 1
    text = f"[runtime fallback] {said} You go on in its place: do what was asked for last, from where it stopped."
    wake.offer(session, wake.Offer(NAME, "fallback", text, f"{model} {memory.attempts}", session.agent, model))
    if config.notify_on_fallback:
        await client.toast(f"{said} {session.agent or 'The agent'} goes on with {model}.", tone="warning")


@rewrite
def chat_message(message: ChatMessage, session: Session, config: Config) -> ChatMessage | None:
    """A prompt of the person counts anew, and spares a model that has just failed."""
    memory, asked = session.state(Memory), f"{message.provider}/{message.model}"
    if all(map(is_added, message.parts)):
        return None
    memory.attempts, memory.pending = 0, None
    if session.parent or not _is_out(asked, memory, config) or not (model := _next(session, config)):
        return None
    provider, _, name = model.partition("/")
    return message.model_copy(update={"provider": provider, "model": name, "variant": ""})


async def _interrupt(session: Session, client: HostClient) -> None:
    try:
        await wake.interrupt(session, client)
    except ClientError as error:
        session.state(Memory).pending = None
        await client.toast(f"The attempts with a failing model could not be ended: {error}", tone="warning")


def _next(session: Session, config: Config) -> str:
    """The first model of the agent's chain that has not just failed; ``""`` when there is none, or enough was tried."""
    memory = session.state(Memory)
    own = {canonical(name): models for name, models in config.agents.items()}
    chain = own.get(canonical(session.agent), config.models)
    left = [model for model in chain if model != memory.model and not _is_out(model, memory, config)]
    return left[0] if left and memory.attempts < config.max_fallback_attempts else ""


def _is_out(model: str, memory: Memory, config: Config) -> bool:
    return time.monotonic() - memory.failed.get(model, float("-inf")) < config.cooldown_seconds


def _failure(error: Any) -> Kind | None:
    """Why a provider failed, if another one may not."""
    kind = parse(error).kind
    return kind if kind in ELSEWHERE else None


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 1
