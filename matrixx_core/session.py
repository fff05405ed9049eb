"""What plugins remember about one session, dropped as a whole when the session ends."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, TypeVarTuple

S = TypeVar("S")
Args = TypeVarTuple("Args")

MOST_SESSIONS = 2_000
"""Sessions remembered at once; a host that never reports a deletion loses the least recently used one."""

CLEANING_UP = 2.0
"""Seconds that work beside the events has for cleaning up when the engine closes."""

log = logging.getLogger("matrixx")


class Session:
    """One session's memory: a plugin asks for its own class and gets the one instance.

    ``parent`` is the session that delegated to this one (``""``: a main session), ``agent`` the name of the agent that
    runs it (``""``: not known yet), ``directory`` the project it works in.
    """

    def __init__(self, session_id: str, directory: str = "") -> None:
        self.id = session_id
        self.directory = directory
        self.parent = ""
        self.agent = ""
        self._states: dict[type[Any], Any] = {}
        self._signals: dict[str, float] = {}
        self._beside: set[asyncio.Task[None]] = set()

    def state(self, kind: type[S]) -> S:
        """The session's instance of this class, made on first use."""
        found: S | None = self._states.get(kind)
        if found is None:
            found = self._states[kind] = kind()
        return found

    def signal(self, name: str, ttl: float = 300.0) -> None:
        """Leave a mark for another hook of this session; it fades after ``ttl`` seconds."""
        self._signals[name] = time.monotonic() + ttl

    def signalled(self, name: str) -> bool:
        """Whether the mark is there and has not faded."""
        return self._signals.get(name, 0.0) > time.monotonic()

    def consume(self, name: str) -> bool:
        """Take the mark away; true at most once for each ``signal``."""
        return self._signals.pop(name, 0.0) > time.monotonic()

    def beside(self, plugin: str, seconds: float, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """Go on with ``work(*args)`` while no event waits for it; to be called from a hook.

        It is cancelled after ``seconds``, with the session, or with the engine, whichever comes first. A failure is logged with
        the plugin's name.
        """
        self._beside.add(task := asyncio.get_running_loop().create_task(_bounded(plugin, seconds, work, *args), name=plugin))
        task.add_done_callback(self._beside.discard)

    async def settled(self) -> None:
        """Wait until all work beside the events has ended, that which it begins included."""
        while self._beside:
            await asyncio.wait(self._beside)

    def end(self) -> set[asyncio.Task[None]]:
        """Cancel the work beside the events; returns what is to be waited for."""
        for task in self._beside:
            task.cancel()
        return set(self._beside)


async def _bounded(plugin: str, seconds: float, work: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
    try:
        await asyncio.wait_for(work(*args), seconds)
    except TimeoutError:
        log.warning("what plugin %r did beside the events was ended after %g s", plugin, seconds)
    except Exception:
        log.exception("plugin %r failed in what it did beside the events", plugin)


class Sessions:
    """All open sessions; one springs up when first asked for."""

    def __init__(self, directory: str = "") -> None:
        self._directory = directory
        self._open: OrderedDict[str, Session] = OrderedDict()

    def __getitem__(self, session_id: str) -> Session:
        session = self._open.get(session_id)
        if session is None:
            session = self._open[session_id] = Session(session_id, self._directory)
            if len(self._open) > MOST_SESSIONS:
                self._open.popitem(last=False)[1].end()
        else:
            self._open.move_to_end(session_id)
        return session

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._open

    def __len__(self) -> int:
        return len(self._open)

    def drop(self, session_id: str) -> None:
        """Forget a session and everything that hooks remembered in it; what they do beside its events ends."""
        if session := self._open.pop(session_id, None):
            session.end()

    async def close(self) -> None:
        """Forget all sessions, and wait for what hooks did beside their events to have ended."""
        ending = {task for session in self._open.values() for task in session.end()}
        self._open.clear()
        if ending:
            await asyncio.wait(ending, timeout=CLEANING_UP)
