"""Summarise a conversation before its context window is full; off until asked for.

Hosts do so at the very limit, or after a request has failed. This looks at the true count of each answer, and works beside the
session: no tool call waits for it. In the middle of its work the agent goes on with the summary; at its end the session waits for
its person as ever.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import tokens
from matrixx_builtin.services.wake import Wake
from matrixx_core import ChatMessage, ChatParams, HostClient, Session, SessionEvent, observe
from matrixx_core.errors import ClientError
from matrixx_core.events import by_person

NAME = "preemptive-compaction"
SETTINGS_KEY = "experimental"

DEADLINE = 120.0
"""Seconds that asking the host may take in all; it has deadlines of its own."""


class Config(BaseModel):
    """Settings of ``preemptive-compaction``; the numbers are those of spec tool-hooks 2.2."""

    model_config = ConfigDict(frozen=True)

    preemptive_compaction: bool = Field(default=False, description="Summarise early.")
    preemptive_threshold: float = Field(default=0.78, ge=0.1, le=1, description="Part of the context window that must be used.")
    preemptive_cooldown_ms: int = Field(default=60_000, ge=0, description="Time between two attempts, in ms.")
    preemptive_model: str = Field(default="", description="`provider/model` that summarises; left out: the session's own.")
    context_tokens: int = Field(default=0, ge=0, description="The model's context window in tokens; 0: as the host says, else 200,000.")


@dataclass(slots=True)
class Memory:
    """When the last attempt began, and what became of it; none, once the window was less full or the person has written."""

    began: float = float("-inf")
    attempt: Literal["none", "made", "summarised", "in vain"] = "none"


def off_because(config: Config) -> str:
    return "" if config.preemptive_compaction else "experimental.preemptive_compaction is false"


@observe
def chat_params(params: ChatParams, session: Session) -> None:
    tokens.learn_window(session, params)


@observe
def chat_message(message: ChatMessage, session: Session) -> None:
    """The person has a right to another attempt."""
    if by_person(message.parts):
        session.state(Memory).attempt = "none"


@observe(types={"session.compacted"}, spec="session_event")
def note_summary(session: Session) -> None:
    session.state(tokens.Usage).tokens = 0
    if session.state(Memory).attempt == "made":
        session.state(Memory).attempt = "summarised"


@observe(types={"message.updated"})
async def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """Look at each finished answer; one attempt, until the window was less full or the person has written (C29)."""
    info, memory = event.properties.get("info"), session.state(Memory)
    if not isinstance(info, Mapping) or not _is_answer(info):
        return
    tokens.learn(session, event)
    used, window = session.state(tokens.Usage).tokens, tokens.window_of(session, config.context_tokens)
    if not used:
        return
    count = f"{used:,} of {window:,} tokens are used"
    if used < window * config.preemptive_threshold:
        memory.attempt = "none"
    elif memory.attempt == "summarised":
        memory.attempt = "in vain"
        await client.toast(f"{count}, although the conversation was summarised: it is not tried again before you write.", tone="warning")
    elif _may_try(info, session, config):
        memory.attempt, memory.began = "made", time.monotonic()
        model = config.preemptive_model or f"{info.get('providerID') or ''}/{info.get('modelID') or ''}"
        session.beside(NAME, DEADLINE, compact, session, client, (model, count, info.get("finish") == "tool-calls"))


async def compact(session: Session, client: HostClient, asked: tuple[str, str, bool]) -> None:
    """Have it summarised by a model; ``asked`` holds that, the count in words, and whether the agent is to go on."""
    (provider, _, model), count, go_on = asked[0].partition("/"), *asked[1:]
    try:
        await client.summarize(session.id, provider, model, go_on=go_on)
    except ClientError as error:
        if session.state(tokens.Usage).tokens:  # else it was, and the host answers when the agent has gone on to its end
            await client.toast(f"{count}, and the conversation could not be summarised: {error}", tone="warning")


def _is_answer(info: Mapping[str, Any]) -> bool:
    at = info.get("time")
    finished = isinstance(at, Mapping) and bool(at.get("completed"))
    return finished and info.get("role") == "assistant" and not info.get("error") and not info.get("summary")


def _may_try(info: Mapping[str, Any], session: Session, config: Config) -> bool:
    memory = session.state(Memory)
    rested = time.monotonic() - memory.began >= config.preemptive_cooldown_ms / 1_000
    has_ended = session.parent and info.get("finish") != "tool-calls"  # a sub-agent's answer is its parent's now
    return memory.attempt == "none" and rested and not has_ended and not session.state(Wake).stopped
