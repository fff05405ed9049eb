"""Remind an orchestrating agent, behind each of its prompts, how work is split and brought together.

The reminder is the same for every prompt and nothing is remembered for it: an earlier request's bytes stand unchanged in
each later one, also after a restart, so that the provider's prompt cache holds.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import Message, Session, Transcript, rewrite
from matrixx_core.events import Part, added_part, is_added, last_user_message

MARK = "matrixx.phaseReminder"
"""Metadata key of the reminder's part: only what carries it counts as one, never a text that reads the same."""

TEXT = """\
<system-reminder>
Choose the lightest way of working that does the job. Small work: do it yourself, then verify it. Otherwise: plan the lanes of work and what \
depends on what -> send each lane to a specialist in the background -> note their ids -> wait until you are told that they are done, do not poll -> reconcile \
their results -> verify the whole.
</system-reminder>"""


class Config(BaseModel):
    """Settings of ``phase-reminder``."""

    model_config = ConfigDict(frozen=True)

    agents: tuple[str, ...] = Field(default=("orchestrator",), description="The agents that are reminded, by their exact names.")


@rewrite
def messages_transform(transcript: Transcript, session: Session, config: Config) -> Transcript | None:
    """Put the reminder behind every prompt of the agent that has the word now."""
    last = last_user_message(transcript.messages)
    if last is None or not transcript.session_id or session.parent or not _is_for(last, config):
        return None
    reminded = tuple(_reminded(message) if _is_for(message, config) else message for message in transcript.messages)
    return None if reminded == transcript.messages else transcript.model_copy(update={"messages": reminded})


def _is_for(message: Message, config: Config) -> bool:
    return message.role == "user" and message.info.get("agent") in config.agents


def _reminded(message: Message) -> Message:
    """The message with the reminder at its end; one without text, one that nobody typed, and one that has it stay as they are."""
    texts = [part for part in message.parts if part.get("type") == "text"]
    if not texts or _is_internal(texts[0]) or any(_metadata(part).get(MARK) is True and is_added(part) for part in texts):
        return message
    part = added_part(TEXT)
    return message.model_copy(update={"parts": (*message.parts, {**part, "metadata": {**part["metadata"], MARK: True}})})


def _is_internal(part: Part) -> bool:
    """Whether we, or the host after a compaction, wrote the prompt."""
    return is_added(part) or (part.get("synthetic") is True and _metadata(part).get("compaction_continue") is True)


def _metadata(part: Part) -> Mapping[str, Any]:
    found = part.get("metadata")
    return found if isinstance(found, Mapping) else {}
