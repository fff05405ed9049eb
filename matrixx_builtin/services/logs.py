"""The engine's log: a file in the state directory that stays small, is shared by all engines, and holds no secret."""

import atexit
import contextlib
import fcntl
import logging
import os
import select
import sys
import threading
from collections.abc import Callable
from logging.handlers import WatchedFileHandler
from pathlib import Path

from matrixx_core.trust import state_dir

MOST_BYTES = 2 * 1024 * 1024
"""Bytes of one log file; then it gets the next number."""

KEPT = 3
"""Older log files that are kept: ``matrixx.log.1`` is the newest of them."""

LONGEST = 20_000
"""Characters of one record; a traceback of a deep recursion would push everything else out."""

CHUNK = 64 * 1024
PAUSE = 0.05
"""Seconds without a word on standard error after which what was said is logged."""

FORMAT = "%(asctime)s %(process)d %(levelname)s %(message)s"


def log_file() -> Path:
    """Where the engine's log is."""
    return state_dir() / "matrixx.log"


def start() -> Callable[[], None]:
    """Send the log, and whatever is printed to standard error, to the log file; returns what undoes it.

    Standard error of the engine would land in the host's screen.
    """
    logging.raiseExceptions = False  # a full disk must not fill the log with its own complaints
    log = logging.getLogger("matrixx")
    try:
        handler = _SharedFile(log_file())
    except OSError as error:
        log.warning("there is no log file (%s)", error)
        return lambda: None
    handler.setFormatter(_Redacting(FORMAT))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    stop_reading = _read_standard_error(log)

    def stop() -> None:
        atexit.unregister(stop)
        stop_reading()
        log.removeHandler(handler)
        log.propagate = True
        handler.close()

    atexit.register(stop)
    return stop


class _Redacting(logging.Formatter):
    """Redacts a record as it will stand in the file: message, traceback and all."""

    def format(self, record: logging.LogRecord) -> str:
        from .redaction import redact  # its rules take a while to load, and a quiet engine has nothing to log

        text = super().format(record)
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]} ... ({len(text)} characters)"
        return redact(text).encode("utf-8", "backslashreplace").decode()


class _SharedFile(WatchedFileHandler):
    """Rotates under a lock; a process whose file another one has renamed opens the new one (``WatchedFileHandler``)."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        super().__init__(path, encoding="utf-8")
        path.chmod(0o600)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if Path(self.baseFilename).stat().st_size > MOST_BYTES:
                self._rotate()
        except OSError:
            self.reopenIfNeeded()
        super().emit(record)

    def _rotate(self) -> None:
        path = Path(self.baseFilename)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.stat().st_size <= MOST_BYTES:  # another process was first
                return
            for number in range(KEPT, 0, -1):
                older = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
                with contextlib.suppress(FileNotFoundError):
                    older.replace(path.with_name(f"{path.name}.{number}"))


def _read_standard_error(log: logging.Logger) -> Callable[[], None]:
    """Put a pipe in the place of standard error, and of what goes the same way, and log what comes out of it."""
    taken = [number for number in (1, 2) if number == 2 or os.path.sameopenfile(1, 2)]
    kept = os.dup(2)
    source, sink = os.pipe()
    for number in taken:
        os.dup2(sink, number)
    os.close(sink)

    def read() -> None:
        while text := _burst(source):
            log.info("stderr: %s", text.decode("utf-8", "replace").rstrip())

    reader = threading.Thread(target=read, name="matrixx-stderr", daemon=True)
    reader.start()

    def stop() -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        for number in taken:  # closes the pipe's last end here; a child that still holds it is not waited for
            os.dup2(kept, number)
        os.close(kept)
        reader.join(0.5)

    return stop


def _burst(source: int) -> bytes:
    """What was written without a pause: a secret that arrives in pieces must be looked at as a whole."""
    burst = chunk = os.read(source, CHUNK)
    while chunk and len(burst) < MOST_BYTES // 2 and select.select([source], [], [], PAUSE)[0]:
        chunk = os.read(source, CHUNK)
        burst += chunk
    return burst
