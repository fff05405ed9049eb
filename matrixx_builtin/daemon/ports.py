"""Where the engine of a project answers HTTP: a port of the loopback interface and a token, made once and kept."""

import json
import secrets
import socket
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from matrixx_core.trust import state_dir, write_atomic

from .client import key

PORTS = range(20_000, 30_000)
"""Below those that systems give to outgoing connections, so that no other program gets one by chance."""

TRIES = 100


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``token`` is a secret: whoever has it may ask the engine."""

    port: int
    token: str = field(repr=False)

    def url(self, host: str) -> str:
        """Where the payloads of a host program are posted, with ``Authorization: Bearer <token>``."""
        return f"http://127.0.0.1:{self.port}/{host}"


def endpoint(directory: Path) -> Endpoint:
    """The project's endpoint, which the settings of a host program may name; it stays the same."""
    project = str(directory.resolve())
    file = _folder() / f"{key(project)}.json"
    if found := _kept(file):
        return found
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(file.parent / ".lock"):
        if found := _kept(file):  # another process was first
            return found
        made = Endpoint(_free_port(), secrets.token_urlsafe(32))
        write_atomic(file, json.dumps({"project": project, **asdict(made)}, indent=2) + "\n")
    return made


def forget(directory: Path) -> None:
    """Remove the project's endpoint; the next one has another port and token."""
    (_folder() / f"{key(str(directory.resolve()))}.json").unlink(missing_ok=True)


def _folder() -> Path:
    return state_dir() / "endpoints"


def _kept(file: Path) -> Endpoint | None:
    try:
        found: Any = json.loads(file.read_bytes())
        port, token = found["port"], found["token"]
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return None
    return Endpoint(port, token) if isinstance(port, int) and isinstance(token, str) and token and 0 < port < 1 << 16 else None


def _free_port() -> int:
    taken = {one.port for file in _folder().glob("*.json") if (one := _kept(file))}
    for _ in range(TRIES):
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port not in taken:
                return port
    raise OSError(f"no free port was found between {PORTS.start} and {PORTS.stop}")
