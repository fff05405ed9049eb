"""Fit patches to the files as they are, and stop those of which that cannot be told.

Lines of a patch that differ from the file's in typographic characters, at their ends, or because the file has changed
since, are replaced by the file's own; what the patch adds stays as the model wrote it, with the file's line ends. Which
place is meant must be beyond doubt, and indentation is never guessed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio.to_thread

from matrixx_builtin.services import text_files
from matrixx_builtin.services.records import RecordError
from matrixx_core import Block, ToolCall, guard, rewrite

LONGEST = 48
"""Lines of a chunk that are compared with similar places of the file."""
CANDIDATES = 64
"""Places that are compared; further ones make the place doubtful anyway."""
ALIKE = 70
"""Per cent of a chunk's lines that a similar place must hold, in order."""


class Refused(Exception):
    """The patch cannot be applied as it is meant; the text says why."""


INSTEAD = "read the file around that place and send the patch again with its lines as they are, indentation included."


@guard(tools={"apply_patch"})
async def tool_execute_before(call: ToolCall) -> Block | None:
    try:
        await _fitting(call)
    except Refused as why:
        return Block(str(why), INSTEAD)
    return None


@rewrite(tools={"apply_patch"}, spec="tool_execute_before")
async def fit_patch(call: ToolCall) -> ToolCall | None:
    """The call with its patch fitted; one that cannot be has been stopped before."""
    fitted = await _fitting(call)
    return None if fitted in (None, call.args.get("patchText")) else call.with_args(patchText=fitted)


async def _fitting(call: ToolCall) -> str | None:
    patch = call.args.get("patchText")
    if not isinstance(patch, str) or not call.directory:
        return None
    return await anyio.to_thread.run_sync(fit, patch, Path(call.directory))


@dataclass(frozen=True, slots=True)
class Chunk:
    """One ``@@`` part of an update: rows are a sign (``" "``, ``"-"``, ``"+"``) and a line."""

    rows: tuple[tuple[str, str], ...]
    context: str = ""
    last: bool = False

    @property
    def old(self) -> list[str]:
        return [line for sign, line in self.rows if sign != "+"]

    @property
    def added(self) -> list[tuple[str, str]]:
        return [row for row in self.rows if row[0] == "+"]


@dataclass(slots=True)
class Section:
    """What the patch does with one file; ``body`` is an added file's content as given."""

    does: str
    path: str
    move: str = ""
    body: list[str] = field(default_factory=list[str])
    chunks: list[Chunk] = field(default_factory=list[Chunk])


_HEREDOC = re.compile(r"(?:cat\s+)?<<['\"]?(\w+)['\"]?\s*\n(.*?)\n\1\s*", re.DOTALL)
_HEADER = re.compile(r"\*\*\* (Add File|Delete File|Update File): ?(.*)")
_MOVE, _LAST, _BEGIN, _END = "*** Move to:", "*** End of File", "*** Begin Patch", "*** End Patch"


def fit(patch: str, root: Path) -> str:
    """The patch, fitted to the files below ``root``; itself where it fits, or where a file lies elsewhere or cannot be read.

    Raises ``Refused``.
    """
    sections = list(parsed(patch))
    paths = [section.path for section in sections]
    places = [_inside(root, name) for section in sections for name in (section.path, section.move) if name]
    if None in places or len(set(paths)) < len(paths):
        _refuse_twice_deleted(sections)
        return patch
    for section in sections:
        _check_free(section, root)
    fitted = [found for section in sections if (found := _fitted(section, root))]
    changed = any(new is not old for new, old in zip(fitted, sections, strict=False))
    return "\n".join([_BEGIN, *_lines(fitted), _END]) if changed and len(fitted) == len(sections) else patch


def parsed(patch: str) -> Iterator[Section]:
    """The patch's sections; raises ``Refused`` naming the first line that is none of a patch."""
    wrapped = _HEREDOC.fullmatch(patch.strip())
    rows = (wrapped[2] if wrapped else patch).strip().split("\n")
    if rows[0].strip() != _BEGIN or rows[-1].strip() != _END:
        raise Refused(f"the patch does not begin with {_BEGIN!r} and end with {_END!r}")
    at = 1
    while at < len(rows) - 1:
        found = _HEADER.fullmatch(rows[at].rstrip())
        if not found or not found[2].strip():
            raise Refused(f"line {at + 1} of the patch is none of a patch: {rows[at][:80]!r}")
        section, start = Section(found[1], found[2].strip()), at + 1
        at = next(place for place in range(start, len(rows)) if _HEADER.match(rows[place]) or place == len(rows) - 1)
        _fill(section, rows[start:at], start)
        yield section


