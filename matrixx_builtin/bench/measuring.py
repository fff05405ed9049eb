"""Contenders in turn, in random order, and the median of the ratios of each turn."""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Contender: TypeAlias = Callable[[], float]
"""Does its work once or some times over, and returns the seconds that one took."""

Turns: TypeAlias = Mapping[str, Sequence[float]]
"""By contender the seconds of each turn; equal places are the same turn."""


class Skipped(Exception):
    """A row that cannot be measured here, and why."""

    def __init__(self, row: str, why: str) -> None:
        super().__init__(f"{row}: {why}")
        self.row, self.why = row, why


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table. ``amount`` and ``base`` are medians, ``ratio`` is the median of the turns' own ratios."""

    row: str
    case: str
    amount: float
    baseline: str
    base: float
    ratio: float
    goal: str = ""
    unit: str = "s"


def turns(contenders: Mapping[str, Contender], rounds: int) -> Turns:
    """Let every contender have ``rounds`` turns, in another order each time, after one that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    for name in order:
        contenders[name]()
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            taken[name].append(contenders[name]())
    return taken


def compared(row: str, taken: Turns, contender: str, baseline: str, goal: str = "") -> Case:
    """One contender against another of the same turns."""
    ratios = [one / other for one, other in zip(taken[contender], taken[baseline], strict=True)]
    middle = statistics.median
    return Case(row, contender, middle(taken[contender]), baseline, middle(taken[baseline]), middle(ratios), goal)


def times(scale: float, count: int, least: int = 1) -> int:
    """A number of repetitions, scaled."""
    return max(least, round(scale * count))


def timed(work: Callable[[], object], repeat: int = 1) -> Contender:
    """A contender that does this work ``repeat`` times a turn."""

    def turn() -> float:
        started = time.perf_counter()
        for _ in range(repeat):
            work()
        return (time.perf_counter() - started) / repeat

    return turn


def spawned(*command: str, feed: bytes = b"") -> Contender:
    """A contender that runs a program to its end."""
    return timed(lambda: subprocess.run(command, input=feed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False))


PYTHON = "python -c pass"
bare_python: Contender = spawned(sys.executable, "-c", "pass")


@contextmanager
def scratch() -> Generator[Path]:
    """A folder for one row, with a project in it; no settings and no state of the user's are seen or touched."""
    with tempfile.TemporaryDirectory(prefix="matrixx-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        (folder / "project").mkdir()
        (folder / "run").mkdir(mode=0o700)
        ours = {
            "MATRIXX_STATE_DIR": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_RUNTIME_DIR": str(folder / "run"),
        }
        former = {key: os.environ.get(key) for key in ours}
        os.environ.update(ours)
        try:
            yield folder
        finally:
            for key, value in former.items():
                os.environ.pop(key) if value is None else os.environ.update({key: value})
