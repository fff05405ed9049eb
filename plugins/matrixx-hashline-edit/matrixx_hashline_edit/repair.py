"""Put right what models get wrong in the lines they send.

Each step looks for evidence in the lines that are there. What it does is told to the model, which can undo it. No step turns an
edit into none: who joins or wraps lines and does nothing else means it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from matrixx_builtin.services.lines import ID, SAYS_SOMETHING, AnchorError

from .anchors import Change

Lines: TypeAlias = tuple[str, ...]

TAGGED = re.compile(rf"\s*(?:>>>|[+-])?\s*\d+\s*#\s*{ID}\|")
ADDED = re.compile(r"\+(?!\+)")

SHORTEST = 6
"""Characters, white space apart, from which a line counts as recognisable (spec)."""

LONGEST_WRAP = 10
"""Lines into which one may have been wrapped (spec)."""


def repaired(change: Change, lines: Sequence[str]) -> tuple[Change, list[str]]:
    """The change as it was meant, and what had to be done for that."""
    notes: list[str] = []
    for told, step in (REPLACING if change.op == "replace" else INSERTING).items():
        better = step(change, lines)
        if better != change.lines:
            notes.append(f"edit {change.number}: {told}")
            change = replace(change, lines=better)
    if change.anchors and change.op != "replace" and not change.lines:
        raise AnchorError(
            f"edit {change.number} ({change.op}): it only repeats the line of its anchor; to have that line twice, replace it by both"
        )
    return change, notes


def unmarked(change: Change, lines: Sequence[str]) -> Lines:
    """Without the anchors, or the plus signs of a diff, that at least half of the lines begin with."""
    near = lines[max(change.start - 1, 0) : change.stop + 1]
    filled = [line for line in change.lines if line.strip()]
    for mark in (TAGGED, ADDED):
        marked = sum(1 for line in filled if mark.match(line))
        if marked and 2 * marked >= len(filled) and not any(mark.match(line) for line in near):
            return tuple(line[found.end() :] if (found := mark.match(line)) else line for line in change.lines)
    return change.lines


def without_anchor_line(change: Change, lines: Sequence[str]) -> Lines:
    """Without the anchor's line, repeated at the side that touches it."""
    if not change.anchors or not change.lines:
        return change.lines
    if change.op == "append":
        return change.lines[1:] if _echoes(change.lines[0], lines[change.start - 1]) else change.lines
    return change.lines[:-1] if _echoes(change.lines[-1], lines[change.start]) else change.lines


def without_neighbours(change: Change, lines: Sequence[str]) -> Lines:
    """Without the line just before or after the range, repeated in more lines than the range has."""
    kept, fewest = change.lines, max(change.stop - change.start, 1)
    if len(kept) > fewest and change.start > 0 and _echoes(kept[0], lines[change.start - 1]):
        kept = kept[1:]
    if len(kept) > fewest and change.stop < len(lines) and _echoes(kept[-1], lines[change.stop]):
        kept = kept[:-1]
    return kept


def split_back(change: Change, lines: Sequence[str]) -> Lines:
    """One line that several were merged into, as several again."""
    there = lines[change.start : change.stop]
    if len(change.lines) != 1 or len(there) < 2:
        return change.lines
    merged, texts = change.lines[0].strip(), [line.strip() for line in there]
    parts = _in_order(texts, merged) or _statements(texts, merged)
    if not parts or parts == texts:
        return change.lines
    return tuple(_indent(line) + part for line, part in zip(there, parts, strict=True))


def rejoined(change: Change, lines: Sequence[str]) -> Lines:
    """Lines into which one that is there was wrapped, as that one."""
    there = tuple(lines[change.start : change.stop])
    counted = Counter(map(_bare, there))
    whole = {_bare(line): line for line in there if len(_bare(line)) >= SHORTEST and counted[_bare(line)] == 1}
    wraps = _wraps(change.lines, whole)
    joined: list[str] = []
    at = 0
    for start, stop, line in wraps:
        joined += [*change.lines[at:start], line]
        at = stop
    better = (*joined, *change.lines[at:])
    return change.lines if better == there else better


def indented(change: Change, lines: Sequence[str]) -> Lines:
    """With the indentation of the lines replaced: of all where there are as many, else of the first."""
    there = lines[change.start : change.stop]
    looked_at = there if len(there) == len(change.lines) else there[:1]
    better = [_indented(line, original) for line, original in zip(change.lines, looked_at, strict=False)]
    return (*better, *change.lines[len(better) :])


_MARKS = "took the anchors or plus signs off its lines"
Step: TypeAlias = Callable[[Change, Sequence[str]], Lines]
INSERTING: Mapping[str, Step] = {_MARKS: unmarked, "left out the anchor's line, which it repeats": without_anchor_line}
REPLACING: Mapping[str, Step] = {
    _MARKS: unmarked,
    "left out the lines next to the range, which it repeats": without_neighbours,
    "put what it has on one line back on the lines it replaces": split_back,
    "put a line that it wraps back on one line": rejoined,
    "gave its lines the indentation of those it replaces": indented,
}


def _bare(line: str) -> str:
    return "".join(line.split())


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indented(line: str, original: str) -> str:
    return line if not line.strip() or _indent(line) or line.strip() == original.strip() else _indent(original) + line


def _echoes(sent: str, there: str) -> bool:
    """Whether a line repeats one that is there; brackets do only with the same indentation, and an empty line never."""
    if SAYS_SOMETHING.search(sent):
        return _bare(sent) == _bare(there)
    return bool(sent.strip()) and sent.rstrip() == there.rstrip()


def _in_order(texts: list[str], merged: str) -> list[str]:
    """The merged line cut where each of the original texts begins, if all are in it, in order and recognisable."""
    starts: list[int] = []
    at = 0
    for text in texts:
        found = merged.find(text, at) if len(_bare(text)) >= SHORTEST else -1
        if found < 0 or (not starts and found > 0):
            return []
        starts.append(found)
        at = found + len(text)
    return [merged[start:stop].strip() for start, stop in zip(starts, [*starts[1:], len(merged)], strict=True)]


def _statements(texts: list[str], merged: str) -> list[str]:
    """The merged line cut after each semicolon, if each of the original texts is a statement that ends in one."""
    parts = re.split(r"(?<=;)\s+", merged)
    return parts if len(parts) == len(texts) and all(one.endswith(";") for one in (*parts, *texts)) else []


def _wraps(sent: Lines, whole: Mapping[str, str]) -> list[tuple[int, int, str]]:
    """Where several lines sent make up just one of the whole lines, each found just once: start, stop and that line."""
    bare = [_bare(line) for line in sent]
    longest = max(map(len, whole), default=0)
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for start in range(len(sent)):
        together = ""
        for stop in range(start + 1, min(start + LONGEST_WRAP, len(sent)) + 1):
            together += bare[stop - 1]
            if not bare[start] or len(together) > longest:
                break
            if bare[stop - 1] and together in whole:
                found[together].append((start, stop))
    wraps = sorted((*spans[0], whole[key]) for key, spans in found.items() if len(spans) == 1 and spans[0][1] - spans[0][0] > 1)
    apart: list[tuple[int, int, str]] = []
    for one in wraps:
        if not apart or one[0] >= apart[-1][1]:
            apart.append(one)
    return apart
