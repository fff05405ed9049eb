"""Which texts a session's context already holds, so that no two hooks add the same one.

A text counts by its content, not by the file that it came from. A summary takes it out of the context, so a hook that observes
``session.compacted`` calls ``forget``; a deleted session takes its ledger along.
"""

import hashlib
from dataclasses import dataclass, field

from matrixx_core import Session

MOST = 2_000
"""Texts remembered for a session; of more, the oldest is added once again."""


@dataclass(slots=True)
class Ledger:
    """The hashes of what is held, oldest first."""

    held: dict[bytes, None] = field(default_factory=dict[bytes, None])


def holds(session: Session, text: str) -> bool:
    """Whether the context has this text; blanks at line ends and around it do not matter."""
    return _hash(text) in session.state(Ledger).held


def hold(session: Session, text: str) -> None:
    """Note that the context has this text from now on."""
    held = session.state(Ledger).held
    held[_hash(text)] = None
    if len(held) > MOST:
        held.pop(next(iter(held)))


def forget(session: Session) -> None:
    """Note that the context begins anew and holds nothing."""
    session.state(Ledger).held.clear()


def plain(text: str) -> str:
    """The text as it is compared: line feeds only, no blanks at line ends or around it, no byte order mark."""
    return "\n".join(line.rstrip() for line in text.removeprefix("\ufeff").splitlines()).strip()


def _hash(text: str) -> bytes:
    return hashlib.sha256(plain(text).encode("utf-8", "surrogatepass")).digest()
