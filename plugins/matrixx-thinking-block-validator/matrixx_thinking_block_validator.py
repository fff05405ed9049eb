"""Take out or move thinking blocks that the provider would refuse.

Anthropic refuses an answer that ends with thinking (one that was cut off there), and one that holds thinking but does not
begin with it. Thinking is never made up, copied or changed: it carries the provider's signature. It is off unless switched
on, since most transcripts are in order and hosts leave out another model's thinking themselves.
"""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import Transcript, rewrite
from matrixx_core.events import Message, Part, last_user_message

THINKING = frozenset({"reasoning", "thinking", "redacted_thinking"})
SAID = frozenset({"tool", "tool_use", "file"})
"""Kinds of part that count as something said, like text that is not blank."""


class Config(BaseModel):
    """For whom thinking blocks are put in order."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(default=False, description="Whether thinking blocks are put in order.")
    models: tuple[str, ...] = Field(default=("claude",), description="Models that demand it: parts of `provider/model`, in any case.")


def off_because(config: Config) -> str:
    """Why thinking blocks are left as they are, or ``""``."""
    return "" if config.enabled else "hooks.thinking-block-validator.enabled is false"


@rewrite
def messages_transform(transcript: Transcript, config: Config) -> Transcript | None:
    name = model_of(transcript.messages)
    if not any(one.casefold() in name for one in config.models):
        return None
    messages = tuple(map(in_order, transcript.messages))
    same = all(new is old for new, old in zip(messages, transcript.messages, strict=True))
    return None if same else transcript.model_copy(update={"messages": messages})


def model_of(messages: Sequence[Message]) -> str:
    """``provider/model`` that the person's last message was for, in lower case."""
    last = last_user_message(messages)
    model = last.info.get("model") if last else None
    if not isinstance(model, Mapping):
        return ""
    return f"{model.get('providerID', '')}/{model.get('modelID', model.get('id', ''))}".casefold()


def in_order(message: Message) -> Message:
    """The message with each of its steps in order; itself where they are."""
    if message.role != "assistant" or not any(_thinks(part) for part in message.parts):
        return message
    steps: list[list[Part]] = [[]]
    for part in message.parts:
        if part.get("type") == "step-start":
            steps.append([])
        steps[-1].append(part)
    parts = [part for step in steps for part in _step_in_order(step)]
    same = len(parts) == len(message.parts) and all(new is old for new, old in zip(parts, message.parts, strict=True))
    return message if same else message.model_copy(update={"parts": tuple(parts)})


def _step_in_order(step: list[Part]) -> list[Part]:
    """One answer of the model: no thinking after its last word, and its first thinking before its first word."""
    said = [place for place, part in enumerate(step) if _says(part)]
    kept = [part for place, part in enumerate(step) if not _thinks(part) or (said and place < said[-1])]
    first_word = next((place for place, part in enumerate(kept) if _says(part)), None)
    first_thought = next((place for place, part in enumerate(kept) if _thinks(part)), None)
    if first_word is not None and first_thought is not None and first_thought > first_word:
        kept.insert(first_word, kept.pop(first_thought))
    return kept


def _thinks(part: Part) -> bool:
    return part.get("type") in THINKING if isinstance(part.get("type"), str) else False


def _says(part: Part) -> bool:
    kind, text = part.get("type"), part.get("text")
    return isinstance(kind, str) and (kind in SAID or (kind == "text" and isinstance(text, str) and bool(text.strip())))
