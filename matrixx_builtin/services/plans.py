"""The plans of a project: ``.matrixx/plans/<name>.md``, text that people write too, with check boxes that say how far it is.

A box is a line that begins, behind any indentation and quote marks, with a list mark (``-``, ``*``, ``+``, ``1.``, ``1)``) and
``[ ]``, ``[]``, ``[x]`` or ``[X]``, then a blank or the line's end. Nested and numbered boxes count like any other; those in
code fences and in HTML comments do not, unless a fence or comment is never closed: that hides nothing. A plan is complete when it has boxes and all of them are ticked: an empty one is not.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from .lines import Anchor, anchor, check, excerpt, resolve, split, unanchored, whole
from .records import RecordError, locked
from .text_files import Document, create, overwrite, read, revision

MOST_BYTES = 102_400
"""The seed's default for a plan's size (spec config-and-dispatch 2.5)."""

NEW_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
NAME = re.compile(r"[^\W_](?!.*\.\.)[^/\\:*?\"<>|\x00-\x1f\x7f]{0,99}")
"""A name that is nothing but a file's name; people's own may hold blanks, capitals and single dots."""

_MARK = r"(?:[-*+]|\d{1,9}[.)])"
BOX = re.compile(
    rf"(?P<before>(?P<indent>[ \t]*(?:>[ \t]*)*)(?:{_MARK}[ \t]+){{0,3}}{_MARK}[ \t]*)\[(?P<tick>[ xX]?)\](?=\s|$)(?P<text>.*)", re.DOTALL
)
FENCE = re.compile(rf"[ \t>]*(?:{_MARK}[ \t]+)*(?P<fence>`{{3,}}(?=[^`]*$)|~{{3,}})")
CLOSER = re.compile(r"[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*")
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
COMMENT, COMMENT_END = "<!--", "-->"


@dataclass(frozen=True, slots=True)
class Progress:
    """How many of a plan's boxes are ticked."""

    done: int = 0
    total: int = 0

    @property
    def complete(self) -> bool:
        """Whether nothing is left; a plan without boxes says nothing and is not complete."""
        return 0 < self.total == self.done

    def __str__(self) -> str:
        return f"{self.done}/{self.total}"


