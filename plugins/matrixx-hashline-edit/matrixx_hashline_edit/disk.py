"""Files as the tool needs them: found, locked, read as text, and written as a whole or not at all."""

import os
import stat
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

from matrixx_core import ToolError
from matrixx_core.trust import write_atomic

LARGEST = 10_000_000
"""Bytes of a file that is edited: host and hooks get its old and new text with the result."""


class Locks:
    """One lock for each path, as long as somebody holds or awaits it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Path, Lock] = WeakValueDictionary()
        self._own = Lock()

    @contextmanager
    def held(self, *paths: Path) -> Generator[None]:
        """Hold the locks of all these paths; always in one order, so that nobody waits in a circle."""
        with ExitStack() as stack:
            for path in sorted(set(paths)):
                with self._own:
                    lock = self._locks.setdefault(path, Lock())
                stack.enter_context(lock)
            yield


def located(given: str, directory: str) -> Path:
    """The real path of what the model named; a relative one starts at the session's directory."""
    return _real(Path(directory or ".", given))


def entry(given: str, directory: str) -> Path:
    """The same, but a link that it names stays the link."""
    path = Path(directory or ".", given)
    return _real(path.parent) / path.name


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):  # a NUL or half a surrogate pair: whoever opens it says so
        return path


def read(path: Path, given: str) -> str:
    """The text of a regular file; raises ``ToolError`` for one that is not to be edited as text."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(f"{given} is no regular file")
    if found.st_size > LARGEST:
        raise ToolError(f"{given} has {found.st_size} bytes; this tool edits files up to {LARGEST}. Use a program for it.")
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolError(f"{given} is not UTF-8 (byte {error.start}); edit it with a program that knows its encoding") from None
    if "\0" in text:
        raise ToolError(f"{given} holds NUL bytes, so it is no text; edit it with a program that knows its format")
    return text


def read_or_none(path: Path) -> str | None:
    try:
        return read(path, "")
    except (OSError, ValueError, ToolError):
        return None


def overwrite(path: Path, text: str, given: str) -> None:
    """Replace a file's text; its mode stays."""
    if not os.access(path, os.W_OK):
        raise ToolError(f"{given} is write-protected")
    write_atomic(path, text, mode=stat.S_IMODE(path.stat().st_mode))


def create(path: Path, text: str, given: str, mode: int | None = None) -> None:
    """Write a file where there is none yet, its folders too; one that is there is never touched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = path.open("x", encoding="utf-8", newline="")
    except FileExistsError:
        raise ToolError(f"{given} exists already. Choose another path, or delete it first if nobody needs it.") from None
    try:
        with file:
            file.write(text)
        if mode is not None:
            path.chmod(mode)
    except BaseException:
        path.unlink()
        raise


def move(source: Path, target: Path, text: str, given: str) -> None:
    """Give a file a new name and perhaps a new text; at every moment one of both is whole."""
    create(target, text, given, stat.S_IMODE(source.stat().st_mode))
    try:
        source.unlink()
    except BaseException:
        target.unlink()
        raise
