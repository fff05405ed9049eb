"""Where injected text goes, how much of it fits, and why it stays where it was put."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar, cast, get_args

from .answers import Inject, Priority
from .events import Event, Transcript, last_user_message
from .session import Session

E = TypeVar("E", bound=Event)

BUDGET = 4_000
"""Tokens that all notes of one event share unless the settings say otherwise (DESIGN 3)."""

_RANK = {priority: rank for rank, priority in enumerate(get_args(Priority))}


@dataclass(frozen=True, slots=True)
class Note:
    """Text that a plugin adds to an event."""

    plugin: str
    answer: Inject

    @property
    def text(self) -> str:
        return self.answer.text


@dataclass(slots=True)
class BoundNotes:
    """A session's notes by user message and plugin; the first bytes win, so the provider's prompt cache holds."""

    texts: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def place(self, transcript: Transcript, notes: Sequence[Note]) -> Transcript:
        """Bind new notes to the last user message, and add every bound note to its own message again."""
        last = last_user_message(transcript.messages)
        if last is not None and notes:
            bound = self.texts.setdefault(last.id, {})
            for plugin, together in groupby(notes, key=lambda note: note.plugin):
                bound.setdefault(plugin, "\n\n".join(note.text for note in together))
        if not self.texts:
            return transcript
        messages = [message.with_text("\n\n".join(self.texts.get(message.id, {}).values())) for message in transcript.messages]
        return transcript.model_copy(update={"messages": tuple(messages)})


def estimate_tokens(text: str) -> int:
    """A cautious count: three UTF-8 bytes a token (PERF 6: four characters under-count logs and JSON)."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)


def within_budget(notes: Sequence[Note], budget: int) -> list[Note]:
    """The notes that fit into ``budget`` tokens, in their given order; the least important are dropped first."""
    kept: set[int] = set()
    for index in sorted(range(len(notes)), key=lambda index: (_RANK[notes[index].answer.priority], index)):
        cost = estimate_tokens(notes[index].text)
        if cost <= budget:
            budget -= cost
            kept.add(index)
    return [note for index, note in enumerate(notes) if index in kept]


def with_notes(event: E, notes: Sequence[Note], session: Session) -> E:
    """Add the notes to the event, in run order."""
    if isinstance(event, Transcript):
        return cast(E, session.state(BoundNotes).place(event, notes))
    for note in notes:
        event = event.with_text(note.text, note.answer.at)
    return event
