"""The engine as commands use it: a project's plugins, and a run that leaves nothing behind."""

import logging
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pluggy

from matrixx_core import specs
from matrixx_core.loading import Found, Plugins, installed, load_installed
from matrixx_core.markers import PROJECT
from matrixx_core.plan import Step, make_plans
from matrixx_core.settings import Settings, load_settings

LIFECYCLE = [name for name, spec in vars(specs).items() if hasattr(spec, f"{PROJECT}_spec")]
"""All hookspecs, in the order of a session's life."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project's settings and plugins, loaded as an engine would load them; no plugin is told that it was opened."""

    directory: Path
    settings: Settings
    found: Mapping[str, Found]
    plugins: Plugins

    def steps(self) -> dict[str, list[tuple[str, Step]]]:
        """Each loaded plugin's hooks with their event, in lifecycle order; those whose gate is shut are told too."""
        names = [name for name in self.found if name in self.plugins.order]
        return steps_of({name: self.found[name].entry.load() for name in names})


def open_project(directory: Path) -> Project:
    """Read the project's settings and load what they leave on."""
    settings = load_settings(directory)
    found = installed()
    return Project(directory, settings, found, load_installed(settings, found=found))


def steps_of(modules: Mapping[str, Any]) -> dict[str, list[tuple[str, Step]]]:
    """The hooks of plugins that are known to load, by plugin, with the event each answers."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(specs)
    for name, module in modules.items():
        manager.register(module, name)
    order = {name: position for position, name in enumerate(modules)}
    steps: dict[str, list[tuple[str, Step]]] = {name: [] for name in modules}
    for event in LIFECYCLE:
        for step in make_plans(getattr(manager.hook, event), order, {}, {}).steps:
            steps[step.plugin].append((event, step))
    return steps


@contextmanager
def log_lines(level: int = logging.WARNING) -> Generator[None]:
    """Write the engine's log to standard error, one line a record: a stranger's traceback helps nobody here.

    ``level=logging.CRITICAL`` is for commands that tell the same themselves.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    handler.setLevel(level)
    log = logging.getLogger(PROJECT)
    propagated = log.propagate
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = propagated


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from ..services.redaction import redact

        return redact(f"matrixx: {' '.join(record.getMessage().split())}")
