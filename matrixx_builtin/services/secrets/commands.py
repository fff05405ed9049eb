"""Which of a call's commands make git record or send something, and what that is."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Protocol

from .git import Change, alias_of, pushed_changes, staged_changes, unstaged_changes
from .rules import words

_PLACES = frozenset({"-C", "--git-dir", "--work-tree"})
_GLOBAL_VALUES = _PLACES | {"-c", "--namespace", "--exec-path", "--super-prefix", "--config-env", "--attr-source"}
_COMMIT_VALUES = words(
    "-m -F -C -c -t --message --file --author --date --fixup --squash --template --trailer --cleanup --reuse-message --reedit-message"
)
_PUSH_VALUES = words("-o --push-option --repo --receive-pack --exec")
_RESUMED = words("merge rebase cherry-pick revert am")
_WHOLE = ":/"
"""Git's pathspec for everything from the root of the repository."""
_KNOWN = words(
    "add am apply archive bisect blame branch bundle cat-file check-ignore checkout cherry-pick clean clone commit config describe diff "
    "diff-tree fetch format-patch fsck gc grep help hash-object init log ls-files ls-remote ls-tree merge merge-base mv notes pull push "
    "range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-ref sparse-checkout stage stash status "
    "submodule switch symbolic-ref tag update-index update-ref var version worktree commit-tree write-tree read-tree"
)


class Run(Protocol):
    """A program that a call starts, as ``services.effects`` tells it."""

    @property
    def program(self) -> str: ...
    @property
    def argv(self) -> tuple[str, ...]: ...
    @property
    def cwd(self) -> str: ...


@dataclass(frozen=True, slots=True)
class GitCommand:
    """One git command: its sub-command, that one's arguments, and where git is told to work."""

    name: str
    rest: tuple[str, ...]
    where: tuple[str, ...]
    cwd: str

    def has(self, *flags: str) -> bool:
        """Whether one of these flags is given; a one-letter flag also counts within a cluster such as ``-am``."""
        given, _ = _sorted_out(self.rest, _PUSH_VALUES if self.name == "push" else _COMMIT_VALUES)
        return any(_flagged(word, flag) for word in given for flag in flags)


@dataclass(slots=True)
class Recorded:
    """What a call would add to the history or send away; ``commits`` are the places where something is committed."""

    changes: list[Change] = field(default_factory=list[Change])
    commits: list[tuple[tuple[str, ...], str]] = field(default_factory=list[tuple[tuple[str, ...], str]])

    @property
    def cut(self) -> bool:
        """Whether a part was too long to be read."""
        return any(change.cut for change in self.changes)


async def recorded_by(runs: Iterable[Run]) -> Recorded:
    """What the programs of one call commit and push; an ``add`` before a ``commit`` in the same call counts."""
    recorded, adds = Recorded(), list[GitCommand]()
    for run in runs:
        for command in await _git_commands(run):
            if command.name in {"add", "stage"}:
                adds.append(command)
            elif command.name == "commit" or (command.name in _RESUMED and "--continue" in command.rest):
                await _commit(command, adds, recorded)
            elif command.name == "push":
                await _push(command, recorded)
    return recorded


async def _git_commands(run: Run) -> list[GitCommand]:
    name = PurePath(run.program).name.removesuffix(".exe")
    arguments = run.argv[1:] if run.argv and PurePath(run.argv[0]).name.removesuffix(".exe") == name else run.argv
    if name == "gh":
        return [GitCommand("push", (), (), run.cwd)] if arguments[:2] == ("pr", "create") else []
    command = parse_git(arguments, run.cwd) if name == "git" else None
    if command is None or command.name in _KNOWN:
        return [command] if command else []
    return await _behind_alias(command)


async def _behind_alias(command: GitCommand) -> list[GitCommand]:
    """An alias' own command; one that goes through a shell counts as both commands whose names it mentions."""
    alias = await alias_of(command.where, command.cwd, command.name)
    if not alias.startswith("!"):
        try:
            named = parse_git((*shlex.split(alias), *command.rest), command.cwd)
        except ValueError:
            return []
        return [GitCommand(named.name, named.rest, (*command.where, *named.where), command.cwd)] if named else []
    return [
        GitCommand(name, ("-a",) if name == "commit" else (), command.where, command.cwd) for name in ("commit", "push") if name in alias
    ]


