"""The warm engine: one process a project that answers the command and HTTP hooks of a host program; docs/daemon.md.

An adapter that can be served so has ``warm(directory)``: an async context manager that opens the engine for a project
and gives a function from one payload of the host to what it is told: an object, or plain text. Importing this package costs nothing: of
many that start an engine at once, all but one are here for no more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .control import Status
    from .ports import Endpoint

CLIENT = Path(__file__).with_name("client.py")
"""To be run as ``python -I -S -E client.py HOST EVENT open|closed [PROJECT [SECONDS]]``."""


def compile_client(folder: Path) -> Path | None:
    """Compile the client in C into a folder, which is made; ``None`` where no compiler can do it.

    It is run as ``matrixx-client PYTHON HOST EVENT open|closed [PROJECT [SECONDS]]``.
    """
    from .compiling import compile_client

    return compile_client(folder)


def endpoint(directory: Path) -> Endpoint:
    """Where the project's engine answers HTTP, which the settings of a host program may name; it stays the same."""
    from .ports import endpoint

    return endpoint(directory)


def status(directory: Path) -> Status | None:
    """The engine of the project as it tells of itself; ``None`` if none runs, or it does not answer."""
    from .control import status

    return status(directory)


def stop(directory: Path) -> bool:
    """End the engine of the project, by asking at first, by force at last; true if there was one."""
    from .control import stop

    return stop(directory)


def serve(directory: Path, handed: Sequence[int] = ()) -> None:
    """Serve the project until nobody needs it; returns at once if another engine does.

    ``handed`` are the open files of an engine that makes place: lock, socket and, if it had one, port.
    """
    from .place import claim, make_folder, place_of

    place = place_of(directory)
    make_folder(place)
    lock = handed[0] if handed else claim(place)
    if lock is not None:
        from .serving import main

        main(place, lock, handed[1:])
