"""Settings of Claude Code that keep hooks from running, wherever they stand."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import jsonc
from ..findings import Finding

MANAGED = Path("/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code")
"""Where an administrator's settings are: ``managed-settings.json``, and more in ``managed-settings.d``."""


def switches(directory: Path | None, user: Path, url: str) -> Iterator[Finding]:
    """Look through all settings files that count here; ``url`` is the one that http handlers ask, if there are any."""
    folder = directory / ".claude" if directory else None
    own = [user, *([folder / "settings.json", folder / "settings.local.json"] if folder else [])]
    for path in own:
        yield from _of_person(path, _settings(path))
    managed = [MANAGED / "managed-settings.json", *sorted(MANAGED.glob("managed-settings.d/*.json"))]
    for path in managed:
        yield from _of_administrator(path, _settings(path))
    for path in (*own, *managed):
        patterns = _settings(path).get("allowedHttpHookUrls")
        if url and isinstance(patterns, list) and not any(_fits(str(pattern), url) for pattern in patterns):
            why = "Claude Code calls no http hook that is not in that list, so most events are unguarded"
            yield Finding("error", f"{path} has allowedHttpHookUrls without ours", why, f'add "{url}" to it')


def comments(path: Path) -> Finding:
    """A file that was written with comments in mind."""
    why = "Claude Code takes no comments in JSON (2.1.332) and then ignores the whole file, our hooks with it"
    return Finding("error", f"{path} has comments", why, "take them out")


def _of_person(path: Path, settings: dict[str, Any]) -> Iterator[Finding]:
    if settings.get("disableAllHooks") is True:
        yield Finding("error", f"{path} says disableAllHooks", "Claude Code then calls no hook, so nothing is guarded", "take it out")


def _of_administrator(path: Path, settings: dict[str, Any]) -> Iterator[Finding]:
    for key in ("disableAllHooks", "allowManagedHooksOnly"):
        if settings.get(key) is True:
            why = "Claude Code then calls no hook of yours, so nothing is guarded"
            yield Finding("error", f"{path} says {key}", why, "ask your administrator")


def _settings(path: Path) -> dict[str, Any]:
    """What a file says; nothing where it cannot be read, which is told where it matters."""
    try:
        found = jsonc.parse(path.read_bytes()).plain if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _fits(pattern: str, url: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), url) is not None