def _fill(section: Section, rows: list[str], start: int) -> None:
    if section.does == "Update File" and rows and rows[0].startswith(_MOVE):
        section.move, rows, start = rows[0].removeprefix(_MOVE).strip(), rows[1:], start + 1
    section.body = rows
    while rows and not rows[-1].rstrip("\r"):
        rows = rows[:-1]
    for place, row in enumerate(rows, start + 1):
        fits = row.startswith("+") if section.does == "Add File" else section.does == "Update File"
        if not fits:
            raise Refused(f"line {place} of the patch does not belong there: {row[:80]!r}")
    if section.does == "Update File":
        section.chunks = list(_chunks(rows, start))
        if not section.chunks and not section.move:
            raise Refused(f"the update of {section.path} has no @@ chunk")


def _chunks(rows: Sequence[str], start: int) -> Iterator[Chunk]:
    now: Chunk | None = None
    for place, raw in enumerate(rows, start + 1):
        row = raw.removesuffix("\r")
        if row.startswith("@@"):
            if now:
                yield now
            now = Chunk((), row[2:].strip())
        elif now and row.strip() == _LAST:
            now = replace(now, last=True)
        elif now and not now.last and (not row or row[0] in " +-"):
            now = replace(now, rows=(*now.rows, (row[:1] or " ", row[1:])))  # an empty line is a context line that lost its blank
        else:
            raise Refused(f"line {place} of the patch is no line of a chunk: {row[:80]!r}")
    if now:
        yield now


