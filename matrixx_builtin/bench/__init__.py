"""How fast Matrixx is, in ratios to something measured in the same minute; ``matrixx bench`` prints it.

Every module of ``rows`` is one row of the goals: it measures its contenders in turn, in random order, and tells the
median of the ratios. Nothing here judges: machines and their other work differ.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module

from .measuring import Case, Skipped

ROWS = ("unwanted", "dispatch", "bridge", "secrets", "commit", "start", "clients", "memory")
"""The rows in the order of the goals; each is a module ``rows.<name>`` with ``cases(scale)``."""


def run(names: Sequence[str] = ROWS, scale: float = 1.0) -> Iterator[Case | Skipped]:
    """Measure rows, one after another; ``scale`` is a factor on how often, 1 for figures that hold."""
    for name in names:
        try:
            yield from import_module(f"{__name__}.rows.{name}").cases(scale)
        except Skipped as skipped:
            yield Skipped(name, skipped.why)
