"""Read which files a patch text touches: the ``*** Begin Patch`` form and unified diffs."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_HEADER = re.compile(r"^[ \t]*\*\*\*[ \t]*(add|update|delete|move|rename)(?:[ \t]+(?:file|to))*:(.+)$", re.IGNORECASE | re.MULTILINE)
_BEGIN = re.compile(r"^[ \t]*\*\*\* ?Begin Patch", re.IGNORECASE | re.MULTILINE)
_DIFF = re.compile(
    r"^(?:diff --git (?P<both>.+)|--- (?P<old>.+)|\+\+\+ (?P<new>.+)|rename from (?P<source>.+)|rename to (?P<target>.+)"
    r"|(?P<gone>deleted file mode).*)$",
    re.MULTILINE,
)
_GIT_NAMES = re.compile(r'"?a/(.+?)"? "?b/(.+?)"?$')


class Change(NamedTuple):
    """One file of a patch; ``target`` is its new name where it moves."""

    kind: Literal["add", "update", "delete"]
    path: str
    target: str = ""


def is_patch(text: str) -> bool:
    """Whether the text is a patch of the ``*** Begin Patch`` form."""
    return _BEGIN.search(text) is not None or (text.lstrip().startswith("***") and _HEADER.search(text) is not None)


def changes(text: str) -> list[Change]:
    """Return the files that a ``*** Begin Patch`` text adds, updates, deletes or moves."""
    found: list[Change] = []
    for verb, name in _HEADER.findall(text):
        path = name.strip().strip("\"'")
        match verb.lower():
            case "add":
                found.append(Change("add", path))
            case "update":
                found.append(Change("update", path))
            case "delete":
                found.append(Change("delete", path))
            case _ if found and not found[-1].target:
                found.append(Change("update", found.pop().path, path))
            case _:
                found.append(Change("add", path))
    return found


def diff_changes(text: str, strip: int = 1) -> list[Change]:
    """Return the files that a unified diff touches, ``strip`` leading folders of their names dropped as ``patch -p`` does."""
    return list(dict.fromkeys(_diff_changes(text, strip)))


def _diff_changes(text: str, strip: int) -> Iterator[Change]:
    old = source = ""
    for found in _DIFF.finditer(text):
        if found["both"] and (names := _GIT_NAMES.fullmatch(found["both"].strip())):
            yield Change("update", names[2])
        elif found["source"]:
            source = found["source"].strip()
        elif found["target"]:
            yield Change("update", source, found["target"].strip())
        elif found["old"]:
            old = _name(found["old"], strip)
        elif found["new"]:
            new = _name(found["new"], strip)
            if new or old:
                yield Change("update" if new and old else "add" if new else "delete", new or old)


def _name(header: str, strip: int) -> str:
    name = header.split("\t", maxsplit=1)[0].strip().strip('"')
    if name == "/dev/null":
        return ""
    return name.split("/", strip)[-1] if name.count("/") >= strip else name
