"""Show a notice on the desktop when a session waits for its person.

Once for each time that a main session falls idle, a moment later, so that one who goes on at once is not disturbed; and when it
asks a question or for permission. Sub-agents are silent.
"""

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import wake
from matrixx_core import ChatMessage, HostClient, Session, SessionEvent, observe
from matrixx_core.errors import ClientError
from matrixx_core.settings import TRUSTED_ONLY

from . import backends

NAME = "session-notification"
SETTINGS_KEY = "notification"

DEADLINE = 10.0
"""Seconds for asking the host and showing a notice."""

ASKED = {"question.asked": "It asks you something.", "permission.asked": "It asks for your permission."}
OTHERS = ("opencode-notifier", "opencode-notify")
"""Plugins of hosts that do the same (spec session-hooks D8)."""

log = logging.getLogger("matrixx")


class Config(BaseModel):
    model_config = ConfigDict(frozen=True)

    force_enable: bool = Field(default=False, description="Show notices even where another notifier is among the host's plugins.")
    delay_ms: int = Field(default=1_500, ge=0, le=60_000, description="How long a session must stay idle first, in ms.")
    sound: bool = Field(default=False, description="Play a sound as well.")
    command: list[str] = Field(
        default=[],
        description="A program of your own that shows notices, with arguments; title and text follow.",
        json_schema_extra=TRUSTED_ONLY,  # a project could name any program
    )


@dataclass(slots=True)
class Idle:
    """A session's present spell of idleness: its number, whether it was told of, and whether its person has written here."""

    spell: int = 0
    told: bool = False
    prompted: bool = False


@observe
def chat_message(message: ChatMessage, session: Session) -> None:
    """The person is here."""
    _awake(session)
    session.state(Idle).prompted = not session.parent


@observe(types={"session.idle", "session.status", *ASKED})
def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    if event.type in ASKED:
        session.beside(NAME, DEADLINE, _tell, session, client, config, ASKED[event.type])
    elif event.type == "session.idle":
        session.beside(NAME, DEADLINE + config.delay_ms / 1_000, _told_later, session, client, config, session.state(Idle).spell)
    elif event.properties.get("status") != {"type": "idle"}:
        _awake(session)


def _awake(session: Session) -> None:
    idle = session.state(Idle)
    idle.spell += 1
    idle.told = False


async def _told_later(session: Session, client: HostClient, config: Config, spell: int) -> None:
    await asyncio.sleep(config.delay_ms / 1_000)
    idle = session.state(Idle)
    if idle.spell != spell or idle.told or session.state(wake.Wake).busy or await _has_todos(session, client):
        return
    idle.told = True
    await _tell(session, client, config, "It waits for you.")


async def _tell(session: Session, client: HostClient, config: Config, text: str) -> None:
    if not await _is_main(session, client) or (not config.force_enable and _has_other_notifier(session.directory)):
        return
    shown = await backends.show(Path(session.directory).name or "Matrixx", text, command=config.command, sound=config.sound)
    if not shown:
        log.info("session-notification: nothing here can show a notice")


async def _is_main(session: Session, client: HostClient) -> bool:
    """A sub-agent, and a session of which nothing is known, disturb nobody."""
    if session.parent or session.state(Idle).prompted:
        return not session.parent
    try:
        found = next((one for one in await client.sessions() if one.get("id") == session.id), None)
    except ClientError:
        return False
    return found is not None and not found.get("parentID")


async def _has_todos(session: Session, client: HostClient) -> bool:
    """Whether something will likely go on by itself."""
    try:
        return any(todo.get("status") not in {"completed", "cancelled"} for todo in await client.todo(session.id))
    except ClientError:
        return False


def _has_other_notifier(directory: str) -> bool:
    places = [Path(directory), Path(directory, ".opencode"), Path.home() / ".config/opencode"]
    for path in (place / name for place in places for name in ("opencode.json", "opencode.jsonc")):
        try:
            text = path.read_text("utf-8", "replace")
        except (OSError, ValueError):
            continue
        if any(name in text for name in OTHERS):
            return True
    return False
