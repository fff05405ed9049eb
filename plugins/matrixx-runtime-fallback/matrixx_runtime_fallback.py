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
from matrixx_builtin.services.agents import INTERNAL, canonical
from matrixx_builtin.services.provider_errors import ELSEWHERE, Kind, parse
from matrixx_core import ChatMessage, ChatParams, HostClient, Session, SessionEvent, observe, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.events import is_added

NAME = "runtime-fallback"
SETTINGS_KEY = "runtime_fallback"
MARK = "[runtime fallback]"

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
    """What a session's models have done.

    ``model`` is asked now, ``own`` was before the first one failed, ``stand_in`` took its place; ``failed`` says when (monotonic
    clock). ``pending`` is a failure that the session's next idleness is to deal with.
    """

    model: str = ""
    own: str = ""
    stand_in: str = ""
    failed: dict[str, float] = field(default_factory=dict[str, float])
    attempts: int = 0
    pending: Kind | None = None


def off_because(config: Config) -> str:
    return "" if config.models or any(config.agents.values()) else "runtime_fallback.models names no model"


@observe
def chat_params(params: ChatParams, session: Session) -> None:
    """Know which model is asked; a title or a summary may be another one's."""
    if params.provider and params.model and params.agent not in INTERNAL:
        session.state(Memory).model = f"{params.provider}/{params.model}"


@observe(types={"session.error", "session.status"}, spec="session_event")
def note(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """Note a failure; an attempt of the host's own is ended, for it takes no prompt meanwhile."""
    memory = session.state(Memory)
    retry = _table(event.properties.get("status"))
    if event.type == "session.error":
        memory.pending = _failure(event.properties.get("error"))
    elif retry.get("type") == "retry" and not session.parent and memory.pending is None and _count(retry.get("attempt")) > config.retries:
        why = _failure(retry.get("message"))
        if why and _next(session, config, memory.model):
            memory.pending = why
            session.beside(NAME, INTERRUPTING, _interrupt, session, client)


@rewrite(types={"session.idle"})
async def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """Offer to go on with the next model, or tell the person that there is none."""
    memory = session.state(Memory)
    why, memory.pending = memory.pending, None
    if why is None or session.parent or wake.closed_gate(session):
        return
    memory.failed[memory.model] = time.monotonic()
    model = _next(session, config, memory.model)
    said = f"{memory.model or 'The model'} {REASONS[why]}."
    if not model:
        await client.toast(f"{said} No other model is left to go on with: this session waits for you.", tone="error")
        return
    memory.attempts += 1
    memory.own, memory.stand_in = memory.own or memory.model, model
    text = f"{MARK} {said} You go on in its place: do what was asked for last, from where it stopped."
    wake.offer(session, wake.Offer(NAME, "fallback", text, f"{model} {memory.attempts}", session.agent, model))
    if config.notify_on_fallback:
        await client.toast(f"{said} {session.agent or 'The agent'} goes on with {model}.", tone="warning")


@rewrite
def chat_message(message: ChatMessage, session: Session, config: Config) -> ChatMessage | None:
    """Spare a model that has just failed, and go back to the session's own after that; the person's prompt counts anew."""
    memory, asked = session.state(Memory), f"{message.provider}/{message.model}"
    added = all(map(is_added, message.parts))
    if session.parent or (added and any(str(part.get("text")).startswith(MARK) for part in message.parts)):
        return None
    if not added:
        memory.attempts, memory.pending = 0, None
    if (model := _instead(asked, session, config)) == asked:
        return None
    provider, _, name = model.partition("/")
    return message.model_copy(update={"provider": provider, "model": name, "variant": ""})


async def _interrupt(session: Session, client: HostClient) -> None:
    try:
        await wake.interrupt(session, client)
    except ClientError as error:
        session.state(Memory).pending = None
        await client.toast(f"The attempts with a failing model could not be ended: {error}", tone="warning")


def _instead(asked: str, session: Session, config: Config) -> str:
    """The model for a prompt that would go to ``asked``: OpenCode keeps to the last one where nobody names another."""
    memory = session.state(Memory)
    if _is_out(asked, memory, config):
        memory.own = memory.own or asked
        memory.stand_in = _next(session, config, asked) or asked
        return memory.stand_in
    if asked == memory.stand_in and _is_out(memory.own, memory, config):
        return asked
    back = memory.own if asked == memory.stand_in else asked
    memory.own = memory.stand_in = ""
    return back


def _next(session: Session, config: Config, failing: str) -> str:
    """The first model of the agent's chain that has not just failed; ``""`` when there is none, or enough was tried."""
    memory = session.state(Memory)
    own = {canonical(name): models for name, models in config.agents.items()}
    chain = own.get(canonical(session.agent), config.models)
    left = [model for model in chain if model != failing and not _is_out(model, memory, config)]
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
