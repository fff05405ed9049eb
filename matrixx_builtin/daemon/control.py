"""What other processes ask the warm engine of a project: who it is, and to end."""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .place import Place, connect, holder, lives, place_of

ITSELF = "-"
"""In the place of a host's name: the event ``status`` or ``stop`` is for the engine itself."""

PATIENCE = 2.0
"""Seconds for the answer, and for its end when it was told to."""


@dataclass(frozen=True, slots=True)
class Status:
    """A running engine, as it tells of itself. ``port`` is 0, and ``problem`` says why, where HTTP is not answered."""

    pid: int
    since: float = 0.0
    version: str = ""
    python: str = ""
    plugins: str = ""
    port: int = 0
    problem: str = ""
    programs: Sequence[int] = ()
    requests: int = 0


def status(directory: Path) -> Status | None:
    """The engine of the project; ``None`` if none runs, or it does not answer."""
    told = _asked(place_of(directory), "status")
    try:
        said = json.loads(told) if told else {}
        return Status(**{field.name: said[field.name] for field in fields(Status) if field.name in said}) if said else None
    except (ValueError, TypeError):  # of another version it may lack what is new, and tell what is not known here
        return None


def stop(directory: Path) -> bool:
    """End the engine of the project, by asking at first, by force at last; true if there was one.

    Its place is free then. Events in hand may keep the process for longer, and are waited for no more than two seconds.
    """
    place = place_of(directory)
    pid = holder(place)
    if pid is None:
        return False
    _asked(place, "stop")
    for way in (None, signal.SIGTERM, signal.SIGKILL):
        if way is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, way)
        if _comes_true(lambda: holder(place) != pid):
            break
    _comes_true(lambda: not lives(pid))
    return True


def _comes_true(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _asked(place: Place, event: str) -> bytes:
    connection = connect(place, PATIENCE)
    if connection is None:
        return b""
    parts: list[Any] = []
    with connection, contextlib.suppress(OSError):
        connection.sendall(f"matrixx 1 {ITSELF} {event} {os.getpid()} {sys.executable}\n".encode())
        connection.shutdown(1)
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts).partition(b"\n")[2]
