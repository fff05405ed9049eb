"""Adapters, one host program each, found through the entry-point group ``matrixx.hosts``.

An adapter is a module with ``serve()``, ``play(...)``, ``found()``, ``installation(...)``, ``removal(...)``,
``obeyed()`` and ``findings(...)``; see ``matrixx_builtin.hosts.opencode`` for the shapes. It may have ``warm(directory)``, to be
held by the warm engine (``matrixx_builtin.daemon``), ``offered()``, the only tools that there can be, and ``rehearse(cage)``, to be
tried by the canary (``matrixx_builtin.canary``); see ``matrixx_builtin.hosts.claude_code``.
"""

from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import entry_points
from itertools import chain
from types import ModuleType
from typing import NamedTuple, TypeAlias, get_args, get_type_hints

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


Steps: TypeAlias = Mapping[str, Sequence[tuple[str, Step]]]
"""By plugin, each of its hooks with the event that it answers."""


class Limit(NamedTuple):
    """What a hook cannot do on a host; ``whole`` is true where that is all that it does."""

    plugin: str
    whole: bool
    denied: Sequence[str]
    """Each completes the sentence "the host never lets a hook ..."."""


def limits_on(host: ModuleType, steps: Steps) -> list[Limit]:
    """The hooks that cannot do all of their work on a host, by its adapter's own tables."""
    return limits(steps, host.obeyed(), host.offered() if hasattr(host, "offered") else None)


def limits(steps: Steps, obeyed: Mapping[str, str], offered: Collection[str] | None = None) -> list[Limit]:
    """The same, those that can do nothing first; ``offered`` are the only tools that there can be (``None``: any)."""
    found: list[Limit] = []
    for plugin, answers in steps.items():
        absent = [_absent(step, event, offered) for event, step in answers]
        denied = [missing or _denied(event, step, obeyed) for missing, (event, step) in zip(absent, answers, strict=True)]
        if any(denied):
            acts = any(
                event not in LIFETIME and event in obeyed and not missing and len(said) < max(len(_may_answer(step)), 1)
                for (event, step), missing, said in zip(answers, absent, denied, strict=True)
            )
            found.append(Limit(plugin, not acts, list(dict.fromkeys(chain.from_iterable(denied)))))
    return sorted(found, key=lambda limit: not limit.whole)


def blind_spots(steps: Steps, obeyed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Hooks that cannot do all of their work on a host, each with why."""
    return [(limit.plugin, f"the host never lets a hook {denied}") for limit in limits(steps, obeyed) for denied in limit.denied]


def _denied(event: str, step: Step, obeyed: Mapping[str, str]) -> list[str]:
    what = SUBJECTS.get(event, event)
    if event not in obeyed:
        return [f"see {what}" if event != "tools" else "bring tools (`matrixx mcp` offers them)"]
    return [_VERBS[kind].format(what) for kind in sorted(_may_answer(step) - set(obeyed[event].split()))]


def _absent(step: Step, event: str, offered: Collection[str] | None) -> list[str]:
    """Of a hook that is about tools which the host does not have."""
    names = step.subjects.names
    if offered is None or not event.startswith("tool_") or step.subjects.others or not names or names & set(offered):
        return []
    return [f"see a call of {' or '.join(sorted(names)[:3])}: it has no such tool"]


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

_VERBS = {"allow": "grant {}", "block": "refuse {}", "change": "change {}", "inject": "add text to {}"}

LIFETIME = {"host_opened", "host_closed"}
"""Hookspecs that frame the work of a hook and are none of it."""

SUBJECTS = {
    "host_opened": "its start",
    "session_event": "an event of a session",
    "chat_message": "a prompt",
    "command_execute_before": "a slash command",
    "tool_definition": "the description of a tool",
    "messages_transform": "the messages that the model reads",
    "system_transform": "the system prompt",
    "chat_params": "the parameters of a request to the model",
    "chat_headers": "the headers of a request to the model",
    "tool_execute_before": "a tool call",
    "permission_asked": "a question for permission",
    "shell_env": "the environment of a command",
    "tool_execute_after": "the result of a tool call",
    "tool_execute_failed": "the error of a tool call",
    "text_complete": "the text of an answer",
    "session_compacting": "the summary of a session",
    "host_closed": "its end",
}
"""What each hookspec is about, in words."""
