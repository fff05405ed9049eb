"""What must survive a restart: one embedded database (SQLite, write-ahead log) in the user's state directory.

Nothing here raises for a database that is locked, damaged or cannot be written: a damaged one is set aside and a new
one begun, otherwise the caller is told that nothing was kept.
"""

import contextlib
import fcntl
import json
import logging
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from matrixx_core.timing import Timing
from matrixx_core.trust import state_dir

T = TypeVar("T")

BUSY = 2.0
"""Seconds to wait while another process writes."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS timings (
    project TEXT NOT NULL, plugin TEXT NOT NULL, event TEXT NOT NULL,
    calls INTEGER NOT NULL, max_ns INTEGER NOT NULL, answers TEXT NOT NULL, buckets TEXT NOT NULL,
    first REAL NOT NULL, last REAL NOT NULL,
    PRIMARY KEY (project, plugin, event)
) WITHOUT ROWID;
"""

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

log = logging.getLogger("matrixx")


@dataclass(frozen=True, slots=True)
class Kept:
    """What all engines of a project have counted for one hook at one event; times are Unix seconds."""

    project: str
    plugin: str
    event: str
    timing: Timing
    first: float
    last: float


def database() -> Path:
    """The database's file."""
    return state_dir() / "state.sqlite3"


def keep_timings(project: str, rows: Iterable[tuple[str, str, Timing]]) -> bool:
    """Add what one engine has counted; false if it could not be kept."""
    new = list(rows)
    return not new or _tried(lambda db: _add(db, project, new)) is not None


def kept_timings(project: str | None = None) -> list[Kept]:
    """All that was counted in a project, or in every one."""
    if not database().exists():
        return []
    return _tried(lambda db: _read(db, project)) or []


def forget_timings(project: str | None = None) -> bool:
    """Begin again from nothing; false if that could not be done."""
    return (
        not database().exists()
        or _tried(lambda db: db.execute("DELETE FROM timings WHERE ?1 IS NULL OR project = ?1", (project,)).rowcount) is not None
    )


@contextlib.contextmanager
def nothing_kept() -> Generator[None]:
    """Give whatever runs an empty state directory, gone afterwards; only the person's trust is taken along."""
    real = state_dir()
    before = os.environ.get("MATRIXX_STATE_DIR")
    with tempfile.TemporaryDirectory(prefix="matrixx-") as folder:
        if (trusted := real / "trust.json").is_file():
            shutil.copyfile(trusted, Path(folder) / "trust.json")
        os.environ["MATRIXX_STATE_DIR"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["MATRIXX_STATE_DIR"]
            else:
                os.environ["MATRIXX_STATE_DIR"] = before


def _add(db: sqlite3.Connection, project: str, rows: list[tuple[str, str, Timing]]) -> int:
    now = time.time()
    there = {(one.plugin, one.event): one for one in _read(db, project)}
    totals: dict[tuple[str, str], Timing] = {}
    for plugin, event, timing in rows:
        before = there.get((plugin, event))
        totals.setdefault((plugin, event), before.timing if before else Timing()).merge(timing)
    for (plugin, event), total in totals.items():
        before = there.get((plugin, event))
        counted = (total.calls, total.max_ns, json.dumps(total.answers), json.dumps(total.buckets))
        db.execute(
            "INSERT OR REPLACE INTO timings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (project, plugin, event, *counted, before.first if before else now, now),
        )
    return len(rows)


def _read(db: sqlite3.Connection, project: str | None) -> list[Kept]:
    return [
        Kept(where, plugin, event, _timing(calls, max_ns, answers, buckets), first, last)
        for where, plugin, event, calls, max_ns, answers, buckets, first, last in db.execute(
            "SELECT * FROM timings WHERE ?1 IS NULL OR project = ?1 ORDER BY project, plugin, event", (project,)
        )
    ]


def _timing(calls: int, max_ns: int, answers: str, buckets: str) -> Timing:
    return Timing(calls, json.loads(answers), max_ns, {int(bucket): count for bucket, count in json.loads(buckets).items()})


def _tried(work: Callable[[sqlite3.Connection], T]) -> T | None:
    """Do the work in one transaction; a damaged database is set aside and the work done on a new one."""
    for last_try in (False, True):
        try:
            with _transaction() as db:
                return work(db)
        except (sqlite3.Error, OSError, ValueError) as error:
            damaged = isinstance(error, ValueError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED
            if last_try or not damaged:
                log.warning("the state database %s cannot be used (%s); nothing was kept", database(), error)
                return None
            _set_aside()
    return None


@contextlib.contextmanager
def _transaction() -> Generator[sqlite3.Connection]:
    path = database()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.closing(sqlite3.connect(path, timeout=BUSY, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(SCHEMA)
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


def _set_aside() -> None:
    """Rename the damaged database, unless another process has done so already."""
    path = database()
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_sound():
            return
        stamp = time.strftime("%Y%m%dT%H%M%S")
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                damaged = path.with_name(path.name + suffix)
                damaged.rename(f"{damaged}.corrupt-{stamp}")
        log.error("the state database was damaged; it is kept as %s.corrupt-%s, and a new one begins", path, stamp)


def _is_sound() -> bool:
    try:
        with _transaction() as db:
            _read(db, None)
            return bool(db.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except (sqlite3.Error, OSError, ValueError):
        return False
