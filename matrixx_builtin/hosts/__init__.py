"""Adapters, one host program each, found through the entry-point group ``matrixx.hosts``.

An adapter is a module with ``serve()``, ``installer(...)``, ``examine(...)`` and ``replayer(...)``; see
``matrixx_builtin.hosts.opencode`` for the shapes.
"""

from types import ModuleType

import click
from importlib_metadata import entry_points

from matrixx_core.settings import HOSTS


def host_names() -> list[str]:
    """The installed adapters."""
    return sorted(entry_points(group=HOSTS).names)


def host_module(name: str) -> ModuleType:
    """The adapter of this name; raises ``click.UsageError`` that lists the installed ones."""
    found = entry_points(group=HOSTS, name=name)
    if not found:
        raise click.UsageError(f"no adapter for {name!r} is installed; there are: {', '.join(host_names())}")
    module: ModuleType = next(iter(found)).load()
    return module
