"""The host programs that this suite can drive, each in a folder of its own with a ``runner`` module."""

import os
import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

NAMES = sorted(path.parent.name for path in Path(__file__).parent.glob("*/runner.py"))


ROOT = Path(__file__).parents[2]


def found(variable: str, name: str, others: Sequence[Path]) -> Path | None:
    """A program: named by a variable of the environment, at one of the other places, or on PATH."""
    named, on_path = os.environ.get(variable), shutil.which(name)
    candidates = [*map(Path, filter(None, [named])), *others, *map(Path, filter(None, [on_path]))]
    return next((path for path in candidates if os.access(path, os.X_OK)), None)


def runner_of(name: str) -> Any:
    """A host's runner module: ``find()`` and ``start(program, folder)``."""
    return import_module(f".{name}.runner", __package__)


def program(name: str) -> Path:
    """Where a host program lies; where it is not installed the test is skipped, or fails if hosts are required."""
    found: Path | None = runner_of(name).find()
    if found is None:
        absent = f"{name} is not installed, so nothing was tested in it"
        (pytest.fail if os.environ.get("MATRIXX_REQUIRE_HOSTS") == "1" else pytest.skip)(absent)
    return found
