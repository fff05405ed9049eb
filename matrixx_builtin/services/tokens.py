"""How full a session's context window is, as the host's own messages and requests tell."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matrixx_core import ChatParams, Session, SessionEvent

WINDOW = 200_000
"""Tokens of a context window that nobody has told us (the seeds' figure)."""

WIDE_WINDOW = 1_000_000
WIDE = ("ANTHROPIC_1M_CONTEXT", "VERTEX_ANTHROPIC_1M_CONTEXT")
"""Environment variables that say, with ``true``, that the window is the wide one (the seeds')."""


@dataclass(slots=True)
class Usage:
    """Tokens of a session's last finished model request, and of its model's window; 0: not known yet."""

    tokens: int = 0
    window: int = 0


def learn(session: Session, event: SessionEvent) -> None:
    """Take the usage from a ``message.updated`` of a finished assistant message; anything else changes nothing."""
    info = _table(event.properties.get("info"))
    tokens = _table(info.get("tokens"))
    if info.get("role") == "assistant" and _table(info.get("time")).get("completed"):
        cache = _table(tokens.get("cache"))  # hosts do not count cached tokens as input
        used = sum(map(_count, (tokens.get("input"), tokens.get("output"), cache.get("read"), cache.get("write"))))
        if used:
            session.state(Usage).tokens = used


def learn_window(session: Session, params: ChatParams) -> None:
    """Take the size of the model's window from a request, where the host tells it."""
    if params.context_tokens:
        session.state(Usage).window = params.context_tokens


def window_of(session: Session, window: int = 0) -> int:
    """The window in tokens: as the person's settings say (``window``), else as the host does, else the usual one."""
    return window or session.state(Usage).window or usual_window()


def remaining(session: Session, window: int = 0) -> int | None:
    """Tokens left of the window (``window_of``), or ``None``: not known.

    A session that uses more than the window has a wider one than we think, so that nothing is known then either.
    """
    used = session.state(Usage).tokens
    left = window_of(session, window) - used
    return left if used and left >= 0 else None


def usual_window() -> int:
    """The context window that is assumed where nobody says otherwise, in tokens."""
    return WIDE_WINDOW if any(os.environ.get(name) == "true" for name in WIDE) else WINDOW


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12 else 0
