"""Keep knowledge hubs as they are until their person lets an agent write there.

Hubs are folders of notes (``knowledge.hubs``). Reading is free. ``/knowledge allow <hub>``, or ``<hub>/<page>``, typed by the person, opens
that place for ten minutes in their session; no tool and no text of the model's can. What a hub excludes stays writable.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from matrixx_builtin.services.effects import Effects, effects_of
from matrixx_builtin.services.effects.matching import covers
from matrixx_builtin.services.knowledge import OFF, Hub, KnowledgeSettings, hubs_of, is_excluded, parsed, within
from matrixx_builtin.services.sensitive import FILELESS_TOOLS, printable
from matrixx_builtin.services.slash import Typed, typed
from matrixx_core import Block, ChatMessage, Command, Inject, Session, ToolCall, guard, rewrite

SETTINGS_KEY = "knowledge"

COMMAND = "knowledge"

ALLOWED = 600.0
"""Seconds for which a place stays open (spec session-hooks F1)."""


class Config(KnowledgeSettings):
    """Which folders are knowledge hubs."""


@dataclass(slots=True)
class Allowed:
    """Places that the person has opened: hub and path within it, each with the end of its time (monotonic clock)."""

    until: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])

    def covers(self, hub: Hub, rest: str) -> bool:
        now = time.monotonic()
        return any(
            name == hub.name and now < end and (place in {"", rest} or rest.startswith(f"{place}/"))
            for (name, place), end in self.until.items()
        )


def off_because(config: Config) -> str:
    return "" if config.hubs else OFF


@guard(but=FILELESS_TOOLS | {"read", "glob", "grep"})
def tool_execute_before(call: ToolCall, session: Session, config: Config) -> Block | Inject | None:
    effects = effects_of(call)
    if not (effects.writes or effects.deletes or effects.unknown):
        return None
    hubs = hubs_of(config, call.directory).found
    allowed = session.state(Allowed)
    for hub, rest in _changed(effects, hubs):
        if not allowed.covers(hub, rest):
            place = printable(f"{hub.name}/{rest}" if rest else hub.name)
            return Block(
                f"'{place}' belongs to the knowledge hub {hub.name!r}, which agents read and do not change",
                "write to a file of the project, or tell the user what you would note there.",
                f"type /knowledge allow {place}, which opens it to you for ten minutes",
            )
    command = str(call.args.get("command") or "")
    unclear = next((hub for hub in hubs if effects.unknown and (hub.root in command or hub.place in command)), None)
    return Inject(f"The knowledge hub {unclear.name!r} is to be read only; what this call does to it cannot be told.") if unclear else None


@rewrite
def chat_message(message: ChatMessage, session: Session, config: Config) -> Inject | None:
    return allow(typed(message, session), session, config)


@rewrite
def command_execute_before(command: Command, session: Session, config: Config) -> Inject | None:
    return allow(typed(command, session), session, config)


def allow(command: Typed | None, session: Session, config: Config) -> Inject | None:
    """Open the place that the person names, or say what there is; of another command nothing."""
    if command is None or command.name != COMMAND:
        return None
    hubs = hubs_of(config, session.directory).found
    verb, _, given = command.text.partition(" ")
    reference = given.strip().strip("\"'`")
    found = parsed(reference if reference.startswith(("hub:", "@")) else f"@{reference}", hubs) if verb == "allow" else None
    if found is None:
        names = ", ".join(hub.name for hub in hubs) or "none that can be found"
        return Inject(
            f"[knowledge] /knowledge allow HUB, or HUB/PAGE, opens a hub. There are: {names}. Nothing was opened.", priority="high"
        )
    hub, rest = found
    session.state(Allowed).until[hub.name, rest] = time.monotonic() + ALLOWED
    place = f"{hub.name}/{rest}" if rest else hub.name
    return Inject(f"[knowledge] The user lets you change '{place}' ({hub.root}) for ten minutes.", priority="high")


def _changed(effects: Effects, hubs: tuple[Hub, ...]) -> Iterator[tuple[Hub, str]]:
    """Each hub that the call changes, and where; the whole of it where a folder above it goes."""
    for hub in hubs:
        for touch in (*effects.writes, *effects.deletes):
            rest = next((rest for path in (touch.path, touch.link) if path and (rest := within(hub, path)) is not None), None)
            if rest is not None and not is_excluded(hub, rest):
                yield hub, rest
        if any(covers(touch, hub.root) or covers(touch, hub.place) for touch in effects.deletes):
            yield hub, ""
