"""All edits of one file together: in order, without duplicates and overlaps, and without those that change nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from matrixx_builtin.services.lines import AnchorError

from .anchors import Change, checked, placed
from .arguments import Edit
from .repair import repaired
from .text import Document, Splice


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done to a text, and what was done to the edits before; ``changes`` are those that have a place of their own."""

    changes: tuple[Change, ...]
    splices: tuple[Splice, ...]
    notes: tuple[str, ...]
    noops: int
    duplicates: int


def planned(edits: Sequence[Edit], document: Document) -> Plan:
    """What the edits do; raises ``AnchorError`` for what cannot be done, and then nothing may be done."""
    found = checked(placed(edits, document), document)
    once = list({change.key: change for change in reversed(found)}.values())[::-1]
    better = [repaired(change, document.lines) for change in once]
    ordered = sorted((change for change, _ in better), key=_place)
    _no_overlap(ordered)
    splices = [_trimmed(change, document.lines) for change in ordered]
    real = tuple(one for one in splices if one.lines or one.start < one.stop)
    notes = tuple(note for _, told in better for note in told)
    return Plan(tuple(once), real, notes, len(splices) - len(real), len(found) - len(once))


def _place(change: Change) -> tuple[int, int, int]:
    """Sorting key: what goes behind a line comes before what goes in front of the next, and the file's ends are outermost."""
    ranks = {("prepend", False): 0, ("append", True): 1, ("append", False): 2, ("prepend", True): 3, ("replace", True): 4}
    return change.start, ranks[change.op, bool(change.anchors)], change.number


def _no_overlap(ordered: Sequence[Change]) -> None:
    last: Change | None = None
    for change in ordered:
        if last and change.start < last.stop:
            raise AnchorError(
                f"edits {last.number} and {change.number} overlap: {_told(last)}, {_told(change)}. Make one edit of them, or leave one out"
            )
        if change.op == "replace":
            last = change


def _told(change: Change) -> str:
    return f"{change.op} {'-'.join(dict.fromkeys(map(str, change.anchors)))}"


def _trimmed(change: Change, lines: Sequence[str]) -> Splice:
    """Only what really changes: lines that stay keep their bytes."""
    start, stop, new = change.start, change.stop, change.lines
    same = 0
    while same < min(stop - start, len(new)) and lines[start + same] == new[same]:
        same += 1
    start, new = start + same, new[same:]
    same = 0
    while same < min(stop - start, len(new)) and lines[stop - 1 - same] == new[-1 - same]:
        same += 1
    return Splice(start, stop - same, new[: len(new) - same])
