"""What a session knows of the files it has read, to notice changes that anchors do not prove.

An anchor has 256 values and equal lines have equal ones, so it may fit a line that is not the one meant: when lines have moved,
and inside of a range, of which only the ends are anchored.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matrixx_builtin.services.lines import fits, tagged

from .anchors import Change
from .text import Document, parse

MOST = 16_000_000
"""Characters of files that one session remembers; the least recently used are forgotten."""

CONTEXT = 2
MOST_SHOWN = 200
"""Lines that an error shows."""


@dataclass(frozen=True, slots=True)
class Known:
    """A file as it was when the session last read it, which anchors may be of, and as it last knew it, its own edits included."""

    read: str
    now: str


@dataclass(slots=True)
class Memory:
    """The files that a session knows, by real path."""

    files: OrderedDict[Path, Known] = field(default_factory=OrderedDict[Path, Known])

    def learn(self, path: Path, text: str | None) -> None:
        """The session sees the file as it is; ``None`` forgets it."""
        self._put(path, None if text is None else Known(text, text))

    def changed(self, path: Path, before: str, after: str) -> None:
        """The session has edited the file itself: it knows the new text, but may still use anchors of the old."""
        there = self.files.get(path)
        self._put(path, Known(there.read if there else before, after))

    def moved(self, source: Path, target: Path) -> None:
        self._put(target, self.files.pop(source, None))

    def _put(self, path: Path, known: Known | None) -> None:
        self.files.pop(path, None)
        if known:
            self.files[path] = known
        while sum(len(one.read) + len(one.now) for one in self.files.values()) > MOST:
            self.files.popitem(last=False)


def unproved(known: Known, document: Document, changes: Iterable[Change]) -> list[tuple[int, int]]:
    """The lines, from start up to stop counted from 0, of which the anchors do not prove that they are the ones meant."""
    read, now = parse(known.read).lines, parse(known.now).lines
    found: list[tuple[int, int]] = []
    for change in changes:
        numbers = [one.line for one in change.anchors]
        if not numbers:
            continue
        start, stop = min(numbers) - 1, max(numbers)
        renumbered = any(
            differ(read, document.lines, one.line - 1, one.line) and one.line <= len(read) and fits(one, read[one.line - 1])
            for one in change.anchors
        )
        if renumbered or differ(now, document.lines, start, stop):
            found.append((start, stop))
    return found


def differ(old: Sequence[str], new: Sequence[str], start: int, stop: int) -> bool:
    """Whether these lines of the new text may be others than those of the old; where lines were added or lost, all behind may."""
    if len(old) == len(new):
        return old[start:stop] != new[start:stop]
    return stop > _first_difference(old, new)


def changed_lines(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """The first and last line, from 1, of the part of the new text that is not as in the old; a part that is gone is two lines around it."""
    first = _first_difference(old, new)
    same = _first_difference(old[first:][::-1], new[first:][::-1])
    last = len(new) - same
    return (first + 1, last) if last > first else (max(first, 1), min(first + 1, max(len(new), 1)))


def shown(spans: Sequence[tuple[int, int]], lines: Sequence[str]) -> str:
    """The lines with fresh anchors, ``>>>`` before those of the spans; of many lines the first."""
    marked = {number for start, stop in spans for number in range(start + 1, stop + 1)}
    near = {number for start, stop in spans for number in range(max(start + 1 - CONTEXT, 1), min(stop + CONTEXT, len(lines)) + 1)}
    rows = [f"{'>>>' if number in marked else '   '} {tagged(number, lines[number - 1])}" for number in sorted(near)]
    return "\n".join(rows[:MOST_SHOWN] + [f"... and {len(rows) - MOST_SHOWN} more lines: read them."] * (len(rows) > MOST_SHOWN))


def _first_difference(old: Sequence[str], new: Sequence[str]) -> int:
    return next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
