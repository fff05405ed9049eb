"""Knowledge hubs: folders of notes that the user keeps for agents to read, how settings name them and how pages are referred to.

A hub is compared by what its path really is: symlinks, ``..`` and letter case make no other place of it. A reference is
``hub:name/page.md`` or ``@name/page.md``; it never leads out of its hub.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from matrixx_core.settings import TIGHTENS, TRUSTED_ONLY

from .effects import Touch, matching
from .effects.matching import folded
from .effects.paths import LONGEST, absolute, exists, is_directory, is_wild, normalised, resolved
from .records import RecordError
from .text_files import MOST_BYTES, read

SETTINGS_KEY = "knowledge"
"""The section of the settings that all hooks of the hub share."""

EXCLUDED = (".*", "*.env", "*.docx", "*.pptx", "*.zip", "node_modules")
"""What is no knowledge although it lies in a hub (spec section C6); hidden names hold ``.env``, ``.git`` and ``.obsidian``."""

OFF = "no knowledge hub is configured (knowledge.hubs)"
"""Why the hooks of the hub are off for most people."""

Glob = Annotated[str, Field(min_length=1, max_length=500)]

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_REFERENCE = re.compile(r"(?:hub:|@)(?P<name>[A-Za-z0-9][\w.-]*)(?:/(?P<rest>.*))?", re.IGNORECASE | re.ASCII)


class HubSettings(BaseModel):
    """One hub as the settings tell it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="What the hub is called in `hub:name/page.md`.")
    path: str = Field(
        min_length=1,
        max_length=LONGEST,
        description="Its folder; `~` and `$VARIABLE` are filled in, a relative path starts at the project.",
    )
    index: str = Field(default="_index.md", min_length=1, max_length=500, description="The page that tells what is where, within the hub.")
    scope: Literal["global", "project"] = Field(default="global", description="Whether it is about everything, or about this project.")
    mode: Literal["router-only", "pinned"] = Field(
        default="router-only", description="`pinned`: the model is told to look here first whatever it is asked."
    )
    exclude: tuple[Glob, ...] = Field(
        default=EXCLUDED,
        description="What in it is no knowledge, and stays writable: names or paths within the hub. A list here replaces the default one.",
    )


class KnowledgeSettings(BaseModel):
    """Which hubs there are; one table for all hooks that deal with them."""

    model_config = ConfigDict(frozen=True)

    hubs: tuple[HubSettings, ...] = Field(
        default=(),
        description="Folders of notes for the agent to read: `name`, `path`, and if need be `index`, `scope`, `mode` and `exclude`.",
        json_schema_extra={**TIGHTENS, **TRUSTED_ONLY},
    )


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub that is there: its real folder, and the path that the settings give, which may be a link to it."""

    name: str
    root: str
    place: str
    settings: HubSettings


@dataclass(frozen=True, slots=True)
class Hubs:
    """The hubs of a project, and why each of the others cannot be found."""

    found: tuple[Hub, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()


def hubs_of(settings: KnowledgeSettings, directory: str) -> Hubs:
    """Find the hubs on the disk, anew each time; of two with one name the second is called ``name-2``. Never raises."""
    found, missing, counts = list[Hub](), list[tuple[str, str]](), dict[str, int]()
    for one in settings.hubs:
        count = counts[one.name.casefold()] = counts.get(one.name.casefold(), 0) + 1
        name = one.name if count == 1 else f"{one.name}-{count}"
        try:
            place = normalised(absolute(_filled(one.path), directory))
            root = resolved(place)
        except (KeyError, ValueError, OSError) as error:
            missing.append((name, f"the variable {error} in its path is not set" if isinstance(error, KeyError) else "its path cannot be"))
            continue
        if is_directory(root):
            found.append(Hub(name, root, resolved(place, follow=False), one))
        else:
            missing.append((name, "its path is no folder"))
    return Hubs(tuple(found), tuple(missing))


def within(hub: Hub, path: str) -> str | None:
    """Where an absolute path lies below the hub (``""``: it is the hub), or ``None``."""
    parts = normalised(path).split("/")
    for root in (hub.root, hub.place):
        above = root.rstrip("/").split("/")
        if len(parts) >= len(above) and all(map(_same, parts, above)):
            return "/".join(parts[len(above) :])
    return None


def is_excluded(hub: Hub, rest: str) -> bool:
    """Whether what lies there is no knowledge; of a pattern that names no one file, only the folders before it count."""
    if is_wild(rest) and not exists(f"{hub.root}/{rest}"):
        rest = "/".join(_plain_folders(rest))
    patterns = [glob.removesuffix("/**") for glob in hub.settings.exclude]
    return rest != "" and bool(matching([Touch(rest, rest, "", "metadata")], patterns))


def parsed(reference: str, hubs: Sequence[Hub]) -> tuple[Hub, str] | None:
    """The hub of a reference and the path within it (``""``: the hub); ``None`` for an unknown hub, an absolute path, ``..``."""
    found = _REFERENCE.fullmatch(reference.strip()) if len(reference) < LONGEST and reference.isprintable() else None
    hub = next((one for one in hubs if found and one.name.casefold() == found["name"].casefold()), None)
    if found is None or hub is None:
        return None
    rest = (found["rest"] or "").replace("\\", "/")
    parts = [part for part in rest.split("/") if part not in {"", "."}]
    return None if rest.startswith("/") or ".." in parts else (hub, "/".join(parts))


def text_of(hub: Hub, rest: str, most: int = MOST_BYTES) -> str | None:
    """The text of a page; ``None`` where there is none within the hub, or more than ``most`` bytes. Waits for the disk."""
    try:
        path = None if "\0" in rest or ".." in rest.split("/") else _target(hub, rest)
        content = read(Path(path), most) if path else b"\0"
    except (OSError, ValueError, RecordError):
        return None
    return None if b"\0" in content else content.decode("utf-8-sig", "replace")


def _target(hub: Hub, rest: str) -> str | None:
    """The real path of a place in the hub, also of one that is not there yet; ``None`` where a link leads out of the hub."""
    path = resolved(f"{hub.root}/{rest}") if rest else hub.root
    return path if within(hub, path) is not None else None


def _filled(path: str) -> str:
    """The path with variables of this process's environment; raises ``KeyError`` for one that is not set."""
    if "\0" in path:
        raise ValueError(path)
    return _VARIABLE.sub(lambda found: os.environ[found[1] or found[2]], path)


def _same(one: str, other: str) -> bool:
    return one == other or folded(one) == folded(other)


def _plain_folders(rest: str) -> Iterator[str]:
    for part in rest.split("/"):
        if is_wild(part):
            return
        yield part
