"""A unified diff out of the edits themselves, which is exact and takes no search."""

from collections.abc import Iterator, Sequence

from .text import Splice

CONTEXT = 3
"""Lines shown on both sides, as diff does."""


def unified(path: str, lines: Sequence[str], splices: Sequence[Splice]) -> str:
    """The splices of a text as hunks; ``""`` if there is none."""
    rows = [f"--- {path}", f"+++ {path}"] if splices else []
    grown = 0
    for group in _groups(splices):
        start, stop = max(group[0].start - CONTEXT, 0), min(group[-1].stop + CONTEXT, len(lines))
        body = list(_body(group, lines, start, stop))
        old, new = (sum(1 for row in body if row[0] in kinds) for kinds in (" -", " +"))
        rows += [f"@@ -{_range(start, old)} +{_range(start + grown, new)} @@", *body]
        grown += new - old
    return "\n".join([*rows, ""]) if rows else ""


def counts(splices: Sequence[Splice]) -> tuple[int, int]:
    """How many lines are added and deleted."""
    return sum(len(one.lines) for one in splices), sum(one.stop - one.start for one in splices)


def _groups(splices: Sequence[Splice]) -> list[list[Splice]]:
    groups: list[list[Splice]] = []
    for one in splices:
        if groups and one.start - groups[-1][-1].stop <= 2 * CONTEXT:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _body(group: Sequence[Splice], lines: Sequence[str], start: int, stop: int) -> Iterator[str]:
    at = start
    for one in group:
        yield from (f" {line}" for line in lines[at : one.start])
        yield from (f"-{line}" for line in lines[one.start : one.stop])
        yield from (f"+{line}" for line in one.lines)
        at = one.stop
    yield from (f" {line}" for line in lines[at:stop])


def _range(start: int, count: int) -> str:
    return f"{start + (count > 0)},{count}"
