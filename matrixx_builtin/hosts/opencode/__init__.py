"""OpenCode 1.18: the adapter, the plugin file it installs, and the client for its API."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..changes import Installation
from ..findings import Finding

if TYPE_CHECKING:
    from ...canary.cage import Cage
    from ...rehearsal.turns import Request


def serve() -> None:
    """Answer one OpenCode process on standard input and output until it ends."""
    from .serve import main

    main()


async def play(
    lines: Iterable[tuple[int, Mapping[str, Any]]],
    emit: Callable[[dict[str, Any]], None],
    *,
    directory: Path,
    config: Sequence[Path] = (),
    disabled: Sequence[str] = (),
) -> None:
    """Play recorded hook calls through an engine and emit a record for each (``matrixx replay``)."""
    from .replay import replay

    await replay(lines, emit, directory=directory, config=config, disabled=disabled)


def found() -> str:
    """Where this host program is on the machine, or ``""``."""
    from .install import program

    return program()


def installed(directory: Path | None) -> Path | None:
    """The plugin file of ours in a project, or without one the user's; ``None`` where there is none."""
    from .install import FILE, config_folder, look

    there = look(config_folder(directory) / FILE)
    return there.path if there and there.ours else None


def installation(directory: Path | None, *, fail_closed: bool) -> Installation:
    """What installing into a project, or without one for the user, would change."""
    from .install import installation

    return installation(directory, fail_closed=fail_closed)


def removal(directory: Path | None) -> Installation:
    """What uninstalling would change."""
    from .install import removal

    return removal(directory)


def obeyed() -> Mapping[str, str]:
    """The hookspecs that this host feeds, each with the answers that it obeys, as words with spaces between."""
    from .install import OBEYED

    return OBEYED


def findings(directory: Path, *, asked: bool) -> Iterator[Finding]:
    """Look for what keeps this host from being guarded (``matrixx doctor``)."""
    from .examine import examine

    yield from examine(directory, asked=asked)


def rehearse(cage: "Cage") -> "Sequence[Request]":
    """Play the canary's calls in the real program (``matrixx doctor --canary``) and give the requests that the model got."""
    from .canary import rehearse

    return rehearse(cage)
