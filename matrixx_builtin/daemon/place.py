"""Where the engine of a project is: its socket, and the lock that only one engine holds."""

import contextlib
import fcntl
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from .client import is_private, socket_path

POLL = 0.05
"""Seconds between two looks while another engine starts, or ends."""

PATIENCE = 10.0
"""Seconds for that."""


@dataclass(frozen=True, slots=True)
class Place:
    """The files of one project's engine."""

    project: Path
    socket: Path

    @property
    def lock(self) -> Path:
        return self.socket.with_suffix(".lock")


def place_of(directory: Path) -> Place:
    """Nothing is made, and nothing looked at but the environment."""
    project = directory.resolve()
    return Place(project, Path(socket_path(str(project))))


def make_folder(place: Place) -> None:
    """Make the folder of the socket, or raise ``MatrixxError`` if the one that is there is not ours alone."""
    folder = place.socket.parent
    folder.mkdir(mode=0o700, exist_ok=True)
    if not is_private(str(folder)):
        from matrixx_core.errors import MatrixxError  # it brings pydantic, which most that come here do not need

        raise MatrixxError(f"{folder} is not this user's alone (mode 0700): remove it, or set XDG_RUNTIME_DIR")


def claim(place: Place) -> int | None:
    """The file number of the lock, held; ``None`` if another engine listens already."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        number = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sign(number)
            return number
        os.close(number)
        if (there := connect(place, PATIENCE)) is not None:
            there.close()
            return None
        time.sleep(POLL)
    return None


def sign(lock: int) -> None:
    """Write into the lock who holds it."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, b"%d\n" % os.getpid(), 0)


def holder(place: Place) -> int | None:
    """The process that holds the lock; ``None`` if nobody does."""
    try:
        with place.lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(file.read(20) or b"0") or None
    except (OSError, ValueError):
        pass
    return None


def listen(place: Place) -> socket.socket:
    """The listening socket in the place of any stale one; the lock must be held."""
    place.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    former = os.umask(0o177)
    try:
        listener.bind(str(place.socket))
    finally:
        os.umask(former)
    listener.listen(128)
    return listener


def connect(place: Place, seconds: float) -> socket.socket | None:
    """A connection to the engine; ``None`` where none listens."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        if is_private(str(place.socket.parent)):
            connection.settimeout(seconds)
            connection.connect(str(place.socket))
            return connection
    except OSError:
        pass
    connection.close()
    return None


def inode(place: Place) -> int:
    """Of the socket's file; 0 where there is none."""
    try:
        return place.socket.lstat().st_ino
    except OSError:
        return 0


def lives(pid: int) -> bool:
    """Whether there is a process of this number that has not ended; its parent may take its time to take note of that."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):  # a system without /proc
        return True
