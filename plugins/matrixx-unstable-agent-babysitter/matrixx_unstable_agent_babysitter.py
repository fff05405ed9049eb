"""Remind a session that waits of background work that has gone silent.

A model that hangs keeps its session busy for ever, and nobody hears of it. The reminder tells what it thought last and how to look
or to stop it; nothing is stopped by itself.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import wake
from matrixx_builtin.services.background import Work, last_answer, manager
from matrixx_builtin.services.redaction import redact
from matrixx_core import HostClient, Session, SessionEvent, observe
from matrixx_core.errors import ClientError

SETTINGS_KEY = "babysitting"

NAME = "unstable-agent-babysitter"

AGAIN = 300.0
"""Seconds between two reminders of one work (spec session-hooks D9)."""

LONGEST = 24 * 3_600.0
"""Seconds after which a session that stays idle is no longer watched."""

SHORTEST = 0.05
"""Seconds between two looks at least."""

EXCERPT, ASKING = 500, 3.0
"""Characters of what a silent agent thought, and seconds to ask the host for them."""


class Config(BaseModel):
    model_config = ConfigDict(frozen=True)

    timeout_ms: int = Field(
        default=120_000, ge=1_000, le=86_400_000, description="Silence of background work after which its session is told, in ms."
    )


@dataclass(slots=True)
class Watch:
    """When each silent work was last told of, and whether somebody is looking."""

    told: dict[str, float] = field(default_factory=dict[str, float])
    on: bool = False


@observe(types={"session.idle"})
def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    """The session waits: look after what it waits for."""
    state = session.state(Watch)
    if not session.parent and not state.on and _running(session, client):
        state.on = True
        session.beside(NAME, LONGEST, watch, session, client, config.timeout_ms / 1_000)


async def watch(session: Session, client: HostClient, patience: float) -> None:
    """Wait until a work was silent for ``patience`` seconds, and tell the session, if it still waits; its next idleness begins anew."""
    state, silent = session.state(Watch), list[Work]()
    try:
        while not silent and (works := _running(session, client)):
            await anyio.sleep(max(SHORTEST, min(_seconds_left(work, state, patience) for work in works)))
            silent = [work for work in _running(session, client) if _seconds_left(work, state, patience) <= 0]
        if silent and not wake.closed_gate(session, "babysitter"):
            state.told |= dict.fromkeys((work.id for work in silent), time.monotonic())
            fingerprint = ",".join(f"{work.id} {work.alive}" for work in silent)
            wake.offer(session, wake.Offer(NAME, "babysitter", await _reminder(silent, client), fingerprint, session.agent))
            await wake.send(session, client)
    finally:
        state.on = False


def _running(session: Session, client: HostClient) -> list[Work]:
    return [work for work in manager(client).of(session.id) if work.status == "running"]


def _seconds_left(work: Work, state: Watch, patience: float) -> float:
    """Seconds until the work is to be told of."""
    again = state.told[work.id] + AGAIN - time.monotonic() if work.id in state.told else 0.0
    return max(patience - work.silence, again)


async def _reminder(works: Sequence[Work], client: HostClient) -> str:
    lines = [
        f"- {work.handle().line()}, silent for {work.silence:.0f} s, session {work.session}{await _thought(work, client)}" for work in works
    ]
    look = f'background_output(task_id="{works[0].id}") shows how it stands, background_cancel(task_id="{works[0].id}") stops it.'
    return "\n".join(
        ["<system-reminder>", "Background work is silent. This is a reminder; nothing was stopped.", *lines, look, "</system-reminder>"]
    )


async def _thought(work: Work, client: HostClient) -> str:
    """What its agent thought last, in one line and without secrets."""
    try:
        with anyio.fail_after(ASKING):
            last = last_answer(await client.messages(work.session))
    except (ClientError, TimeoutError):
        return ""
    said = (part.get("text") for part in (last.parts if last else ()) if part.get("type") == "reasoning")
    thought = redact(" ".join(" ".join(text for text in said if isinstance(text, str)).split()))
    return f"; it thought: {thought[:EXCERPT]!r}" if thought else ""
