"""OpenCode 1.18: the adapter, the plugin file it installs, and the client for its API."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def serve() -> None:
    """Answer one OpenCode process on standard input and output until it ends."""
    from .serve import main

    main()


async def replay(
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
