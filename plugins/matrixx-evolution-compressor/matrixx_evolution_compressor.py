"""Distil lessons from the traces of a session, for the person to look at; off until asked for.

From counts alone, without a model: nothing leaves the machine. Beside the session, so often an hour at most, whatever came of it; what
is not sure enough is dropped, and what is waits until the person has decided (``/evolution``).
"""

import logging

from anyio.to_thread import run_sync

from matrixx_builtin.services import evolution
from matrixx_builtin.services.evolution import EvolutionSettings
from matrixx_builtin.services.records import RecordError
from matrixx_core import Session, SessionEvent, observe

NAME = "evolution-compressor"
SETTINGS_KEY = evolution.SETTINGS_KEY

TRIGGERS = {"session.idle": {"idle", "both"}, "session.compacted": {"compacting", "both"}}

DEADLINE = 30.0
"""Seconds that one attempt may take."""

log = logging.getLogger("matrixx")


class Config(EvolutionSettings):
    """When, and from how much."""


def off_because(config: Config) -> str:
    return "" if config.enabled else evolution.OFF


@observe(types=set(TRIGGERS))
def session_event(event: SessionEvent, session: Session, config: Config) -> None:
    if config.enabled and session.directory and not session.parent and config.compressor.trigger in TRIGGERS[event.type]:
        session.beside(NAME, DEADLINE, compress, session, config)


async def compress(session: Session, config: Config) -> None:
    try:
        await run_sync(_compress, session.directory, session.id, config)
    except (RecordError, OSError) as error:
        log.warning("evolution-compressor could not go on in %s: %s", session.directory, error)


def _compress(directory: str, session_id: str, config: Config) -> None:
    traces = evolution.kept(directory, session_id)
    if len(traces) < config.compressor.minTraces:
        return
    if not evolution.is_due(directory, "last_compression_at", 3_600 / config.budget.maxCompressionsPerHour):
        return
    evolution.forget_old(directory, config.retention.traceDays)
    lesson = evolution.distilled(traces, session_id)
    if lesson and lesson.confidence >= config.governance.minConfidence:
        evolution.stage(directory, lesson, config.retention.maxPending)
