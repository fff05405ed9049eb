"""Make one absolute path of whatever a call says, and find what a pattern names on the disk."""

# ruff: noqa: PTH109, PTH111, PTH112, PTH114 - a call may say anything, with NULs or lone surrogates in it; plain texts are the way to be ready for that

import os
import re
from collections import deque
from collections.abc import Iterator
from fnmatch import translate
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote

LONGEST = 4096
"""Past PATH_MAX nothing exists, so nothing is asked of the disk."""
MANY = 256
"""How many entries a pattern may name before it stays a pattern."""

LOOKED_AT = 5_000
"""How many names below a directory are looked at for a pattern that reaches to any depth (about 10 ms)."""

Tree: TypeAlias = tuple[list[str], bool]
"""The names below a directory, and whether that is all of them."""

_DRIVE = re.compile(r"[A-Za-z]:(?=/|$)|[A-Za-z]:(?=[^/:]+\.)")
_WILD = re.compile(r"[*?]|\[.+?\]", re.DOTALL)
_PROC_CWD = re.compile(r"/proc/(?:self|thread-self|\d+)/cwd(?=/|$)")
_PROC_ROOT = re.compile(r"/proc/(?:self|thread-self|\d+)/root(?=/|$)")
_NOWHERE = re.compile(
    r"/dev/(?:null|zero|full|u?random|tty\d*|std(?:in|out|err)|fd(?:/\d+)?|console|ptmx|pts/\d+)|/proc/self/fd/\d+|nul:?|con:?|\$null|&?\d|-|",
    re.IGNORECASE,
)


def is_wild(text: str) -> bool:
    """Whether a shell would look for names that the text is a pattern of."""
    return _WILD.search(text) is not None


def is_nowhere(given: str) -> bool:
    """Whether reading or writing it touches no file: ``/dev/null``, ``/dev/stdout``, ``-``."""
    return _NOWHERE.fullmatch(given) is not None


def absolute(given: str, directory: str) -> str:
    """Return the path from the root, ``..`` and symlinks still in it."""
    path = _plain(given)
    if _DRIVE.match(path):
        return path
    path = from_home(path)
    return path if path.startswith("/") else f"{directory or here()}/{path}"


def normalised(path: str) -> str:
    """Return an absolute path without ``.``, ``..`` and doubled slashes; symlinks are left alone."""
    return os.path.normpath(path).replace("//", "/", 1) if path.startswith("//") else os.path.normpath(path)


def resolved(path: str, *, follow: bool = True) -> str:
    """Return an absolute path with the symlinks of its existing part followed; the last name's too if ``follow``."""
    if len(path) > LONGEST or not path.startswith("/") or "\0" in path:
        return normalised(path)
    try:
        if follow:
            return os.path.realpath(path)
        head, name = os.path.split(path.rstrip("/"))
        return normalised(f"{os.path.realpath(head or '/')}/{name}")
    except (OSError, ValueError):
        return normalised(path)


def exists(path: str) -> bool:
    """Whether something has this name, even a link to nowhere."""
    try:
        return len(path) <= LONGEST and os.path.lexists(path)
    except ValueError:
        return False


def is_directory(path: str) -> bool:
    """Whether a directory, or a link to one, has this name."""
    try:
        return len(path) <= LONGEST and os.path.isdir(path)
    except ValueError:
        return False


def is_link(path: str) -> bool:
    """Whether a symlink has this name."""
    try:
        return len(path) <= LONGEST and os.path.islink(path)
    except ValueError:
        return False


def entries(path: str) -> list[str]:
    """Return the names in a directory, at most ``MANY`` of them; none where it cannot be read."""
    try:
        with os.scandir(path) as found:
            return sorted(name for _, name in zip(range(MANY * 8), (entry.name for entry in found), strict=False))
    except (OSError, ValueError):
        return []


def named(given: str, directory: str, trees: dict[str, Tree]) -> list[str]:
    """Return the names that a pattern stands for, or what was given; ``trees`` keeps what was looked through for ``**/``."""
    if "**/" not in given or len(given) > LONGEST:
        return globbed(given, directory) or [given]
    head, _, rest = given.partition("**/")
    root = absolute(head, directory)
    names, whole = trees[root] = trees.get(root) or _tree(root)
    rest = rest.replace("**/", "*").replace("[^", "[!").rstrip("/")
    pattern = re.compile(translate(f"*/{rest}" if "/" in rest else rest))
    found = [head + name for name in names if pattern.match(f"/{name}" if "/" in rest else name.rpartition("/")[2])]
    return found[:MANY] if found and whole and len(found) <= MANY else [*found[:MANY], given]


def _tree(root: str) -> Tree:
    """Look through a directory level by level, hidden names too; false where it has more than ``LOOKED_AT`` names."""
    names: list[str] = []
    folders = deque([""])
    while folders and len(names) < LOOKED_AT:
        folder = folders.popleft()
        try:
            with os.scandir(f"{root}/{folder}") as found:
                for entry in found:
                    names.append(folder + entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{folder}{entry.name}/")
        except (OSError, ValueError):
            continue
    return names, not folders


def globbed(given: str, directory: str) -> list[str]:
    """Return what a shell would put in the place of a pattern: names on the disk, in the form that was given."""
    if not is_wild(given) or len(given) > LONGEST or exists(absolute(given, directory)):
        return []
    lead = "/" if given.startswith("/") else ""
    found = [""]
    for part in given.strip("/").split("/"):
        found = [f"{head}{name}/" for head in found for name in _named(part, absolute(lead + head, directory))]
        if not found or len(found) > MANY:
            return []
    return [lead + name.rstrip("/") for name in found]


def _named(part: str, directory: str) -> Iterator[str]:
    if not is_wild(part):
        if exists(f"{directory}/{part}"):
            yield part
        return
    pattern = _compiled(part)
    for name in entries(directory):
        if (part.startswith(".") or not name.startswith(".")) and pattern.match(name):
            yield name


@lru_cache(maxsize=64)
def _compiled(part: str) -> re.Pattern[str]:
    return re.compile(translate(part.replace("[^", "[!")))


def _plain(given: str) -> str:
    """Undo URI, Windows and /proc spellings."""
    path = given
    if path[:7].lower() == "file://":
        path = unquote(path[7:])
        path = path[1:] if re.match(r"/[A-Za-z]:", path) else path
    if "\\" in path:
        path = path.replace("\\\\?\\", "", 1).replace("\\", "/")
    if path.startswith("/proc/"):
        path = _PROC_CWD.sub(".", path, count=1)
        path = _PROC_ROOT.sub("/", path, count=1)
    return path


def from_home(path: str) -> str:
    """Return the path with a leading ``~`` or ``~name`` replaced by that home directory."""
    if not path.startswith("~"):
        return path
    name, _, rest = path.partition("/")
    home = os.path.expanduser(name) if len(name) < MANY and "\0" not in name else name
    return f"{home}/{rest}" if rest else home


def here() -> str:
    """Return the working directory of this process, for calls that do not say theirs."""
    try:
        return os.getcwd()
    except OSError:
        return "/"
