"""Tell the model once which shell, tools and package managers it has.

The block stands behind the session's first user message and stays there byte for byte: nothing in it comes from a clock,
and what could change (a tool installed later) is not looked at again. Hosts themselves tell directory, platform and date.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import Inject, Session, Transcript, rewrite
from matrixx_core.events import last_user_message

TOOLS = ("rg", "fd", "jq", "git", "gh", "uv", "python3", "node", "bun", "deno", "go", "cargo", "java", "docker", "make", "just", "sqlite3")

LOCK_FILES = {
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Pipfile.lock": "pipenv",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "Cargo.lock": "cargo",
    "go.sum": "go",
    "Gemfile.lock": "bundler",
    "composer.lock": "composer",
    "mix.lock": "mix",
}
"""Which package manager a project's lock file belongs to."""

LONGEST = 80
"""Characters of a value that comes from the environment."""


class Config(BaseModel):
    """Settings of ``env-context-injector``."""

    model_config = ConfigDict(frozen=True)

    tools: tuple[str, ...] = Field(default=TOOLS, max_length=60, description="Programs to look for on PATH and tell the model of.")


@dataclass(slots=True)
class Told:
    """The user message that the block stands behind; ``""``: none yet."""

    message_id: str = ""


@rewrite
def messages_transform(transcript: Transcript, session: Session, config: Config) -> Inject | None:
    """Bind the block to the newest user message, once; again only when that message is gone (compacted, reverted)."""
    last = last_user_message(transcript.messages)
    told = session.state(Told)
    if last is None or not last.id or any(message.id == told.message_id for message in transcript.messages):
        return None
    told.message_id = last.id
    return Inject(_cached(session.directory, config.tools))


def block(environ: Mapping[str, str], directory: str, tools: tuple[str, ...]) -> str:
    """The block's text for these surroundings."""
    found = {name: shutil.which(name, path=environ.get("PATH", os.defpath)) is not None for name in dict.fromkeys(tools)}
    rows = {
        "shell": environ.get("SHELL", ""),
        "locale": next(filter(None, (environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG"))), ""),
        "time zone": environ.get("TZ", "") or _zone(),
        "tools": " ".join(name for name, there in found.items() if there),
        "not installed": " ".join(name for name, there in found.items() if not there),
        "packages": ", ".join(f"{manager} ({name})" for name, manager in LOCK_FILES.items() if _is_file(directory, name)),
        "virtual environment": ".venv" if _is_file(directory, ".venv/pyvenv.cfg") else "",
    }
    limits = {"tools": 600, "not installed": 600, "packages": 300}
    lines = [f"{name}: {one}" for name, value in rows.items() if (one := _clean(value, limits.get(name, LONGEST)))]
    return "\n".join(["<matrixx-env>", *lines, "</matrixx-env>"])


@lru_cache(maxsize=64)
def _cached(directory: str, tools: tuple[str, ...]) -> str:
    """Looked up once in a process: sessions of one project share their first bytes, and the provider's cache."""
    return block(os.environ, directory, tools)


def _zone() -> str:
    """The time zone's name, from where the system's own clock has it."""
    if sys.platform == "win32":
        return ""
    try:
        return str(Path("/etc/localtime").readlink()).partition("zoneinfo/")[2]
    except OSError:
        return ""


def _is_file(directory: str, name: str) -> bool:
    try:
        return directory != "" and (Path(directory) / name).is_file()
    except (OSError, ValueError):
        return False


def _clean(value: str, limit: int) -> str:
    """One printable line that cannot close the block."""
    line = "".join(one for one in value if one.isprintable() and one not in "<>").strip()
    return line if len(line) <= limit else f"{line[: limit - 3]}..."
