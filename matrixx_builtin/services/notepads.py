"""What agents learn while they work: ``.matrixx/notepads/<plan>/``, or ``adhoc/`` where no plan is carried out.

A bucket holds one file for each kind of note, which only grows, and one ``<n>-<slug>.md`` for each task, which is found again by
its line ``**Task ID**: <id>`` (spec tool-hooks 2.18).
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from . import tasks
from .lines import whole
from .plans import PlanStore
from .records import RecordError, locked
from .text_files import append, create, read

Kind: TypeAlias = Literal["learnings", "decisions", "issues", "problems", "verification"]
KINDS: tuple[str, ...] = get_args(Kind)

ADHOC = "adhoc"

LONGEST_NOTE = 65_536
"""Characters of one note; what is longer belongs into a file of its own."""

SLUG = 60
"""Characters of a subject that go into a file's name (spec)."""

INDEX = re.compile(r"(\d{1,6})-.*\.md")
COMPLETION = re.compile(r"^## Completion[ \t\r]*$", re.MULTILINE)

TASK = """\
# {subject}

**Task ID**: {task_id}
**Priority**: {priority}
**Status**: pending
**Started**: {now}

## Findings

## Blockers

## Questions

## Results
"""


class Notepads:
    """The notepads of one project; safe for several processes. Everything wrong is a ``RecordError``."""

    def __init__(self, directory: Path | str) -> None:
        self.folder = Path(directory) / ".matrixx" / "notepads"
        self._plans = PlanStore(directory)

    def bucket(self, plan: str = "") -> Path:
        """The plan's folder if there is such a plan, else ``adhoc``; no name leads anywhere else."""
        plain = plan.removesuffix(".md")
        return self.folder / (plain if plain != ADHOC and self._plans.exists(plain) else ADHOC)

    def note(self, kind: Kind, text: str, plan: str = "") -> Path:
        """Add a note under the present time; what is there is never changed."""
        if kind not in KINDS:
            raise RecordError(f"{kind!a} is no kind of note; there are {', '.join(KINDS)}")
        text = whole(text).strip()
        if not text or len(text) > LONGEST_NOTE:
            raise RecordError(f"a note has 1 to {LONGEST_NOTE} characters, not {len(text)}")
        path = self.bucket(plan) / f"{kind}.md"
        with locked(self.folder):
            append(path, f"## {_now()}\n\n{text}\n\n")
        return path

    def start(self, task_id: str, subject: str, plan: str = "", priority: str = "medium") -> Path:
        """The task's notepad, made if there is none."""
        with locked(self.folder):
            if there := self.find(task_id, plan):
                return there
            bucket, title = self.bucket(plan), " ".join(whole(subject).split()) or task_id
            content = TASK.format(subject=title, task_id=task_id, priority=" ".join(whole(priority).split()), now=_now()).encode()
            index = _next_index(bucket)
            while True:
                path = bucket / f"{index}-{_slug(subject) or task_id}.md"
                try:
                    create(path, content)
                except FileExistsError:
                    index += 1
                else:
                    return path

    def find(self, task_id: str, plan: str = "") -> Path | None:
        """The task's notepad, in the plan's bucket or in ``adhoc``; raises for what is no task's id."""
        if not tasks.ID.fullmatch(task_id):
            raise RecordError(f"{task_id[:100]!a} is no task id: they look like T-1f0c...")
        marker = f"**Task ID**: {task_id}"
        buckets = dict.fromkeys((self.bucket(plan), self.folder / ADHOC))
        return next((path for bucket in buckets for path, text in _texts(bucket) if marker in map(str.strip, text.splitlines())), None)

    def complete(self, task_id: str, plan: str = "", status: str = "completed") -> bool:
        """Stamp the task's notepad as ended, once; false when there is none, or it has its stamp."""
        with locked(self.folder):
            path = self.find(task_id, plan)
            text = _text(path) if path else None
            if path is None or text is None or COMPLETION.search(text):
                return False
            gap = "\n" if text.endswith("\n") else "\n\n"
            append(path, f"{gap}## Completion\n\n**Completed at**: {_now()}\n**Status**: {status}\n")
            return True


def _next_index(bucket: Path) -> int:
    """One more than the highest there is, so that a deleted file's successor takes nobody's place."""
    return max((int(found[1]) for path in _files(bucket) if (found := INDEX.fullmatch(path.name))), default=0) + 1


def _texts(bucket: Path) -> Iterator[tuple[Path, str]]:
    """Every notepad that can be read."""
    for path in sorted(_files(bucket)):
        if (text := _text(path)) is not None:
            yield path, text


def _text(path: Path) -> str | None:
    try:
        return read(path).decode("utf-8", "replace")
    except (RecordError, OSError):
        return None  # a link, a pipe, or gone: no notepad of ours


def _files(bucket: Path) -> list[Path]:
    try:
        return list(bucket.glob("*.md"))
    except OSError as error:
        raise RecordError(f"{bucket} cannot be read: {error.strerror or error}") from None


def _slug(subject: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", subject.lower()).strip("-")[:SLUG].strip("-")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
