"""Claude Code 2.1: the adapter that a warm engine holds, and the handlers it installs."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..changes import Installation
from ..findings import Finding

if TYPE_CHECKING:
    from ...canary.cage import Cage
    from ...rehearsal.turns import Request


def serve() -> None:
    """Claude Code starts no engine of its own: its handlers ask the project's warm one."""
    raise click.UsageError("Claude Code asks the project's warm engine, which starts by itself; by hand: matrixx serve daemon")


@asynccontextmanager
async def warm(directory: Path) -> AsyncGenerator[Callable[[Mapping[str, Any]], Awaitable[dict[str, Any] | str]]]:
    """A project's engine: a function that answers one payload with the JSON object, or the plain text, to give back."""
    import anyio

    from matrixx_core.host import Host
    from matrixx_core.watchdog import watching

    from ...services.warming import warm as warm_up
    from .adapter import ClaudeCode
    from .client import ClaudeCodeClient

    client = ClaudeCodeClient()
    async with Host.open(directory, client=client) as host, anyio.create_task_group() as beside:
        with watching(host.rules.running):
            beside.start_soon(partial(anyio.to_thread.run_sync, warm_up, abandon_on_cancel=True))
            yield ClaudeCode(host, client).answer
            beside.cancel_scope.cancel()


async def play(
    lines: Iterable[tuple[int, Mapping[str, Any]]],
    emit: Callable[[dict[str, Any]], None],
    *,
    directory: Path,
    config: Sequence[Path] = (),
    disabled: Sequence[str] = (),
) -> None:
    """Play recorded payloads through an engine and emit a record for each (``matrixx replay``)."""
    from .replay import replay

    await replay(lines, emit, directory=directory, config=config, disabled=disabled)


def found() -> str:
    """Where this host program is on the machine, or ``""``."""
    from .install import program

    return program()


def installed(directory: Path | None) -> Path | None:
    """The settings file with handlers of ours in a project, or without one the user's; ``None`` where there is none."""
    from .install import installed

    return installed(directory)


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
    from .capabilities import OBEYED

    return OBEYED


def offered() -> Collection[str]:
    """The tools that there can be here, by canonical name, besides those of MCP servers."""
    from .capabilities import OFFERED

    return OFFERED


def findings(directory: Path, *, asked: bool) -> Iterator[Finding]:
    """Look for what keeps this host from being guarded (``matrixx doctor``)."""
    from .examine import examine

    yield from examine(directory, asked=asked)


def rehearse(cage: "Cage") -> "Sequence[Request]":
    """Play the canary's calls in the real program (``matrixx doctor --canary``) and give the requests that the model got."""
    from .canary import rehearse

    return rehearse(cage)
