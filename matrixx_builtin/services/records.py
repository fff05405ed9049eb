"""Small JSON files that several processes share: locked, replaced as a whole, and never lost when they are broken."""

import json
import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from matrixx_core.trust import write_atomic

M = TypeVar("M", bound=BaseModel)

LOCK_SECONDS = 10.0
"""How long a writer waits for the others; the lock dies with its process, so there is no stale one."""

log = logging.getLogger("matrixx")


class RecordError(Exception):
    """A record cannot be read or written; the message names the file and the way out."""


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Hold the folder's lock; raises ``RecordError`` when others hold it too long."""
    from filelock import FileLock, Timeout  # it imports sqlite3 and more: not before something is written

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise RecordError(f"{folder} is locked by another process for over {LOCK_SECONDS:g} s; try again") from None
    except OSError as error:
        raise RecordError(f"{folder} cannot be written: {error.strerror or error}") from None


def read(path: Path, kind: type[M]) -> M | None:
    """The record, or ``None`` when there is none; a broken file is set aside as ``<name>.corrupt-<time>`` and told."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValidationError, ValueError) as error:
        aside = path.with_name(f"{path.name}.corrupt-{time.strftime('%Y%m%dT%H%M%S')}-{time.monotonic_ns() % 1_000_000:06d}")
        try:
            path.rename(aside)
        except OSError:
            return None  # another reader was quicker
        log.warning("%s is no %s and was set aside as %s: %s", path, kind.__name__, aside.name, str(error).splitlines()[0])
        return None
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}") from None


def write(path: Path, record: BaseModel) -> None:
    """Replace the file as a whole; the old one stays when that fails (``RecordError``: a full disk, no permission)."""
    try:
        write_atomic(path, json.dumps(record.model_dump(mode="json", exclude_none=True), indent=2, ensure_ascii=False) + "\n", mode=0o644)
    except OSError as error:
        raise RecordError(f"{path} cannot be written: {error.strerror or error}; what it held before is unchanged") from None


def update(path: Path, kind: type[M], change: Callable[[M | None], M]) -> M:
    """Read, change and write under the folder's lock, so that no other writer's change is lost."""
    with locked(path.parent):
        changed = change(read(path, kind))
        write(path, changed)
        return changed


def as_json(value: Any) -> str:
    """What a tool answers with: stable, readable JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1)
