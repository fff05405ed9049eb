"""What an installation does to files: shown before it is done, done whole or not at all, and undone byte for byte."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matrixx_core.errors import MatrixxError
from matrixx_core.trust import write_atomic


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; ``None`` is no file.

    ``folders`` counts the empty folders above it that go with the file, ``mode`` are its rights.
    """

    path: Path
    before: str | None
    after: str | None
    folders: int = 0
    mode: int = 0o644

    @property
    def diff(self) -> str:
        """The exact change, as a unified diff."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            "/dev/null" if self.before is None else str(self.path),
            "/dev/null" if self.after is None else str(self.path),
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def make(self) -> None:
        """Write or remove the file; raises ``MatrixxError`` if it is not any more as it was looked at."""
        if self._content() != self.before:
            raise MatrixxError(f"{self.path} has changed since it was looked at; run this again")
        if self.after is not None:
            write_atomic(self.path, self.after, mode=self.mode)
            return
        self.path.unlink(missing_ok=True)
        for folder in list(self.path.parents)[: self.folders]:
            try:
                folder.rmdir()
            except OSError:  # somebody else's files are in it by now
                return

    def _content(self) -> str | None:
        try:
            return self.path.read_bytes().decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None


@dataclass(frozen=True, slots=True)
class Installation:
    """What an adapter would change, and what the person should know about it."""

    changes: Sequence[Change] = ()
    advice: Sequence[str] = ()
