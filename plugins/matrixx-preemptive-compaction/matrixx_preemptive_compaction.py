"""Summarise a conversation before its context window is full; off until asked for.

Hosts do so at the very limit, or after a request has failed. This looks at the true count of each answer, and works beside the
session: no tool call waits for it. In the middle of its work the agent goes on with the summary; at its end the session waits for
its person as ever.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import tokens
from matrixx_builtin.services.wake import Wake
from matrixx_core import ChatMessage, ChatParams, HostClient, Session, SessionEvent, observe
from matrixx_core.errors import ClientError
from matrixx_core.events import is_added

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
    """When the last attempt began, and whether the window has not been less full since."""

    began: float = float("-inf")
    tried: bool = False


def off_because(config: Config) -> str:
    return "" if config.preemptive_compaction else "experimental.preemptive_compaction is false"


@observe
def chat_params(params: ChatParams, session: Session) -> None:
    tokens.learn_window(session, params)


@observe
def chat_message(message: ChatMessage, session: Session) -> None:
    """The person has a right to another attempt."""
    if not all(map(is_added, message.parts)):
        session.state(Memory).tried = False


@observe(types={"session.compacted"}, spec="session_event")
def start_again(session: Session) -> None:
    session.state(tokens.Usage).tokens = 0


@observe(types={"message.updated"})
def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """Look at each finished answer; one attempt, until the window was less full or the person has written."""
    info, memory, now = event.properties.get("info"), session.state(Memory), time.monotonic()
    if not config.preemptive_compaction or not isinstance(info, Mapping) or info.get("summary"):
        return
    tokens.learn(session, event)
    used, window = session.state(tokens.Usage).tokens, tokens.window_of(session, config.context_tokens)
    if not used or not _is_finished(info):
        return
    if used < window * config.preemptive_threshold:
        memory.tried = False
    elif not memory.tried and now - memory.began >= config.preemptive_cooldown_ms / 1_000 and not session.state(Wake).stopped:
        memory.tried, memory.began = True, now
        model = config.preemptive_model or f"{info.get('providerID') or ''}/{info.get('modelID') or ''}"
        session.beside(NAME, DEADLINE, compact, session, client, (model, f"{used:,} of {window:,}", info.get("finish") == "tool-calls"))


async def compact(session: Session, client: HostClient, asked: tuple[str, str, bool]) -> None:
    """Have it summarised by a model; ``asked`` holds that, the count in words, and whether the agent is to go on."""
    (provider, _, model), count, go_on = asked[0].partition("/"), *asked[1:]
    try:
        await client.summarize(session.id, provider, model, go_on=go_on)
    except ClientError as error:
        if session.state(tokens.Usage).tokens:  # else it was, and the host answers when the agent has gone on to its end
            await client.toast(f"{count} tokens are used, and the conversation could not be summarised: {error}", tone="warning")


def _is_finished(info: Mapping[str, Any]) -> bool:
    at = info.get("time")
    return info.get("role") == "assistant" and isinstance(at, Mapping) and bool(at.get("completed")) and not info.get("error")
