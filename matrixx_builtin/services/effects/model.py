"""What a tool call does to files, programs and the network, as plain values."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["create", "overwrite", "append", "edit", "delete", "read", "metadata"]
"""What happens to the path; ``metadata`` looks at or changes its name, owner or rights, never its content."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One path that a call touches."""

    path: str
    """Absolute and normalised, symlinks of the existing part resolved, ``/`` between the parts."""
    given: str
    """What the call said, for example ``.env`` or ``~/x``; a pattern where the disk had nothing to match it."""
    how: str
    """A short word such as ``write``, ``redirect``, ``sed -i``, ``patch``."""
    mode: Mode
    link: str = ""
    """Where a symlink is on the way, the absolute path before it was followed; else ``""``."""


@dataclass(frozen=True, slots=True)
class Move:
    """A path that gets another name; its two ends are among ``deletes`` and ``writes`` as well."""

    source: Touch
    target: Touch


@dataclass(frozen=True, slots=True)
class Run:
    """A program that the call starts, with the arguments as far as they are known."""

    program: str
    argv: tuple[str, ...]
    cwd: str


@dataclass(frozen=True, slots=True)
class Effects:
    """All that a call does, as far as it can be told without running it."""

    reads: tuple[Touch, ...] = ()
    writes: tuple[Touch, ...] = ()
    deletes: tuple[Touch, ...] = ()
    moves: tuple[Move, ...] = ()
    runs: tuple[Run, ...] = ()
    fetches: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Why a part of the call could not be analysed; each reason starts with its kind: ``program:``, ``code:``, ``syntax:``, ``limit:``."""
    metadata: tuple[Touch, ...] = ()
    """Paths that are only looked at from outside (``ls``, ``stat``, ``test -f``) or whose rights change (``chmod``)."""
