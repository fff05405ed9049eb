"""Who may wake a session: hooks offer a prompt, and at most one is sent for each time the session falls idle.

The rules are section K of the session spec: one arbiter, common gates, a reservation before sending, and an end when
nothing changes. An adapter asks ``decide`` when its host reports that a session is idle, sends what it gets in the way its
host takes prompts, and tells ``settle`` how that went.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from matrixx_core import HostClient, Session
from matrixx_core.errors import ClientError
from matrixx_core.events import Message, by_person, is_added

Purpose: TypeAlias = Literal["recovery", "fallback", "loop", "mission", "tasks", "background", "babysitter"]
"""What a prompt is for, most urgent first."""

ABORTED = "MessageAbortedError"
"""The name of the error that ends what somebody has aborted (OpenCode's)."""

STOPPED = "[stop-continuation]"
"""Begins the text behind a prompt with which the person has stopped everything."""

UNCHANGED = 3
"""Prompts with the same fingerprint after which a session is left alone until something changes (C25)."""

COOLDOWN = 30.0
"""Seconds without a new prompt after the host refused one."""

SAME_IDLE = 0.5
"""Seconds within which two reports of idleness are one, unless work lay between them (hosts tell it twice; spec 3.6)."""

log = logging.getLogger("matrixx")


@dataclass(frozen=True, slots=True)
class Offer:
    """A prompt that a hook would send; ``fingerprint`` is what must change for another one to make sense.

    ``agent`` and ``model`` (``provider/model``) are the session's own unless said.
    """

    source: str
    purpose: Purpose
    text: str
    fingerprint: str = ""
    agent: str = ""
    model: str = ""


@dataclass(slots=True)
class Wake:
    """What the arbiter knows of one session."""

    offers: list[Offer] = field(default_factory=list[Offer])
    waiting_for_person: set[str] = field(default_factory=set[str])
    running_children: set[str] = field(default_factory=set[str])
    stopped: bool = False
    interrupted: bool = False
    busy: bool = False
    reserved: bool = False
    fingerprint: str = ""
    unchanged: int = 0
    told: bool = False
    not_before: float = 0.0
    said_before: str = ""
    recalled: bool = False
    idle_told: bool = False
    idle_since: float = field(default=-1e9)


def offer(session: Session, one: Offer) -> None:
    """Offer a prompt for the moment that the session falls idle; a second offer of one source replaces its first."""
    wake = session.state(Wake)
    wake.offers = [other for other in wake.offers if other.source != one.source]
    wake.offers.append(one)


def stop(session: Session) -> None:
    """Let nothing wake the session until its person writes again."""
    wake = session.state(Wake)
    wake.stopped = True
    wake.offers.clear()


async def interrupt(session: Session, client: HostClient) -> None:
    """Abort what the session does, in order to go on in another way.

    The adapter tells no hook of it (``was_interrupted``): they would take it for the person's wish to stop. Raises ``ClientError``
    when the host does not do so.
    """
    wake = session.state(Wake)
    wake.interrupted = True
    try:
        await client.abort(session.id)
    except ClientError:
        wake.interrupted = False
        raise


def was_interrupted(session: Session, error: object) -> bool:
    """Whether an error that the host reports is the end of what ``interrupt`` has aborted; true once."""
    wake = session.state(Wake)
    ours = wake.interrupted and _name_of(error) == ABORTED
    wake.interrupted = wake.interrupted and not ours
    return ours


def rearm(session: Session) -> None:
    """The person has written: what came before no longer counts."""
    wake = session.state(Wake)
    wake.stopped = wake.told = False
    wake.unchanged = 0
    wake.fingerprint = ""
    wake.not_before = 0.0


def first_report(session: Session) -> bool:
    """Whether this report of idleness is a new one, not the second telling of the same."""
    wake, now = session.state(Wake), time.monotonic()
    new = not wake.idle_told or now - wake.idle_since >= SAME_IDLE
    wake.idle_told, wake.idle_since = True, now
    return new


def resumed(session: Session) -> None:
    """The session works again: the next report of idleness is a new one, however soon it comes."""
    session.state(Wake).idle_told = False


def decide(session: Session) -> Offer | None:
    """Take the most urgent offer whose gates are open, and reserve the session for it; all other offers are dropped."""
    wake = session.state(Wake)
    offers, wake.offers = [one for one in wake.offers if not closed_gate(session, one.purpose)], []
    if not offers:
        return None
    chosen = min(offers, key=lambda one: get_args(Purpose).index(one.purpose))
    fingerprint = f"{chosen.source}:{chosen.fingerprint}"
    same = fingerprint == wake.fingerprint or (not wake.fingerprint and chosen.text == wake.said_before)
    wake.unchanged = wake.unchanged + 1 if same else 1
    wake.fingerprint = fingerprint
    if wake.unchanged > UNCHANGED:
        return None
    wake.reserved = wake.busy = True
    return chosen


async def choose(session: Session, client: HostClient) -> Offer | None:
    """``decide``, knowing what an engine before this one has sent and what the person has stopped: the conversation tells it."""
    wake = session.state(Wake)
    if wake.offers and not wake.recalled:
        wake.recalled = True
        try:
            _recall(wake, await client.messages(session.id))
        except ClientError as error:
            log.info("what session %s was told before is not known: %s", session.id, error)
    return decide(session)


async def send(session: Session, client: HostClient) -> bool:
    """Choose, and send what was chosen; whether a prompt is on its way. A refused one is logged and starts the cool-down."""
    if (chosen := await choose(session, client)) is None:
        return False
    sent = False
    try:
        await client.prompt(session.id, chosen.text, agent=chosen.agent, model=chosen.model)
        sent = True
    except ClientError as error:
        log.warning("the prompt of %r for session %s could not be sent: %s", chosen.source, session.id, error)
    finally:
        settle(session, sent=sent)
    return sent


def closed_gate(session: Session, purpose: Purpose = "tasks") -> str:
    """Why nothing may wake the session for this purpose now, or ``""``."""
    wake = session.state(Wake)
    gates = {
        "it was stopped": wake.stopped,
        "it waits for the person": bool(wake.waiting_for_person),
        "a child session runs": bool(wake.running_children) and purpose != "babysitter",  # which speaks of that child
        "a prompt is under way": wake.reserved,
        "it is busy": wake.busy,
        "the host refused a prompt a moment ago": time.monotonic() < wake.not_before,
    }
    return next((why for why, closed in gates.items() if closed), "")


def stuck(session: Session) -> bool:
    """Whether the session was given up because nothing changes; true once, so that the person is told once."""
    wake = session.state(Wake)
    if wake.unchanged <= UNCHANGED or wake.told:
        return False
    wake.told = True
    return True


def settle(session: Session, *, sent: bool) -> None:
    """End the reservation: a sent prompt keeps the session busy, a refused one starts the cool-down."""
    wake = session.state(Wake)
    wake.reserved = False
    if not sent:
        wake.unchanged -= 1  # the session has not had its chance
        wake.busy = False
        wake.not_before = time.monotonic() + COOLDOWN


def _recall(wake: Wake, messages: Sequence[Message]) -> None:
    """Read off the conversation what memory would hold: equal prompts of ours since the person wrote, and their stop or abort."""
    wake.busy = wake.busy or bool(messages and _is_ours(messages[-1]))  # it has yet to answer
    for message in reversed(messages):
        texts = [str(part.get("text") or "") for part in message.parts if part.get("type") == "text"]
        if message.role == "user" and by_person(message.parts):
            wake.stopped = wake.stopped or any(text.startswith(STOPPED) for text in texts)
            return
        if _is_ours(message):
            if wake.said_before not in {"", "\n".join(texts)}:
                return
            wake.said_before = "\n".join(texts)
            wake.unchanged += 1
        elif not wake.said_before and _name_of(message.info.get("error")) == ABORTED:
            wake.stopped = True


def _is_ours(message: Message) -> bool:
    return message.role == "user" and bool(message.parts) and all(map(is_added, message.parts))


def _name_of(error: object) -> str:
    return str(error.get("name") or "") if isinstance(error, Mapping) else ""
