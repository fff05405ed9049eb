"""Which project settings files the person has vouched for, pinned to their content."""

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from platformdirs import user_state_path


def state_dir() -> Path:
    """Where Matrixx keeps what must survive a restart: ``$MATRIXX_STATE_DIR`` or the user's state directory."""
    return Path(os.environ.get("MATRIXX_STATE_DIR") or user_state_path("matrixx"))


def is_trusted(path: Path, content: bytes) -> bool:
    """Whether the person ran ``matrixx trust`` on this file with exactly this content."""
    return _store().get(str(path)) == _digest(content)


def trust(path: Path) -> str:
    """Vouch for the file as it is now; returns the SHA-256 it is pinned to."""
    digest = _digest(path.read_bytes())
    _save({**_store(), str(path): digest})
    return digest


def withdraw(path: Path) -> bool:
    """Take the trust back; false if there was none."""
    store = _store()
    known = store.pop(str(path), None) is not None
    if known:
        _save(store)
    return known


def write_atomic(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file as a whole or not at all; its folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        draft.chmod(mode)
        draft.replace(path)
    except BaseException:
        draft.unlink()
        raise


def _file() -> Path:
    return state_dir() / "trust.json"


def _store() -> dict[str, str]:
    path = _file()
    try:
        found: Any = json.loads(path.read_text("utf-8")) if path.is_file() else {}  # a pipe would keep us waiting
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _save(store: dict[str, str]) -> None:
    write_atomic(_file(), json.dumps(store, indent=2, sort_keys=True) + "\n")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
