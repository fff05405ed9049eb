"""Go on after a provider has refused the conversation itself, and without what it refused.

Such a session is refused at every further turn. After a refusal for its thinking, the thinking up to there is left out of all
further requests; nothing stored is changed, and no thinking or signature is made up. Calls and results are kept together by
``tool-pair-validator``. Then the agent is asked once to go on; if that is refused for the same reason, the session waits for its
person. All this is read from the conversation, so an engine that was restarted knows it too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import is_

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import wake
from matrixx_builtin.services.provider_errors import Kind, ProviderError, parse
from matrixx_builtin.services.refusals import Failures, asked_in_vain
from matrixx_core import HostClient, Session, SessionEvent, Transcript, observe, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.events import Message, Part

NAME = "session-recovery"
SETTINGS_KEY = "experimental"

REFUSED: Mapping[Kind, str] = {
    "thinking": "its thinking blocks are not in the order, or not signed, as the provider wants them",
    "thinking_disabled": "it holds thinking blocks although thinking is switched off",
    "tool_pair": "tool calls and their results do not belong together",
    "prefill": "it ends with an answer of the model",
}
"""Why a provider refuses a conversation that can be put in order, in words (spec session-hooks D4)."""

THINKING = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Kinds of part that are left out."""

MISSING = re.compile(r"reasoning_content|thought_?signature|'reasoning'", re.IGNORECASE)
"""In errors about thinking that the provider misses and nobody can give back (DeepSeek, Gemini, OpenAI's items)."""

UNFINISHED = frozenset({"pending", "running"})
"""States of a call that has no result."""

MOST, LONGEST = 10, 40
"""Unfinished calls that the prompt names, and characters of each name."""


class Config(BaseModel):
    """Settings of ``session-recovery``."""

    model_config = ConfigDict(frozen=True)

    auto_resume: bool = Field(default=True, description="Ask the agent to go on; if false, the repair waits for the person's next message.")


@dataclass(slots=True)
class Memory:
    """Whether there was a refusal that the session's next idleness is to deal with."""

    refused: bool = False


@observe(types={"session.error"}, spec="session_event")
def note(event: SessionEvent, session: Session) -> None:
    """Note a refusal; any other error, the person's abort too, ends what was noted."""
    session.state(Memory).refused = parse(event.properties.get("error")).kind in REFUSED


@rewrite(types={"session.idle"})
async def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """Offer to go on, or tell the person why not."""
    memory = session.state(Memory)
    refused, memory.refused = memory.refused, False
    if not refused or session.parent or wake.closed_gate(session):
        return
    try:
        messages = await client.messages(session.id)
    except ClientError:
        return
    place = next((place for place in reversed(range(len(messages))) if messages[place].role == "assistant"), 0)
    error = session.state(Failures).of(messages[place]) if messages else None
    if error is None or error.kind not in REFUSED:
        return
    why = f"The provider refused this conversation: {REFUSED[error.kind]}."
    if not _repairable(error):
        await client.toast(f"{why} It cannot be repaired from here: write again, or begin a new session.", tone="warning")
    elif asked_in_vain(messages[:place], _head(error.kind)):
        wake.stop(session)
        await client.toast(f"{why} Repairing it has not helped: undo the last messages, or begin a new session.", tone="error")
    elif config.auto_resume:
        wake.offer(session, wake.Offer(NAME, "recovery", _prompt(error.kind, messages), error.kind, session.agent))
        await client.toast(f"{why} It is repaired, and the agent goes on.")
    else:
        await client.toast(f"{why} It is repaired for your next message.")


@rewrite
def messages_transform(transcript: Transcript, session: Session) -> Transcript | None:
    """Leave out the thinking up to the last message that was refused for it: the same bytes in every further request."""
    failures, messages = session.state(Failures), transcript.messages
    errors = ((place, failures.of(messages[place])) for place in reversed(range(len(messages))))
    refused = next((place for place, error in errors if error and error.kind != "tool_pair" and _repairable(error)), -1)
    repaired = tuple(_without_thinking(message) if place <= refused else message for place, message in enumerate(messages))
    same = all(map(is_, repaired, messages))
    return None if same else transcript.model_copy(update={"messages": repaired})


def _repairable(error: ProviderError) -> bool:
    return error.kind == "tool_pair" or (error.kind in {"thinking", "thinking_disabled"} and not MISSING.search(error.message))


def _without_thinking(message: Message) -> Message:
    kept = tuple(part for part in message.parts if not (isinstance(kind := part.get("type"), str) and kind in THINKING))
    return message if message.role != "assistant" or len(kept) == len(message.parts) else message.model_copy(update={"parts": kept})


def _prompt(kind: Kind, messages: Sequence[Message]) -> str:
    repaired = "Thinking from before is left out from now on; nothing else has changed."
    return f"{_head(kind)} {_unfinished(messages) if kind == 'tool_pair' else repaired} Go on with the task where it stopped."


def _head(kind: Kind) -> str:
    return f"[session recovery] The provider refused the conversation: {REFUSED[kind]}."


def _unfinished(messages: Sequence[Message]) -> str:
    """How many calls did not finish, and of which tools."""
    names = [str(part.get("tool"))[:LONGEST] for message in messages for part in message.parts if _is_unfinished(part)]
    if not names:
        return "Some call may have had no result: look at what is done before you repeat it."
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return f"Tool calls that did not finish: {len(names)} ({', '.join(names[:MOST])}{more}); look at what they have done before you repeat them."


def _is_unfinished(part: Part) -> bool:
    state = part.get("state")
    return part.get("type") == "tool" and isinstance(state, Mapping) and str(state.get("status")) in UNFINISHED