@dataclass(frozen=True, slots=True)
class Box:
    """One check box: its line's anchor, its text, the heading it stands under, and how deep it is nested in other boxes."""

    anchor: Anchor
    text: str
    done: bool
    depth: int = 0
    section: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan in the list; ``progress`` is ``None`` when the file cannot be read, ``modified`` in seconds since 1970."""

    name: str
    path: Path
    modified: float
    size: int
    progress: Progress | None


class Edit(BaseModel):
    """One change; all anchors are those of the plan as it was read."""

    op: Literal["replace", "append", "prepend", "tick", "untick"] = Field(
        description="replace pos (to end) by lines; append lines behind pos, or at the end; prepend them before pos, or at the start; "
        "tick or untick the one box at pos."
    )
    pos: str = Field(default="", description="The line's anchor as plan_read showed it, such as 12#VK.")
    end: str = Field(default="", description="The last line's anchor when several lines are replaced.")
    lines: list[str] | str | None = Field(default=None, description="The new lines, without anchors; null or [] removes those replaced.")


@dataclass(frozen=True, slots=True)
class Change:
    """A plan before and after a change; the same twice when nothing changed, and then nothing was written."""

    before: Document
    after: Document
    touched: frozenset[int] = field(default_factory=frozenset[int])
    """Numbers of the lines, as they are now, that are new or changed."""


class PlanStore:
    """The plans of one project; ``most_bytes`` is what one may have. Everything wrong is a ``RecordError`` or ``AnchorError``."""

    def __init__(self, directory: Path | str, most_bytes: int = MOST_BYTES) -> None:
        self.folder = Path(directory) / ".matrixx" / "plans"
        self.most_bytes = most_bytes

    def path(self, name: str) -> Path:
        """The plan's file, whether it is there or not; raises for what is no plain name."""
        name = name.removesuffix(".md")
        if not NAME.fullmatch(name) or name != name.rstrip(" ."):
            raise RecordError(f"{name[:100]!a} is no plan's name: give the name alone, such as 'login-page', without folder or path")
        return self.folder / f"{name}.md"

    def exists(self, name: str) -> bool:
        """Whether there is such a plan; false for what is no name."""
        try:
            return self.path(name).is_file()
        except (RecordError, OSError):
            return False

    def name_of(self, path: str) -> str:
        """The name of the plan that a mission's path means, over whatever links it leads here; ``""`` for one that is not here."""
        try:
            own = self.path(Path(path).name)
            return own.stem if own.is_file() and own.resolve() == Path(path).resolve() else ""
        except (RecordError, OSError, ValueError):
            return ""

    def create(self, name: str, text: str) -> Document:
        """Make a new plan; one that is there is never overwritten."""
        path = self.path(name)
        if not NEW_NAME.fullmatch(path.stem):
            raise RecordError(f"{path.stem!a} is no name for a new plan: use lower-case words with hyphens, such as {_kebab(path.stem)!r}")
        content = self._sized(whole(text).encode())
        with locked(self.folder):
            try:
                create(path, content)
            except FileExistsError:
                raise RecordError(f"there is a plan {path.stem!r} already; change it with plan_update, or take another name") from None
        return Document.of(content)

    def read(self, name: str) -> Document:
        """The plan as it stands."""
        path = self.path(name)
        try:
            return Document.of(read(path, self.most_bytes))
        except FileNotFoundError:
            raise RecordError(f"there is no plan {path.stem!r}; plan_list shows those there are") from None

    def update(self, name: str, edits: Sequence[Edit], seen: str = "") -> Change:
        """Make all edits or none. ``seen`` is the revision that the anchors were taken from; ``""`` trusts the anchors alone."""
        with locked(self.folder):
            before = self.read(name)
            if seen and seen != (now := revision(before.content)):
                raise RecordError(_changed_since(name, now, edits, before.texts))
            after, touched = applied(before, edits)
            self._put(name, before, after)
            return Change(before, after, touched)

    def change(self, name: str, change: Callable[[Document], Document]) -> Change:
        """Read, change and write under the lock, so that no other writer's change is lost."""
        with locked(self.folder):
            before = self.read(name)
            after = change(before)
            self._put(name, before, after)
            return Change(before, after)

    def all(self) -> list[Plan]:
        """Every plan, the last changed one first; ``_archive/`` and what is no plan's name are left out."""
        found = [one for path in self._files() if (one := self._listed(path))]
        return sorted(found, key=lambda plan: (-plan.modified, plan.name))

    def delete(self, name: str) -> None:
        """Remove a plan."""
        path = self.path(name)
        with locked(self.folder):
            try:
                path.unlink()
            except FileNotFoundError:
                raise RecordError(f"there is no plan {path.stem!r}; plan_list shows those there are") from None
            except OSError as error:
                raise RecordError(f"{path} cannot be deleted: {error.strerror or error}") from None

    def _files(self) -> list[Path]:
        try:
            return [path for path in self.folder.glob("*.md") if NAME.fullmatch(path.stem) and path.is_file()]
        except OSError as error:
            raise RecordError(f"{self.folder} cannot be read: {error.strerror or error}") from None

    def _listed(self, path: Path) -> Plan | None:
        how_far: Progress | None = None
        try:
            status = path.lstat()
            with suppress(RecordError):
                how_far = progress(Document.of(read(path, self.most_bytes)).texts)
        except FileNotFoundError:
            return None  # deleted a moment ago
        return Plan(path.stem, path, status.st_mtime, status.st_size, how_far)

    def _put(self, name: str, before: Document, after: Document) -> None:
        """Write what has changed; where nothing has, not even the file's time does."""
        if after != before:
            overwrite(self.path(name), self._sized(after.content))

    def _sized(self, content: bytes) -> bytes:
        if len(content) > self.most_bytes:
            raise RecordError(
                f"the plan would have {len(content)} bytes and may have {self.most_bytes} (plans.max_plan_file_bytes). Nothing was written; "
                "split it into several plans"
            )
        return content


def progress(lines: Sequence[str]) -> Progress:
    """How far a plan is, by the rule above."""
    ticks = [_is_ticked(box) for _, box, _ in _boxes(lines)]
    return Progress(sum(ticks), len(ticks))


def boxes(lines: Sequence[str]) -> list[Box]:
    """The plan's boxes from top to bottom."""
    found: list[Box] = []
    above: list[int] = []
    under = ""
    for number, box, section in _boxes(lines):
        indent = len(box["indent"].expandtabs(4))
        if section != under:
            above, under = [], section
        while above and above[-1] >= indent:
            above.pop()
        found.append(Box(anchor(number, lines[number - 1]), box["text"].strip(), _is_ticked(box), len(above), section))
        above.append(indent)
    return found


def applied(document: Document, edits: Sequence[Edit]) -> tuple[Document, frozenset[int]]:
    """The document with all edits made, and the numbers of the lines that are new or changed."""
    check((one for edit in edits for one in _anchors(edit, document.texts)), document.texts)
    spans = list(dict.fromkeys(_span(edit, document.texts) for edit in edits))
    _refuse_overlap(spans)
    touched: set[int] = set()
    for _, span in sorted(enumerate(spans), key=lambda one: (one[1].start, one[1].stop, one[1].op, one[0]), reverse=True):
        grown = len(span.new) - (span.stop - span.start)
        touched = {number + grown for number in touched} | set(range(span.start + 1, span.start + 1 + len(span.new)))
        document = document.spliced(span.start, span.stop, span.new)
    return document, frozenset(touched)


