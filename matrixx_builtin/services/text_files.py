"""Text files that people edit too: a change leaves every other byte as it is, and happens as a whole or not at all."""

import errno
import hashlib
import io
import os
import stat
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from .records import RecordError

MOST_BYTES = 4 << 20
"""What is read where no other limit is given."""

BOM = "\ufeff"

NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL}
"""How a disk says that it has no hard links (FAT, some network shares); then a new file is made in its place at once."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line and what ends it: a line feed, a carriage return before it, or nothing at the end of a file."""

    text: str
    end: str = "\n"

    def __str__(self) -> str:
        return self.text + self.end


@dataclass(frozen=True, slots=True)
class Document:
    """A file's lines; bytes that are no UTF-8, a byte order mark and mixed line ends survive."""

    lines: tuple[Line, ...] = ()
    bom: str = ""

    @classmethod
    def of(cls, content: bytes) -> "Document":
        text = content.decode("utf-8", "surrogateescape")
        body = text.removeprefix(BOM)
        rows = body.split("\n")
        last = rows.pop()
        lines = [Line(row[:-1], "\r\n") if row.endswith("\r") else Line(row) for row in rows]
        return cls((*lines, *([Line(last, "")] if last else ())), BOM if body != text else "")

    @property
    def content(self) -> bytes:
        return (self.bom + "".join(map(str, self.lines))).encode("utf-8", "surrogateescape")

    @property
    def texts(self) -> list[str]:
        """The lines without their ends."""
        return [line.text for line in self.lines]

    def spliced(self, start: int, stop: int, texts: Sequence[str]) -> "Document":
        """The document with the lines ``start:stop`` (from 0) replaced; new lines end as the file's first one does."""
        lines = list(self.lines)
        end = lines[0].end or "\n" if lines else "\n"
        new = [Line(text, end) for text in texts]
        if new and stop > start:
            new[-1] = replace(new[-1], end=lines[stop - 1].end)
        elif new and start == len(lines) > 0 and not lines[-1].end:
            lines[-1], new[-1] = replace(lines[-1], end=end), replace(new[-1], end="")
        lines[start:stop] = new
        return Document(tuple(lines), self.bom)


def revision(content: bytes) -> str:
    """Twelve letters that change when the file does."""
    return hashlib.sha256(content).hexdigest()[:12]


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """The file; raises ``FileNotFoundError``, and ``RecordError`` for a link, a pipe, or more than ``most`` bytes."""
    with _told(path, "read"):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise RecordError(f"{path} is no plain file")
            content = file.read(most + 1)
    if len(content) > most:
        raise RecordError(f"{path} has more than {most} bytes")
    return content


def create(path: Path, content: bytes) -> None:
    """Make a new file; raises ``FileExistsError`` rather than touch one that is there."""
    with _told(path, "written"):
        draft = _draft(path, content, 0o644)
        try:
            os.link(draft, path)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            with path.open("xb") as file:
                file.write(content)
        finally:
            draft.unlink()


def overwrite(path: Path, content: bytes) -> None:
    """Put new content in a file's place; its mode stays, and on any error its content."""
    with _told(path, "written"):
        draft = _draft(path, content, stat.S_IMODE(path.stat().st_mode))
        try:
            draft.replace(path)
        except BaseException:
            draft.unlink()
            raise


def append(path: Path, text: str) -> None:
    """Add to a file, which is made if need be, all or nothing; whoever appends to it too must hold the same lock."""
    with _told(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, flags, 0o644)
        with os.fdopen(handle, "ab", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise RecordError(f"{path} is no plain file")
            _add(file, text.encode("utf-8", "replace"))


def _add(file: io.FileIO, content: bytes) -> None:
    """Write all of it; a disk that is full takes a part first and tells only at the next write."""
    before = os.fstat(file.fileno()).st_size
    try:
        written = 0
        while written < len(content):
            written += file.write(content[written:])
    except OSError:
        file.truncate(before)
        raise


def _draft(path: Path, content: bytes, mode: int) -> Path:
    """The content in a file beside its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(mode)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


@contextmanager
def _told(path: Path, what: str) -> Generator[None]:
    try:
        yield
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError as error:
        raise RecordError(f"{path} cannot be {what}: {error.strerror or error}; what was there is unchanged") from None
