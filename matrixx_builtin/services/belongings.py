"""What on this machine is Matrixx's own: settings, plugin files, hook entries in host settings, state, installed packages."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISLNK
from typing import Literal, TypeAlias, cast

import json5

import matrixx_core
from matrixx_builtin.services.effects.matching import folded
from matrixx_core.settings import FILES, project_dirs, user_dirs
from matrixx_core.trust import state_dir

Kind: TypeAlias = Literal["settings", "plugin file", "neighbour", "hook entry", "folder", "state", "program"]
"""What is at a path. ``neighbour``: a ``package.json`` beside the plugin file, whose ``main`` is loaded in its place (OpenCode 1.18). ``hook entry``: a host's settings, of which only
our entry is ours. ``folder``, ``state`` and ``program`` are directories; a folder's other content is not ours, that of the other two is."""

PLUGIN_FOLDERS = ("plugin", "plugins")
PLUGIN_FILE = "matrixx.js"

HOST_FOLDERS = {
    ".claude": "CLAUDE_CONFIG_DIR",
    ".codex": "CODEX_HOME",
    ".copilot": "COPILOT_HOME",
    ".cursor": "",
    ".gemini": "",
    ".qwen": "",
}
"""Folders with settings of host programs, in a project and at home, and the variable that moves the one at home."""

HOST_FILES = ("settings.json", "settings.local.json", "hooks.json", "config.toml", "config.json")
"""Files in these folders that may hold hook entries (Claude Code, Gemini CLI and Qwen Code: settings; Codex and Cursor: hooks, config)."""


@dataclass(frozen=True, slots=True)
class Belonging:
    """A path that is ours, whether it exists or not."""

    path: str
    kind: Kind

    @property
    def is_tree(self) -> bool:
        """Whether everything below the path is ours too."""
        return self.kind in {"state", "program"}


def belongings(directory: str) -> dict[str, Belonging]:
    """Return every path that is ours, as seen from a project, by its folded name; one that a link leads elsewhere has two names."""
    root = os.path.realpath(directory or ".")
    homes = tuple(os.environ.get(variable, "").strip() if variable else "" for variable in HOST_FOLDERS.values())
    listed = _listed(root, tuple(map(str, user_dirs())), str(Path.home()), homes, os.path.realpath(state_dir()))
    return listed | {folded(target): own for own, target in _linked(listed)}


def entries(text: str) -> set[str]:
    """Return our hook entries in a host's settings, each with the keys that lead to it; raises ``ValueError`` for text that is not JSON."""
    return set(_entries(json5.loads(text), ()))


def holds_entry(path: str) -> bool:
    """Whether a host's settings file has an entry that calls us."""
    try:
        return "matrixx" in Path(path).read_text("utf-8", "replace").lower()
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=1)
def programs() -> tuple[str, ...]:
    """Return the installed packages; a checkout that somebody works on is not among them."""
    site = Path(matrixx_core.__file__).parents[1]
    if site.name not in {"site-packages", "dist-packages"}:
        return ()
    return tuple(str(path) for path in site.glob("matrixx*"))


@lru_cache(maxsize=32)
def _listed(root: str, users: tuple[str, ...], home: str, homes: tuple[str, ...], state: str) -> dict[str, Belonging]:
    """All paths by their folded names, without a look at the disk; the arguments are what they depend on."""
    folders = [*users, *map(str, project_dirs(root))]
    found = [Belonging(f"{folder}/{name}", "settings") for folder in folders for name in FILES]
    for folder in folders:
        if folder != root:
            found += _in_settings_folder(folder)
    for (folder, _), elsewhere in zip(HOST_FOLDERS.items(), homes, strict=True):
        for place in (f"{root}/{folder}", elsewhere or f"{home}/{folder}"):
            found += [Belonging(f"{place}/{name}", "hook entry") for name in HOST_FILES]
    found.append(Belonging(f"{root}/.github/hooks/matrixx.json", "hook entry"))
    among_files = Path(root).is_relative_to(state)  # then only the trust store, or nothing in the project could be written
    found.append(Belonging(f"{state}/trust.json", "settings") if among_files else Belonging(state, "state"))
    found += [Belonging(path, "program") for path in programs()]
    absolute = [Belonging(os.path.abspath(own.path), own.kind) for own in found]  # noqa: PTH100 - links stay as they are
    return {folded(own.path): own for own in absolute}


def _in_settings_folder(folder: str) -> Iterator[Belonging]:
    yield Belonging(folder, "folder")
    for plugins in PLUGIN_FOLDERS:
        yield Belonging(f"{folder}/{plugins}", "folder")
        yield Belonging(f"{folder}/{plugins}/{PLUGIN_FILE}", "plugin file")
        yield Belonging(f"{folder}/{plugins}/package.json", "neighbour")


def _linked(listed: dict[str, Belonging]) -> Iterator[tuple[Belonging, str]]:
    """What is really somewhere else, because it or a folder above it is a link."""
    seen: dict[str, str] = {"": ""}
    for own in listed.values():
        above, _, name = own.path.rpartition("/")
        if folder := _real(above, seen):
            target = _real(own.path, seen) or f"{folder}/{name}"
            if target != own.path:
                yield own, target


def _real(path: str, seen: dict[str, str]) -> str:
    """The path without links, ``""`` where nothing is; every write asks for all of ours, so one look serves each part of a path."""
    if path not in seen:
        above, _, name = path.rpartition("/")
        folder = _real(above, seen)
        seen[path] = _looked_up(f"{folder}/{name}") if folder or not above else ""
    return seen[path]


def _looked_up(path: str) -> str:
    try:
        return os.path.realpath(path) if S_ISLNK(os.lstat(path).st_mode) else path
    except (OSError, ValueError):
        return ""


def _entries(value: object, keys: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, below in cast("dict[str, object]", value).items():
            yield from _entries(below, (*keys, key))
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            written = json.dumps(item, sort_keys=True)
            if "matrixx" in written.lower():
                yield f"{'.'.join(keys)}: {written}"
    elif isinstance(value, str) and "matrixx" in value.lower():
        yield f"{'.'.join(keys)}: {value}"
