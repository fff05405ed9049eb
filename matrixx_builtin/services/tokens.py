"""How full a session's context window is, as the host's own messages tell."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matrixx_core import Session, SessionEvent

WINDOW = 200_000
"""Tokens of a context window that nobody has told us (the seeds' figure)."""

WIDE_WINDOW = 1_000_000
WIDE = ("ANTHROPIC_1M_CONTEXT", "VERTEX_ANTHROPIC_1M_CONTEXT")
"""Environment variables that say, with ``true``, that the window is the wide one (the seeds')."""


@dataclass(slots=True)
class Usage:
    """Tokens of a session's last finished model request; 0: none has finished yet."""

    tokens: int = 0


def learn(session: Session, event: SessionEvent) -> None:
    """Take the usage from a ``message.updated`` of a finished assistant message; anything else changes nothing."""
    info = _table(event.properties.get("info"))
    tokens = _table(info.get("tokens"))
    if info.get("role") == "assistant" and _table(info.get("time")).get("completed"):
        cache = _table(tokens.get("cache"))  # hosts do not count cached tokens as input
        used = sum(map(_count, (tokens.get("input"), tokens.get("output"), cache.get("read"), cache.get("write"))))
        if used:
            session.state(Usage).tokens = used


def remaining(session: Session, window: int = 0) -> int | None:
    """Tokens left of the window, or ``None``: not known. ``window`` 0 stands for the usual one.

    A session that uses more than the window has a wider one than we think, so that nothing is known then either.
    """
    used = session.state(Usage).tokens
    left = (window or usual_window()) - used
    return left if used and left >= 0 else None


def usual_window() -> int:
    """The context window that is assumed where nobody says otherwise, in tokens."""
    return WIDE_WINDOW if any(os.environ.get(name) == "true" for name in WIDE) else WINDOW


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12 else 0
