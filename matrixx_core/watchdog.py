"""Interrupt a plain hook that never returns: it would hold up every other event.

A waiting hook is cancelled at its deadline by the dispatcher itself. A plain one runs on the event loop's own thread, so
only a signal can reach it there.
"""

import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from .plan import Step

TICK = 0.25
"""Seconds between two looks at the running hook."""


class HookTimeout(BaseException):
    """Raised inside a hook that ran longer than its deadline; no ``except Exception`` of the hook's own holds it up."""


@dataclass(slots=True)
class Running:
    """The plain hook that runs at this moment, if any, and since when (``time.perf_counter`` seconds)."""

    step: Step | None = None
    since: float = 0.0

    @property
    def overdue(self) -> bool:
        step = self.step
        return step is not None and time.perf_counter() - self.since > step.options.deadline_ms / 1_000


@contextmanager
def watching(running: Running) -> Generator[None]:
    """Watch ``running`` from a thread; must be entered on the main thread, which is the one that is interrupted."""
    done = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if running.overdue:  # looked at again here, on the hook's own thread: it may have ended since
            running.since = time.perf_counter()
            raise HookTimeout
        if callable(former):  # another engine of this process, or a program that embeds us, has rung
            former(number, frame)

    def look() -> None:
        while not done.wait(TICK):
            if running.overdue:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)

    former = signal.signal(signal.SIGALRM, interrupt)
    threading.Thread(target=look, name="matrixx-watchdog", daemon=True).start()
    try:
        yield
    finally:
        done.set()
        signal.signal(signal.SIGALRM, former)
