"""Where each edit goes: every anchor is understood and checked before any edit is made."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from matrixx_builtin.services.lines import Anchor, AnchorError, anchor, check, fits, resolve

from .arguments import Edit, Op
from .text import BOM, Document

UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""No text file holds them: a NUL, and half a surrogate pair, which UTF-8 cannot express."""


@dataclass(frozen=True, slots=True)
class Change:
    """One edit, the ``number``-th from 1, at its place: the lines from ``start`` up to ``stop``, counted from 0, become ``lines``."""

    number: int
    op: Op
    anchors: tuple[Anchor, ...]
    start: int
    stop: int
    lines: tuple[str, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """The same for edits that do the same."""
        return self.op, bool(self.anchors), self.start, self.stop, self.lines


def placed(edits: Sequence[Edit], document: Document) -> list[Change]:
    """The edits at their places, their anchors understood but not checked; raises ``AnchorError`` that names the edit."""
    changes: list[Change] = []
    for number, edit in enumerate(edits, 1):
        try:
            changes.append(_placed(number, edit, document))
        except AnchorError as error:
            raise AnchorError(f"edit {number} ({edit.op}): {error}") from None
    return changes


def checked(changes: Sequence[Change], document: Document) -> Sequence[Change]:
    """The changes, if every anchor still fits; the error shows the lines that have changed."""
    check([one for change in changes for one in change.anchors], document.lines)
    return changes


def payload(given: str | list[str] | None) -> tuple[str, ...]:
    """The lines of an edit; the line feed at a text's end ends its last line and begins no other."""
    texts = [given.removesuffix("\n")] if isinstance(given, str) else given or []
    if any(UNWRITABLE.search(text) for text in texts):
        raise AnchorError("lines hold a NUL or half a surrogate pair, which no text file can hold")
    return tuple(line.removesuffix("\r") for text in texts for line in text.split("\n"))


def _placed(number: int, edit: Edit, document: Document) -> Change:
    lines = payload(edit.lines)
    pos, end = (_understood(given, document) if given and given.strip() else None for given in (edit.pos, edit.end))
    first, last = pos or end, end or pos
    if edit.op == "replace":
        if first is None or last is None:
            raise AnchorError("it needs pos, the anchor of the first line to replace")
        if first.line > last.line:
            raise AnchorError(f"pos {first} comes after end {last}; pos is the first line and end the last")
        return Change(number, edit.op, (first, last), first.line - 1, last.line, lines)
    if first and not lines:
        raise AnchorError("it has no lines to insert; replace with lines null deletes lines")
    behind = edit.op == "append"
    at = first.line - (not behind) if first else len(document.lines) * behind
    return Change(number, edit.op, tuple(one for one in (pos, end) if one), at, at, lines)


def _understood(given: str, document: Document) -> Anchor:
    """The anchor; one of a first line that was shown with its byte order mark is that line's."""
    found = resolve(given, document.lines)
    if found.line == 1 and document.bom and document.lines and fits(found, BOM + document.lines[0]):
        return anchor(1, document.lines[0])
    return found