def parse_git(words: Sequence[str], cwd: str) -> GitCommand | None:
    """Read git's own options up to the sub-command; ``None``: there is none."""
    where: list[str] = []
    place = 0
    while place < len(words) and words[place].startswith("-"):
        flag, _, value = words[place].partition("=")
        if flag in _PLACES:
            where += [words[place]] if value else list(words[place : place + 2])
        place += 2 if words[place] in _GLOBAL_VALUES else 1
    return GitCommand(words[place], tuple(words[place + 1 :]), tuple(where), cwd) if place < len(words) else None


async def _commit(command: GitCommand, adds: Sequence[GitCommand], recorded: Recorded) -> None:
    if command.has("--dry-run"):
        return
    recorded.commits.append((command.where, command.cwd))
    recorded.changes += await staged_changes(command.where, command.cwd)
    paths = positional(command.rest, _COMMIT_VALUES)
    if command.name == "commit" and (
        paths or command.has("-a", "--all", "-p", "--patch", "-i", "--include", "-o", "--only", "--interactive")
    ):
        recorded.changes += await unstaged_changes(command.where, command.cwd, _specs(paths))
    for add in adds:
        paths = _specs(positional(add.rest, frozenset({"--chmod", "--pathspec-from-file"})))
        fresh = not add.has("-u", "--update")
        recorded.changes += await unstaged_changes(add.where, add.cwd, paths, untracked=fresh, ignored=add.has("-f", "--force"))


async def _push(command: GitCommand, recorded: Recorded) -> None:
    if command.has("-n", "--dry-run", "-d", "--delete"):
        return
    words = positional(command.rest, _PUSH_VALUES)
    sources = ["--branches" if spec in {":", "+:"} else spec.lstrip("+").split(":")[0] for spec in words[1:]]
    revisions = [source for source in sources if source and "$" not in source]
    if sources and not any(sources):
        return
    revisions += [
        range_ for flag, range_ in (("--all", "--branches"), ("--branches", "--branches"), ("--tags", "--tags")) if command.has(flag)
    ]
    revisions += ["--branches", "--tags"] if command.has("--mirror") else []
    remote = words[0] if words and words[0].replace("-", "").replace("_", "").isalnum() else ""
    recorded.changes += await pushed_changes(command.where, command.cwd, revisions, remote)


def positional(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """The words that are neither flags nor the values of flags."""
    return _sorted_out(words, with_value)[1]


def _sorted_out(words: Sequence[str], with_value: frozenset[str]) -> tuple[list[str], list[str]]:
    """Flags and other words, without the values of flags."""
    flags, others = list[str](), list[str]()
    rest = iter(words)
    for word in rest:
        if word == "--":
            return flags, [*others, *rest]
        if not word.startswith("-") or word == "-":
            others.append(word)
            continue
        flags.append(word)
        if word in with_value or _cluster_wants_value(word, with_value):
            next(rest, None)
    return flags, others


def _cluster_wants_value(word: str, with_value: frozenset[str]) -> bool:
    return (
        not word.startswith("--")
        and len(word) > 2
        and f"-{word[-1]}" in with_value
        and not any(f"-{letter}" in with_value for letter in word[1:-1])
    )


def _flagged(word: str, flag: str) -> bool:
    if word == flag:
        return True
    if flag.startswith("--") or word.startswith("--") or not word.startswith("-"):
        return False
    letters = _before_value(word[1:])
    return flag[1] in letters


def _before_value(letters: str) -> str:
    """The letters of a cluster up to the one that takes the rest as its value (``-mall`` is no ``-a``)."""
    for place, letter in enumerate(letters):
        if letter in "mFCctSuo":
            return letters[: place + 1]
    return letters


def _specs(paths: Sequence[str]) -> list[str]:
    """Pathspecs for git; what the shell has yet to fill in stands for everything."""
    return list(paths) if paths and not any("$" in path or "`" in path for path in paths) else [_WHOLE]