def _lines(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        yield f"*** {section.does}: {section.path}"
        if section.move:
            yield f"{_MOVE} {section.move}"
        yield from () if section.chunks else section.body
        for chunk in section.chunks:
            yield f"@@ {chunk.context}".rstrip()
            yield from (sign + line for sign, line in chunk.rows)
            if chunk.last:
                yield _LAST


def _inside(root: Path, name: str) -> Path | None:
    try:
        path = (root / name).resolve()
        return path if path.is_relative_to(root.resolve()) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _refuse_twice_deleted(sections: Sequence[Section]) -> None:
    gone: set[str] = set()
    for section in sections:
        if section.path in gone and section.does != "Add File":
            raise Refused(f"{section.path} is no longer there when the patch comes to it the second time")
        if section.does == "Delete File" or section.move:
            gone.add(section.path)


def _check_free(section: Section, root: Path) -> None:
    target = section.path if section.does == "Add File" else section.move
    if target and (section.does == "Add File" or target != section.path) and (root / target).exists():
        raise Refused(f"{target} is there already: the patch would replace it unread")


def _fitted(section: Section, root: Path) -> Section | None:
    """The section with its chunks fitted; ``None`` where the file cannot be read, which the tool itself will tell."""
    if not section.chunks:
        return section
    try:
        document = text_files.Document.of(text_files.read(root / section.path))
    except (OSError, ValueError, RecordError):
        return None
    lines, chunks, cursor = document.texts, list[Chunk](), 0
    raw = [line.text + line.end.removesuffix("\n") for line in document.lines]
    for chunk in section.chunks:
        start, placed = _placed(chunk, lines, cursor, section.path)
        chunks.append(_rendered(chunk, placed, start, raw, cursor))
        cursor = start + len(placed.old)
    odd = any(not row or row.endswith("\r") for row in section.body)
    return section if chunks == section.chunks and not odd else replace(section, chunks=chunks)


def _rendered(chunk: Chunk, placed: Chunk, start: int, raw: Sequence[str], cursor: int) -> Chunk:
    """The chunk with the file's own line ends, and so much context that the tool's first match from ``cursor`` is the place meant."""
    end = "\r" if raw and raw[0].endswith("\r") else ""
    own = iter(raw[start : start + len(placed.old)])
    rows = tuple((sign, line + end if sign == "+" else next(own)) for sign, line in placed.rows)
    last = chunk.last and start + len(placed.old) == len(raw)
    if rows == chunk.rows and last == chunk.last and _first(chunk, raw, cursor) == start:
        return chunk
    made = Chunk(rows, last=last)
    while made.old and start > cursor and _first(made, raw, cursor) != start:
        start -= 1
        made = replace(made, rows=((" ", raw[start]), *made.rows))
    return made


def _first(chunk: Chunk, lines: Sequence[str], cursor: int) -> int:
    """Where the tool takes the chunk to be, if its lines are the file's."""
    if chunk.context:
        cursor = next((at + 1 for key in (_same, str.rstrip, str.strip) for at in _at([chunk.context], lines, cursor, key)), -1)
    old = chunk.old
    if cursor < 0 or not old:
        return len(lines) if cursor >= 0 else -1
    if chunk.last and list(lines[len(lines) - len(old) :]) == old and len(lines) - len(old) >= cursor:
        return len(lines) - len(old)
    return next(iter(_at(old, lines, cursor, _same)), -1)


def _placed(chunk: Chunk, lines: Sequence[str], cursor: int, path: str) -> tuple[int, Chunk]:
    """Where the chunk belongs, and the chunk with the file's own lines; raises ``Refused``."""
    if not chunk.old:
        return _inserted(chunk, lines, cursor, path)
    anchored = next((at + 1 for key in (_same, str.rstrip, str.strip) for at in _at([chunk.context], lines, cursor, key)), cursor)
    start = anchored if chunk.context else cursor
    for key in (_same, _plain, str.rstrip, _safe):
        found = _at(chunk.old, lines, start, key)
        if chunk.last and len(lines) - len(chunk.old) in found:
            found = [len(lines) - len(chunk.old)]
        if found and (key is _same or len(found) == 1):
            return found[0], _like(chunk, lines[found[0] : found[0] + len(chunk.old)])
        if found:
            raise Refused(
                f"the lines of a chunk stand in {path} in {len(found)} places, from line {found[0] + 1} and from line {found[1] + 1}"
            )
    return _between(chunk, lines, start, path) or _similar(chunk, lines, start, path) or _lost(chunk, lines, start, path)


def _inserted(chunk: Chunk, lines: Sequence[str], cursor: int, path: str) -> tuple[int, Chunk]:
    if not lines or (chunk.last and not chunk.context):
        return len(lines), chunk
    found = (
        next((places for key in (_same, _safe, str.strip) if (places := _at([chunk.context], lines, 0, key))), []) if chunk.context else []
    )
    if len(found) != 1 or found[0] < cursor:
        raise Refused(f"where to insert in {path} is not clear: its @@ line stands there {len(found)} times")
    return found[0], replace(chunk, rows=((" ", lines[found[0]]), *chunk.rows))


def _between(chunk: Chunk, lines: Sequence[str], start: int, path: str) -> tuple[int, Chunk] | None:
    """The only place of as many lines that begins and ends with the chunk's unchanged lines."""
    signs, old = [sign for sign, _ in chunk.rows], chunk.old
    head = next((place for place, sign in enumerate(signs) if sign != " "), len(signs))
    tail = next((place for place, sign in enumerate(reversed(signs)) if sign != " "), 0)
    if not head or not tail or head + tail > len(old):
        return None
    tops = _at(old[:head], lines, start, _safe)
    bottoms = set(_at(old[-tail:], lines, start, _safe))
    found = [at for at in tops if at + len(old) - tail in bottoms]
    if len(found) > 1:
        raise Refused(f"a chunk could belong in {path} to line {found[0] + 1} and to line {found[1] + 1}")
    return (found[0], _like(chunk, lines[found[0] : found[0] + len(old)])) if found else None


def _similar(chunk: Chunk, lines: Sequence[str], start: int, path: str) -> tuple[int, Chunk] | None:
    """The place that is most like the chunk: first and last line are its own, and enough between them."""
    old = [_safe(line) for line in chunk.old]
    if not 2 < len(old) <= LONGEST:
        return None
    own = [_safe(line) for line in lines]
    longest = len(old) + len(old) // 2
    windows = [
        (top, bottom + 1)
        for top in range(start, len(own))
        if own[top] == old[0]
        for bottom in range(top + 1, min(top + longest, len(own)))
        if own[bottom] == old[-1]
    ]
    if len(windows) > CANDIDATES:
        raise Refused(f"a chunk could belong to many places of {path}")
    scored = sorted(((len(_common(old, own[top:end])), top - end, top) for top, end in windows), reverse=True)
    if not scored or scored[0][0] < max(2, -(-len(old) * ALIKE // 100)):
        return None
    if any(score == scored[0][0] and top != scored[0][2] for score, _, top in scored[1:]):
        raise Refused(f"a chunk could belong in {path} to several places, as line {scored[0][2] + 1}")
    _, length, top = scored[0]
    return top, replace(chunk, rows=tuple(_merged(chunk, lines[top : top - length], path)))


def _common(old: Sequence[object], own: Sequence[object]) -> list[tuple[int, int]]:
    """The longest common subsequence, as pairs of places."""
    best = [[0] * (len(own) + 1) for _ in range(len(old) + 1)]
    for one in reversed(range(len(old))):
        for other in reversed(range(len(own))):
            same = old[one] == own[other]
            best[one][other] = best[one + 1][other + 1] + 1 if same else max(best[one + 1][other], best[one][other + 1])
    pairs: list[tuple[int, int]] = []
    one = other = 0
    while one < len(old) and other < len(own):
        if old[one] == own[other]:
            pairs.append((one, other))
            one, other = one + 1, other + 1
        elif best[one + 1][other] >= best[one][other + 1]:
            one += 1
        else:
            other += 1
    return pairs


def _merged(chunk: Chunk, own: Sequence[str], path: str) -> Iterator[tuple[str, str]]:
    """The chunk's rows over the file's lines: lines that the model did not know of stay."""
    pairs = dict(_common([_safe(line) for line in chunk.old], [_safe(line) for line in own]))
    waiting: list[tuple[str, str]] = []
    number = done = 0
    for sign, line in chunk.rows:
        if sign != "+" and number in pairs:
            yield from _gap(waiting, own[done : pairs[number]], path)
            yield sign, own[pairs[number]]
            waiting, done = [], pairs[number] + 1
        else:
            waiting.append((sign, line))
        number += sign != "+"
    yield from _gap(waiting, own[done:], path)


def _gap(rows: Sequence[tuple[str, str]], own: Sequence[str], path: str) -> Iterator[tuple[str, str]]:
    """Between two lines that fit: what the chunk has there, and what the file has."""
    gone, added = [row for row in rows if row[0] != "+"], [row for row in rows if row[0] == "+"]
    if gone and len(gone) == len(own):
        yield from _like(Chunk(tuple(rows)), own).rows
    elif not own or not gone:
        yield from added
        yield from ((" ", line) for line in own)
    elif not added and all(sign == " " for sign, _ in gone):
        yield from ((" ", line) for line in own)
    else:
        raise Refused(f"{path} has changed just where a chunk changes it, so what of it shall go cannot be told")


def _lost(chunk: Chunk, lines: Sequence[str], start: int, path: str) -> tuple[int, Chunk]:
    if _at(chunk.old, lines, start, str.strip):
        raise Refused(f"a chunk's lines are in {path} with another indentation, which may carry meaning")
    there = {_safe(line) for line in lines}
    missing = next((line for line in chunk.old if _safe(line) not in there), chunk.old[0])
    raise Refused(f"a chunk's lines are not in {path} as given; the first that is not: {missing[:80]!r}")


def _like(chunk: Chunk, own: Sequence[str]) -> Chunk:
    """The chunk with the file's own lines in place of its old ones, one for one."""
    there = iter(own)
    return replace(chunk, rows=tuple((sign, line if sign == "+" else next(there)) for sign, line in chunk.rows))


def _at(wanted: Sequence[str], lines: Sequence[str], start: int, key: Callable[[str], object]) -> list[int]:
    """Where the lines stand one after another, from ``start`` on."""
    keyed, sought = [key(line) for line in lines], [key(line) for line in wanted]
    return [at for at in range(start, len(lines) - len(wanted) + 1) if keyed[at] == sought[0] and keyed[at : at + len(sought)] == sought]


def _same(line: str) -> str:
    return line


_TYPOGRAPHIC = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | {"\u2026": "...", "\u00a0": " ", "\u202f": " ", "\u200b": ""}
)
"""Characters that models and editors take for one another."""


def _plain(line: str) -> tuple[str, str]:
    """Indentation as it is, and the rest in plain characters."""
    rest = line.lstrip()
    return line[: len(line) - len(rest)], rest.translate(_TYPOGRAPHIC)


def _safe(line: str) -> tuple[str, str]:
    return _plain(line.rstrip())
