"""Remind the model of the knowledge hubs when it goes to the web.

Beside the first searches and fetches of a conversation; nothing is stopped, and without hubs nothing is said.
"""

from dataclasses import dataclass

from matrixx_builtin.services.knowledge import OFF, KnowledgeSettings, hubs_of
from matrixx_core import Inject, Session, SessionEvent, ToolCall, observe, rewrite

SETTINGS_KEY = "knowledge"

WEB = {"websearch", "webfetch", "codesearch"}

MOST, LONGEST, NAMES = 2, 300, 200
"""Reminders of one conversation, characters of each, and of the hubs' names in it (spec session-hooks F2)."""


class Config(KnowledgeSettings):
    """Which folders are knowledge hubs."""


@dataclass(slots=True)
class Told:
    """How often it was said since the conversation was last summarised."""

    times: int = 0


def off_because(config: Config) -> str:
    return "" if config.hubs else OFF


@observe(types={"session.compacted"})
def session_event(event: SessionEvent, session: Session) -> None:
    session.state(Told).times = 0


@rewrite(tools=WEB)
def tool_execute_before(call: ToolCall, session: Session, config: Config) -> Inject | None:
    told = session.state(Told)
    if told.times >= MOST or not (hubs := hubs_of(config, call.directory).found):
        return None
    told.times += 1
    names = ", ".join(f"{hub.name} ({hub.settings.index})" for hub in hubs)
    return Inject(f"[knowledge] The user's own notes may hold this: {names[:NAMES]}. Look there before the web."[:LONGEST], priority="low")
