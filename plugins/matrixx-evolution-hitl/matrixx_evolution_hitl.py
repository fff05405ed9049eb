"""Let the person, and nobody else, decide what an agent has learned; off until asked for.

``/evolution list``, ``show``, ``approve`` and ``reject``, typed by the person. Only what was shown in this session, and as it was shown, can
be approved; then it is a skill of the project, in the folders where hosts look. That something waits is told once an hour.
"""

from dataclasses import dataclass, field

from anyio.to_thread import run_sync

from matrixx_builtin.services import evolution
from matrixx_builtin.services.evolution import EvolutionSettings, Lesson
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.slash import Typed, typed
from matrixx_core import ChatMessage, Command, HostClient, Inject, Session, rewrite
from matrixx_core.events import by_person

SETTINGS_KEY = evolution.SETTINGS_KEY

COMMAND = "evolution"

REMIND = 3_600.0
"""Seconds between two reminders in one project (spec session-hooks C5)."""

USAGE = "/evolution list, /evolution show NAME, /evolution approve NAME, /evolution reject NAME"


class Config(EvolutionSettings):
    """Whether there is anything to decide."""


@dataclass(slots=True)
class Shown:
    """The revision of each lesson that the person was shown here."""

    revisions: dict[str, str] = field(default_factory=dict[str, str])


def off_because(config: Config) -> str:
    return "" if config.enabled else evolution.OFF


@rewrite
async def chat_message(message: ChatMessage, session: Session, client: HostClient, config: Config) -> Inject | None:
    if not config.enabled or session.parent or not session.directory or not by_person(message.parts):
        return None
    if command := typed(message, session):
        return await answer(command, session)
    if waiting := await run_sync(_waiting, session.directory):
        await client.toast(f"{waiting} learned from earlier sessions and waiting for you: /evolution list")
    return None


@rewrite
async def command_execute_before(command: Command, session: Session, config: Config) -> Inject | None:
    return await answer(typed(command, session), session) if config.enabled and session.directory else None


async def answer(command: Typed | None, session: Session) -> Inject | None:
    """Do what the person asks for, and let the model tell them; of another command nothing."""
    if command is None or command.name != COMMAND:
        return None
    verb, _, name = command.text.partition(" ")
    try:
        said = await run_sync(_done, verb.lower(), name.strip().strip("\"'`"), session)
    except (RecordError, OSError) as error:
        said = f"Nothing was changed: {error}"
    return Inject(f"[evolution] {said}\nTell the user this as it stands, and do nothing else.", priority="high")


def _done(verb: str, name: str, session: Session) -> str:
    waiting = {lesson.slug: lesson for lesson in evolution.pending(session.directory)}
    if verb in {"", "list"}:
        return "\n".join(["Waiting: " + ("" if waiting else "nothing"), *map(_line, waiting.values())])
    lesson = waiting.get(name)
    if verb not in {"show", "approve", "reject"} or lesson is None:
        return f"{f'Nothing called {name[:60]!r} waits. ' if name else ''}Usage: {USAGE}"
    shown = session.state(Shown).revisions
    if verb == "show":
        shown[name] = lesson.revision
        return f"{_line(lesson)}\nIt would be this skill:\n{lesson.text}"
    if verb == "approve" and shown.get(name) != lesson.revision:
        return f"{name} was not shown here as it is now, so it cannot be approved yet: /evolution show {name}"
    paths = evolution.settle(session.directory, lesson, approved=verb == "approve")
    return f"{name} is {', '.join(map(str, paths))} from now on." if paths else f"{name} was dropped."


def _line(lesson: Lesson) -> str:
    return f"- {lesson.slug}: from {lesson.traces} calls, confidence {lesson.confidence:g}, revision {lesson.revision}"


def _waiting(directory: str) -> int:
    """How many lessons wait, if it is time to say so."""
    try:
        count = len(evolution.pending(directory))
        return count if count and evolution.is_due(directory, "last_prompt_at", REMIND) else 0
    except (RecordError, OSError):
        return 0
