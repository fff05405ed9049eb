"""What git is about to record or send, as added lines by file."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio.to_thread

from ..processes import Finished, run, which

TIMEOUT = 4.0
"""Seconds for one git command; a guard's own deadline is 5."""
LARGEST_DIFF = 8 * 1024 * 1024
"""Bytes read of one diff; a longer one is said to be cut."""
LARGEST_FILE = 1024 * 1024
"""Bytes read of one file that git does not track yet."""
MOST_FILES = 500
"""Untracked files that are read for one commit."""

_DIFF = ("--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "--src-prefix=a/", "--dst-prefix=b/")
"""``--text``: an attribute that calls a file binary must not hide it. The rest shuts out whatever a configuration may change."""
_GIT = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=off")
_ENV = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(slots=True)
class Change:
    """The lines that one file gains; ``numbers[i]`` is the line in the file of the i-th line of ``text``."""

    path: str
    lines: list[str] = field(default_factory=list[str], repr=False)
    numbers: list[int] = field(default_factory=list[int], repr=False)
    removed: list[str] = field(default_factory=list[str], repr=False)
    cut: bool = False

    @property
    def text(self) -> str:
        """The added lines."""
        return "\n".join(self.lines)

    @property
    def gone(self) -> str:
        """The removed lines: a secret among them was there before."""
        return "\n".join(self.removed)

    def line(self, place: int) -> int:
        """The file's line number of the ``place``-th added line, counted from 1."""
        return self.numbers[place - 1] if 0 < place <= len(self.numbers) else place


async def staged_changes(where: Sequence[str], cwd: str) -> list[Change]:
    """What the index would add to the last commit. ``where`` holds git's own ``-C``, ``--git-dir`` and ``--work-tree`` arguments."""
    return _changes(await _git(where, ("diff", "--cached", *_DIFF), cwd))


async def unstaged_changes(
    where: Sequence[str], cwd: str, paths: Sequence[str], *, untracked: bool = False, ignored: bool = False
) -> list[Change]:
    """What tracked files under these pathspecs gained since they were staged; on request also files that git does not track yet."""
    changes = _changes(await _git(where, ("diff", *_DIFF, "--", *paths), cwd))
    if untracked:
        listing = ("ls-files", "--others", "-z", "--full-name", *(() if ignored else ("--exclude-standard",)), "--", *paths)
        found = await _git(where, listing, cwd)
        root = (await _git(where, ("rev-parse", "--show-toplevel"), cwd)).stdout.strip()
        changes += await anyio.to_thread.run_sync(_read_all, root or cwd, [name for name in found.stdout.split("\0") if name])
    return changes


async def pushed_changes(where: Sequence[str], cwd: str, revisions: Sequence[str] = (), remote: str = "") -> list[Change]:
    """What the commits add that these revisions (default ``HEAD``) have and no remote branch that we know of has."""
    known = f"--remotes={remote}" if remote else "--remotes"
    log = ("log", "--patch", "--no-merges", "--format=", *_DIFF)
    answer = await _git(where, (*log, *(revisions or ("HEAD",)), "--not", known, "--"), cwd)
    if answer.code and revisions:
        answer = await _git(where, (*log, "HEAD", "--not", known, "--"), cwd)
    return _changes(answer)


async def alias_of(where: Sequence[str], cwd: str, name: str) -> str:
    """What a git alias stands for; ``""`` where there is none."""
    return (await _git(where, ("config", "--get", f"alias.{name}"), cwd)).stdout.strip()


async def _git(where: Sequence[str], arguments: Iterable[str], cwd: str) -> Finished:
    """Run git; raises ``TimeoutError`` when it does not end, so that a guard does not take silence for a clean diff."""
    program = which("git")
    if program is None:
        return Finished(127, "", "git is not installed")
    finished = await run([program, *_GIT, *where, *arguments], cwd=cwd, timeout=TIMEOUT, env=_ENV, limit_bytes=LARGEST_DIFF)
    if finished.timed_out:
        raise TimeoutError(f"git did not end within {TIMEOUT:g} s, so what it would record was not looked at")
    return finished


def _changes(diff: Finished) -> list[Change]:
    changes = list(parse_diff(diff.stdout)) if diff.code == 0 or diff.truncated else []
    if changes and diff.truncated:
        changes[-1].cut = True
    return changes


def parse_diff(diff: str) -> Iterator[Change]:
    """The added and removed lines of a unified diff by file. Lines are told by the counts of their hunk, never by their look."""
    change: Change | None = None
    old = new = number = 0
    for line in diff.split("\n"):
        if old > 0 and line.startswith("-") and change:
            old -= 1
            change.removed.append(line[1:])
        elif new > 0 and line.startswith("+") and change:
            change.lines.append(line[1:])
            change.numbers.append(number)
            new, number = new - 1, number + 1
        elif hunk := _HUNK.match(line):
            old, number, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        elif line.startswith("+++ ") and not old and not new:
            if change:
                yield change
            change = Change(line[4:].removesuffix("\t").removeprefix("b/"))
    if change:
        yield change


def _read_all(root: str, names: Sequence[str]) -> list[Change]:
    changes = [change for name in names[:MOST_FILES] if (change := _read(Path(root, name), name))]
    if changes and len(names) > MOST_FILES:
        changes[-1].cut = True
    return changes


def _read(path: Path, name: str) -> Change | None:
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError:
        return None
    lines = data[:LARGEST_FILE].decode("utf-8", "replace").split("\n")
    return Change(name, lines, list(range(1, len(lines) + 1)), cut=len(data) > LARGEST_FILE)
