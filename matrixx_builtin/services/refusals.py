"""Answers of the model that failed: why, and whether a hook has asked to go on after that before.

The conversation alone tells both, so an engine that was restarted knows them too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from matrixx_core.events import Message, Part, by_person, is_added

from .provider_errors import ProviderError, parse


@dataclass(slots=True)
class Failures:
    """What the errors of a session's messages were found to be; each is understood once."""

    known: dict[str, ProviderError] = field(default_factory=dict[str, ProviderError])

    def of(self, message: Message) -> ProviderError | None:
        """Why an answer of the model failed; ``None`` for one that did not, and for other messages."""
        error = message.info.get("error") if message.role == "assistant" else None
        if error is None:
            return None
        if (found := self.known.get(message.id)) is None:
            found = self.known[message.id] = parse(error)
        return found


def asked_in_vain(before: Sequence[Message], head: str) -> bool:
    """Whether a prompt of ours that begins with ``head`` was sent since the person last wrote or the model last answered."""
    for message in reversed(before):
        if any(is_added(part) and str(part.get("text", "")).startswith(head) for part in message.parts):
            return True
        if message.role == "user" and by_person(message.parts):
            return False
        if (
            message.role == "assistant"
            and not (message.info.get("error") or message.info.get("summary"))
            and any(map(_says, message.parts))
        ):
            return False
    return False


def _says(part: Part) -> bool:
    text = part.get("text")
    return part.get("type") == "tool" or (part.get("type") == "text" and isinstance(text, str) and bool(text.strip()))
