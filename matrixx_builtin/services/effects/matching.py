"""Match touched paths with name and path patterns, the way a person who protects a file means them."""

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from matrixx_builtin.services.effects.model import Touch
from matrixx_builtin.services.effects.paths import LONGEST, from_home, is_wild, normalised, resolved

_STREAM = re.compile(r"(?::[^/:]*)?:\$[a-z_]+$")
_IGNORABLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_WILDCARDS = re.compile(r"\*+|\?|\[.*?\]")
_TOKEN = re.compile(r"\*+/?|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


class Pattern(NamedTuple):
    """One compiled pattern; ``anchored`` ones are tested from the base only."""

    text: str
    regex: re.Pattern[str]
    excepts: bool
    anchored: bool


class Patterns(NamedTuple):
    """Patterns in the order given, and one regex that fits every name that one of them fits: most names fit none."""

    each: tuple[Pattern, ...]
    any: re.Pattern[str]


def matching(touches: Iterable[Touch], patterns: Sequence[str], *, base: str = "") -> tuple[Touch, ...]:
    """Return the touches that the patterns name.

    ``*.pem`` or ``.env`` is a name anywhere on the path, ``.aws/credentials`` a path's end or any directory's content, ``/build`` starts at
    ``base`` (or the root), ``~`` is the home directory, ``!.env.example`` excepts, and the last pattern that fits decides. Letters match in
    any case. A symlink is tested under its own name and under the name that it leads to; either one is enough.
    """
    compiled = _compiled(tuple(patterns))
    root = folded(resolved(base)) if base else ""
    return tuple(touch for touch in touches if any(_chosen(name, compiled, root) for name in _names(touch)))


def covers(touch: Touch, path: str) -> bool:
    """Whether the touch reaches ``path`` (absolute): it is that path, or a directory above it."""
    wanted = {folded(normalised(path)), folded(resolved(path, follow=touch.mode != "delete"))}
    return any(_reaches(folded(name), want) for name in {touch.path, touch.link} - {""} for want in wanted)


def folded(path: str) -> str:
    """Return the path as a careless file system compares it: letter case, trailing blanks and dots, and NTFS streams dropped."""
    if not path.isascii():
        path = _IGNORABLE.sub("", unicodedata.normalize("NFC", path))
    parts = path.replace("\\", "/").casefold().split("/")
    return "/".join(part if part in {"", ".", ".."} else _STREAM.sub("", part.strip()).strip().rstrip(".") or part for part in parts)


def _reaches(above: str, path: str) -> bool:
    if path == above or path.startswith(above.rstrip("/") + "/"):
        return True
    return is_wild(above) and re.fullmatch(_translated(above) + "(?:/.*)?", path, re.DOTALL) is not None


def _names(touch: Touch) -> set[str]:
    """Return the names to test, as relative as they are known."""
    given = os.path.normpath(touch.given) if ".." in touch.given else touch.given
    return {folded(name) for name in (given, touch.link, touch.path) if name}


def _chosen(name: str, patterns: Patterns, root: str) -> bool:
    inside = name[len(root) + 1 :] if root and name.startswith(root.rstrip("/") + "/") else name
    if not is_wild(inside) and not any(patterns.any.fullmatch(one) for one in {inside, name}):
        return False
    for pattern in reversed(patterns.each):
        if pattern.regex.fullmatch(inside) or (pattern.anchored and pattern.regex.fullmatch(name)) or _meets(inside, pattern):
            return not pattern.excepts
    return False


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> Patterns:
    each = tuple(_pattern(text) for text in patterns if text.strip("!/ "))
    bodies = "|".join(_translated(pattern.text) for pattern in each)
    return Patterns(each, re.compile(f"(?:.*/)?(?:{bodies})(?:/.*)?" if each else "(?!)", re.DOTALL))


def _pattern(text: str) -> Pattern:
    excepts = text.startswith("!")
    body = folded(from_home(text.removeprefix("!")).removeprefix("./")).rstrip("/")
    anchored = body.startswith("/")
    lead = "/?" if anchored else "(?:.*/)?"
    return Pattern(body.strip("/"), re.compile(f"{lead}{_translated(body.strip('/'))}(?:/.*)?", re.DOTALL), excepts, anchored)


def _translated(glob: str) -> str:
    return "".join(_as_regex(sign) for sign in _TOKEN.findall(glob))


def _as_regex(sign: str) -> str:
    if sign[0] == "*":
        return "[^/]*" + sign[1:] if sign in {"*", "*/"} else "(?:.*/)?" if sign.endswith("/") else ".*"
    if sign == "?":
        return "[^/]"
    if sign[0] == "[" and len(sign) > 2:
        return translate(sign)[4:-3]
    return re.escape(sign)


def _meets(name: str, pattern: Pattern) -> bool:
    """Whether a name that is itself a pattern (the disk had nothing for it) could name what the pattern names."""
    if pattern.excepts or len(name) > LONGEST or not is_wild(name):
        return False
    own = name if "/" in pattern.text else name.rsplit("/", 1)[-1]
    return _specific(own, pattern.text) and _overlap(tuple(_TOKEN.findall(own)), tuple(_TOKEN.findall(pattern.text)))


def _specific(own: str, other: str) -> bool:
    """A bare ``*`` could be anything: a name pattern counts if it says two characters, half of an open name, or how a fixed one starts."""
    said = len(_WILDCARDS.sub("", own))
    return said > 1 and (2 * said >= len(_WILDCARDS.sub("", other)) if other[0] in "*?[" else own[0] not in "*?[")


def _overlap(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether two globs have a name in common."""
    reach = {0}
    for at in range(len(left) + 1):
        for token_at, sign in enumerate(right):
            if token_at in reach and sign[0] == "*":
                reach.add(token_at + 1)
        if at == len(left):
            break
        reach = _step(left[at], right, reach)
    return len(right) in reach


def _step(sign: str, right: tuple[str, ...], reach: set[int]) -> set[int]:
    if sign[0] == "*":
        return set(range(min(reach), len(right) + 1)) if reach else set()
    after = {at + 1 for at in reach if at < len(right) and right[at][0] != "*" and _same(sign, right[at])}
    return after | {at for at in reach if at < len(right) and right[at][0] == "*"}


def _same(left: str, right: str) -> bool:
    if len(left) == 1 and left != "?":
        return right == "?" or re.fullmatch(_as_regex(right), left) is not None
    return len(right) > 1 or right == "?" or re.fullmatch(_as_regex(left), right) is not None
