"""What plugins remember about one session, dropped as a whole when the session ends."""

import time
from collections import OrderedDict
from typing import Any, TypeVar

S = TypeVar("S")

MOST_SESSIONS = 2_000
"""Sessions remembered at once; a host that never reports a deletion loses the least recently used one."""


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
                self._open.popitem(last=False)
        else:
            self._open.move_to_end(session_id)
        return session

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._open

    def __len__(self) -> int:
        return len(self._open)

    def drop(self, session_id: str) -> None:
        """Forget a session and everything that hooks remembered in it."""
        self._open.pop(session_id, None)
