"""Adapters, one host program each, found through the entry-point group ``matrixx.hosts``.

An adapter is a module with ``serve()``, ``play(...)``, ``found()``, ``installation(...)``, ``removal(...)``,
``obeyed()`` and ``findings(...)``; see ``matrixx_builtin.hosts.opencode`` for the shapes.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from types import ModuleType
from typing import get_args, get_type_hints

import click

from matrixx_core.answers import Allow, Block, Inject
from matrixx_core.events import Event
from matrixx_core.plan import Step
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


def blind_spots(steps: Mapping[str, Sequence[tuple[str, Step]]], obeyed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Hooks that cannot do all of their work on a host, each with why; ``obeyed`` is the adapter's own table."""
    spots: list[tuple[str, str]] = []
    for plugin, answers in steps.items():
        for event, step in answers:
            if event not in obeyed:
                spots.append((plugin, f"the host never reports {event}"))
                continue
            ignored = sorted(_may_answer(step) - set(obeyed[event].split()))
            spots += [(plugin, f"the host ignores {_WORDS[kind]} at {event}") for kind in ignored]
    return spots


_WORDS = {"block": "a refusal", "allow": "a grant", "change": "a change", "inject": "added text"}


def _may_answer(step: Step) -> set[str]:
    """What a hook may answer, by its wave and its return annotation; nothing is known of one without."""
    try:
        answer = get_type_hints(step.hook).get("return")
    except (NameError, TypeError):
        return set()
    given = {
        kind
        for kind, types in _ANSWERS.items()
        for one in get_args(answer) or (answer,)
        if isinstance(one, type) and issubclass(one, types)
    }
    return given & _TAKEN.get(step.wave, set())


_ANSWERS: Mapping[str, type] = {"block": Block, "allow": Allow, "inject": Inject, "change": Event}
_TAKEN = {"guard": {"block", "allow", "inject"}, "rewrite": {"change", "inject"}}
