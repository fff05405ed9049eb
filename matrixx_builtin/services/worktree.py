"""What has changed in a project's files between two moments, by what Git tells; commits made in between are seen as well."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio
from anyio.to_thread import run_sync

from .processes import run

SECONDS = 3.5
"""What a look at the tree may take: less than the 5 s that a hook has."""

MOST_FILES = 2_000
"""Untracked files that are looked at; a tree with more is not told apart file by file."""

MOST_BYTES = 1 << 20
"""Bytes of an untracked file whose lines are counted."""

_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.quotepath=off")
_ENV = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}
_DIFF = ("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--relative")


@dataclass(frozen=True, slots=True)
class State:
    """One file that differs from the commit: its lines more and less, and what tells its present content from another."""

    added: int
    removed: int
    stamp: tuple[int, int] | None
    tracked: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files below ``directory`` that differ from the commit ``head``."""

    directory: str
    head: str
    files: Mapping[str, State] = field(default_factory=dict[str, State])


@dataclass(frozen=True, slots=True)
class Changed:
    """One file that has changed; the lines are counted against the commit of the first look."""

    path: str
    how: Literal["created", "modified", "deleted"]
    added: int
    removed: int

    def __str__(self) -> str:
        counts = {"created": f"+{self.added}", "modified": f"+{self.added}/-{self.removed}", "deleted": f"-{self.removed}"}
        return f"{self.how} {self.path!a} {counts[self.how]}"


async def look(directory: str, head: str = "") -> Snapshot | None:
    """The tree as it is now, against this commit or the present one; ``None`` where Git cannot tell it in time."""
    found: Snapshot | None = None
    with anyio.move_on_after(SECONDS):
        head = head or (await _git(directory, "rev-parse", "--verify", "-q", "HEAD^{commit}") or "").strip()
        if head and (numbers := await _git(directory, *_DIFF, head, "--")) is not None:
            others = await _git(directory, "ls-files", "-z", "--others", "--exclude-standard")
            found = await run_sync(_read, directory, head, numbers, (others or "").split("\0")[:-1], abandon_on_cancel=True)
    return found


async def changes_since(before: Snapshot) -> list[Changed] | None:
    """What has changed since then, by path; ``None`` where Git cannot tell it in time."""
    after = await look(before.directory, before.head)
    return None if after is None else list(_between(before.files, after.files))


def _between(before: Mapping[str, State], after: Mapping[str, State]) -> Iterator[Changed]:
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new or (old and new and old.stamp == new.stamp):
            continue  # committed in between, but not changed
        if new is None:
            gone = old is not None and not old.tracked
            yield Changed(path, "deleted" if gone else "modified", 0, old.added if gone and old else 0)
        elif new.stamp is None:
            yield Changed(path, "deleted", 0, new.removed)
        else:
            is_new = new.removed == 0 and old is None and not new.tracked
            yield Changed(path, "created" if is_new else "modified", new.added, new.removed)


def _read(directory: str, head: str, numbers: str, others: Sequence[str]) -> Snapshot | None:
    files: dict[str, State] = {}
    for row in numbers.split("\0")[:-1]:
        added, removed, path = row.split("\t", 2)
        files[path] = State(_number(added), _number(removed), _stamp(directory, path))
    if len(others) > MOST_FILES:
        return None
    for path in others:
        files[path] = State(_lines(directory, path), 0, _stamp(directory, path), tracked=False)
    return Snapshot(directory, head, files)


def _number(text: str) -> int:
    """Git writes ``-`` for a binary file."""
    return int(text) if text.isdecimal() else 0


def _stamp(directory: str, path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(Path(directory, path))
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


def _lines(directory: str, path: str) -> int:
    file = Path(directory, path)
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_BYTES:
            return 0
        content = file.read_bytes()
    except (OSError, ValueError):
        return 0
    return 0 if b"\0" in content else content.count(b"\n") + (not content.endswith(b"\n") and content != b"")


async def _git(directory: str, *words: str) -> str | None:
    if not directory or "\0" in directory:
        return None
    done = await run([*_GIT, *words], cwd=directory, timeout=SECONDS, env=_ENV)
    return done.stdout if done.ok and not done.truncated else None
