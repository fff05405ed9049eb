"""What ``matrixx doctor`` tells of the warm engine."""

import time
from collections.abc import Iterator
from pathlib import Path

from ..hosts.findings import Finding
from .client import is_private
from .control import status
from .fingerprint import fingerprint
from .place import holder, place_of

RESTART = "run: matrixx serve daemon --stop (the next hook starts it again)"


def examine(directory: Path) -> Iterator[Finding]:
    """Look at the engine of the project and at its place."""
    place = place_of(directory)
    folder = place.socket.parent
    if folder.exists() and not is_private(str(folder)):
        yield Finding("error", f"{folder} is not this user's alone", "no warm engine is started or trusted there", f"remove {folder}")
        return
    found = status(directory)
    if found is None:
        if pid := holder(place):
            yield Finding(
                "error", f"the warm engine (process {pid}) does not answer", "command and HTTP hooks wait for it in vain", RESTART
            )
        else:
            yield Finding("ok", "no warm engine is running here", "the first command hook starts it; OpenCode needs none")
        return
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.since))
    port = f", port {found.port}" if found.port else ""
    yield Finding("ok", f"a warm engine {found.version} is running: process {found.pid} since {since}, {found.requests} events{port}")
    if found.problem:
        yield Finding("warn", "the warm engine has no port", found.problem, f"end the program that has it, then {RESTART}")
    if found.plugins != fingerprint():
        yield Finding(
            "ok", "the warm engine is of other versions or plugins than are installed", "it is replaced at one of the next events"
        )
