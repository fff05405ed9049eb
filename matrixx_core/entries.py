"""The entry points of all installed distributions, scanned once."""

import os
import sys
from functools import lru_cache

from importlib_metadata import EntryPoints, entry_points


def entries(group: str) -> EntryPoints:
    """The entry points of one group; they are scanned again when a distribution has come or gone."""
    return _scanned(tuple((folder, _changed(folder)) for folder in sys.path)).select(group=group)


@lru_cache(maxsize=1)
def _scanned(_folders: tuple[tuple[str, int], ...]) -> EntryPoints:
    return entry_points()


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns  # noqa: PTH116  zip files and what does not exist are on the path, too
    except OSError:
        return 0
