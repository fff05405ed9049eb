"""Text that waits for a session's next prompt; the essential ``context-injector`` delivers it."""

from dataclasses import dataclass, field
from typing import get_args

from matrixx_core import Session
from matrixx_core.answers import Priority


@dataclass(slots=True)
class Context:
    """What waits, by source and key: the same key replaces, two sources never touch each other's."""

    waiting: dict[tuple[str, str], tuple[Priority, str]] = field(default_factory=dict[tuple[str, str], tuple[Priority, str]])

    def take(self) -> str:
        """All of it, most important first, and nothing waits any more."""
        ranks = get_args(Priority)
        texts = [text for _, text in sorted(self.waiting.values(), key=lambda one: ranks.index(one[0]))]
        self.waiting.clear()
        return "\n\n".join(texts)


def add(session: Session, text: str, *, source: str, key: str = "", priority: Priority = "normal") -> None:
    """Let the model read ``text`` with the session's next prompt."""
    session.state(Context).waiting[source, key] = (priority, text)