def ticked(line: str, *, done: bool) -> str:
    """The line with its box ticked or not, and nothing else changed; raises ``RecordError`` if it has none."""
    box = BOX.fullmatch(line)
    if box is None:
        raise RecordError(f"{line.strip()[:80]!r} has no check box; use op 'replace' to change such a line")
    if _is_ticked(box) == done:
        return line
    return f"{box['before']}[{'x' if done else ' '}]{box['text']}"


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines from ``start`` up to ``stop`` (from 0) that become ``new``; the names of ``op`` sort appended before prepended lines."""

    start: int
    stop: int
    op: str
    new: tuple[str, ...]


def _span(edit: Edit, texts: Sequence[str]) -> _Span:
    """Where an edit goes and what it puts there; raises for what makes no sense."""
    given = _anchors(edit, texts)
    if edit.op in {"tick", "untick"}:
        return _tick_span(edit, given, texts)
    new = tuple(_payload(edit))
    if edit.op == "replace":
        return _replace_span(edit, given, new)
    if not new:
        raise RecordError(f"{edit.op} needs lines: there is nothing to add")
    if not given:
        return _Span(0, 0, "prepend", new) if edit.op == "prepend" else _Span(len(texts), len(texts), "append", new)
    at = given[0].line - (edit.op == "prepend")
    return _Span(at, at, edit.op, new)


def _anchors(edit: Edit, texts: Sequence[str]) -> list[Anchor]:
    return [resolve(one, texts) for one in (edit.pos, edit.end) if one]


def _tick_span(edit: Edit, given: Sequence[Anchor], texts: Sequence[str]) -> _Span:
    if len(given) != 1 or edit.lines:
        raise RecordError(f"{edit.op} needs pos, the anchor of one box, and nothing else")
    at = given[0].line - 1
    return _Span(at, at + 1, "tick", (ticked(texts[at], done=edit.op == "tick"),))


def _replace_span(edit: Edit, given: Sequence[Anchor], new: tuple[str, ...]) -> _Span:
    if not given:
        raise RecordError("replace needs pos, the anchor of the line to replace")
    if "lines" not in edit.model_fields_set:
        raise RecordError("replace needs lines; give null or [] to remove what is replaced")
    if given[-1].line < given[0].line:
        raise RecordError(f"{given[0]} is below {given[-1]}: pos is the first line, end the last one")
    return _Span(given[0].line - 1, given[-1].line, "replace", new)


def _payload(edit: Edit) -> list[str]:
    given = [] if edit.lines is None else [edit.lines] if isinstance(edit.lines, str) else edit.lines
    rows = [row.removesuffix("\r") for text in given for row in (split(text) or [""])]
    return unanchored([whole(row) for row in rows])


def _refuse_overlap(spans: Sequence[_Span]) -> None:
    until = 0
    for span in sorted(spans, key=lambda span: (span.start, span.stop)):
        if span.start < until:
            raise RecordError(f"two edits change line {span.start + 1}. Nothing was written; put them into one")
        until = max(until, span.stop)


def _changed_since(name: str, now: str, edits: Sequence[Edit], texts: Sequence[str]) -> str:
    numbers = {one.line for edit in edits for one in _anchors(edit, texts)}
    return (
        f"the plan {name!r} has changed since you read it. Nothing was written. These lines are there now; if you still mean them, "
        f"call again with their anchors and revision {now!r}, else read it again with plan_read:\n{excerpt(numbers, texts)}"
    )


def _boxes(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str], str]]:
    """Each box with its line's number and the heading above it."""
    section = ""
    for number, line in _visible(lines):
        if heading := HEADING.match(line):
            section = line[heading.end() :].strip().rstrip("#").rstrip()
        elif box := BOX.fullmatch(line):
            yield number, box, section


def _visible(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The numbered lines outside of closed fences and comments."""
    last = {mark: number for number, line in enumerate(lines, 1) for mark in _closing(line)}
    hidden = ""
    for number, line in enumerate(lines, 1):
        if hidden:
            hidden = "" if any(mark.startswith(hidden) for mark in _closing(line)) else hidden
        elif (mark := _opening(line)) and any(end > number and closer.startswith(mark) for closer, end in last.items()):
            hidden = mark
        else:
            yield number, line


def _opening(line: str) -> str:
    if fence := FENCE.match(line):
        return fence["fence"]
    return COMMENT_END if line.lstrip().startswith(COMMENT) and COMMENT_END not in line else ""


def _closing(line: str) -> list[str]:
    fence = CLOSER.fullmatch(line)
    return [*([fence["fence"]] if fence else []), *([COMMENT_END] if COMMENT_END in line else [])]


def _is_ticked(box: re.Match[str]) -> bool:
    return box["tick"] in {"x", "X"}


def _kebab(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "my-plan"
