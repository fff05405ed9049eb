"""What a running engine is made of: other plugins, or another version, and it is out of date."""

import hashlib
import os
import sys
import time
from pathlib import Path

from importlib_metadata import version

from matrixx_core.loading import installed

LOOK = 1.0
"""Seconds between two looks at the folders of the path; an installer must have been quiet for as long."""


def fingerprint() -> str:
    """A digest of the version, the plugins with theirs, and the interpreter."""
    plugins = sorted((one.name, one.dist, one.version) for one in installed().values())
    return hashlib.sha256(repr((version("matrixx-core"), plugins, sys.executable)).encode()).hexdigest()[:16]


def is_other(interpreter: str) -> bool:
    """Whether a client's interpreter has other packages than this one; one that is not there has none."""
    if interpreter == sys.executable:
        return False
    path = Path(interpreter)
    return path.is_absolute() and path.is_file() and os.access(path, os.X_OK) and _environment(path) != _environment(Path(sys.executable))


def _environment(interpreter: Path) -> tuple[Path, Path]:
    return interpreter.parent.resolve(), interpreter.resolve()  # the folder is a virtual environment's own, the program is not


class Watch:
    """Tells when what is installed has changed since this was made."""

    def __init__(self) -> None:
        self._settled = self._seen = _folders()
        self._looked = time.monotonic()
        self.made_of = fingerprint()

    def has_changed(self) -> bool:
        """Looks at most once a second, and costs next to nothing in between."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return False
        self._looked = now
        before, self._seen = self._seen, _folders()
        if self._seen == self._settled or self._seen != before:
            return False
        self._settled = self._seen
        return fingerprint() != self.made_of


def _folders() -> list[tuple[str, int]]:
    return [(folder, _changed(folder)) for folder in sys.path]


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns  # noqa: PTH116  a string costs half of a path, and this is asked often
    except OSError:
        return 0
