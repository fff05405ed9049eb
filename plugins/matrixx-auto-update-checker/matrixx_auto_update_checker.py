"""Say once a day when newer versions of Matrixx or its hooks are there; off until asked for.

It asks the package index that pip, or uv, is configured with, beside the session, and installs nothing: the notice names the command.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.processes import run, which
from matrixx_core import HostClient, Session, SessionEvent, observe
from matrixx_core.settings import TRUSTED_ONLY
from matrixx_core.trust import state_dir

DEADLINE = 30.0
"""Seconds that pip or uv may take; nobody waits for them."""

DAY = 24 * 3_600.0
"""Seconds between two looks, however many sessions begin (all projects together)."""

MOST = 5
"""Distributions that a notice names."""


class Config(BaseModel):
    model_config = ConfigDict(frozen=True)

    check: bool = Field(
        default=False,
        description="Ask the package index once a day, which tells it what is installed here.",
        json_schema_extra=TRUSTED_ONLY,
    )
    command: list[str] = Field(
        default=[],
        description="What lists outdated distributions as JSON; left out: pip, or uv, for this Python.",
        json_schema_extra=TRUSTED_ONLY,  # a project could name any program
    )


def off_because(config: Config) -> str:
    return "" if config.check else "hooks.auto-update-checker.check is false"


@observe(types={"session.created"})
def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    info = event.properties.get("info")
    if config.check and not (isinstance(info, Mapping) and info.get("parentID")) and _is_due():
        session.beside("auto-update-checker", 2 * DEADLINE, look, client, config)


async def look(client: HostClient, config: Config) -> None:
    """Ask for what is outdated and tell the person; what does not answer, or is offline, is silent."""
    argv = config.command or _lister()
    done = await run(argv, cwd="/", timeout=DEADLINE) if argv else None
    if done is not None and done.ok and (newer := outdated(done.stdout)):
        more = f" and {len(newer) - MOST} more" if len(newer) > MOST else ""
        names = " ".join(name for name, _ in newer)
        told = ", ".join(f"{name} {latest}" for name, latest in newer[:MOST])
        await client.toast(f"Newer: {told}{more}. Upgrade with: pip install --upgrade {names}")


def outdated(listing: str) -> list[tuple[str, str]]:
    """Our distributions in a listing of pip or uv, each with its newest version; of anything else none."""
    try:
        found = json.loads(listing)
    except (ValueError, RecursionError):
        return []
    rows: list[Mapping[str, Any]] = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    pairs = [(str(row.get("name", "")), str(row.get("latest_version", ""))) for row in rows]
    return [(name, latest) for name, latest in pairs if name.startswith("matrixx-") and latest]


def _lister() -> Sequence[str]:
    listing = ["list", "--outdated", "--format=json"]
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *listing]
    return [uv, "pip", *listing, "--python", sys.executable] if (uv := which("uv")) else []


def _is_due() -> bool:
    """Whether the last look was a day ago; then this one counts."""
    stamp = state_dir() / "update-checked"
    try:
        if 0 <= time.time() - stamp.stat().st_mtime < DAY:
            return False
    except OSError:
        pass
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
    except OSError:
        return False  # it would ask at every start
    return True
