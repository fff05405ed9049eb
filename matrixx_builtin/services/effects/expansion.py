"""What ``$NAME`` and ``${NAME...}`` may stand for."""

import re
from collections.abc import Callable
from fnmatch import translate
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.words import DYNAMIC, END, MOST

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_FORM = re.compile(r"\$\{([!#]?)(\w+|[@*#?$!-])(?:\[([^\]]*)\])?(.*)\}", re.DOTALL)
_DIGIT = re.compile(r"(\$\d)(\w+)")
_SLICE = re.compile(r":\s*(-?\d+)\s*(?::\s*(-?\d+))?")
_REPLACE = re.compile(r"/([/#%]?)((?:\\.|[^/\\])+)(?:/(.*))?", re.DOTALL)
_CASES: dict[str, Callable[[str], str]] = {
    "^^": str.upper,
    ",,": str.lower,
    "^": lambda value: value[:1].upper() + value[1:],
    ",": lambda value: value[:1].lower() + value[1:],
}


def values_of(shell: "Shell", text: str) -> list[str]:
    """Return the values that an expansion may have; text that only the running shell knows is marked."""
    unseen = f"{DYNAMIC}{text}{END}"
    if joined_on := _DIGIT.fullmatch(text):
        return [value + joined_on[2] for value in values_of(shell, joined_on[1])]
    form = _FORM.fullmatch(text)
    if not form:
        return _variable(shell, text.removeprefix("$")) or [unseen]
    sign, name, _, change = form.groups()
    known = _variable(shell, name)
    if sign == "!" and known:
        known = [value for one in known for value in shell.known(one) or [unseen]]
    if sign == "#":
        return [str(len(value)) for value in known or []] or [unseen]
    if change.lstrip(":")[:1] == "=" and not known:
        shell.assign(name, shell.values_in(change.lstrip(":")[1:]))
    return _changed(shell, known, change)[:MOST] or [unseen]


def _variable(shell: "Shell", name: str) -> list[str] | None:
    if name in {"@", "*"}:
        return list(shell.arguments) or [""]
    if name == "0":
        return [shell.zero] if shell.zero else None
    if name.isdigit():
        return list(shell.arguments[int(name) - 1 : int(name)][:1]) if len(name) < 4 else None
    return shell.known(name)


def _changed(shell: "Shell", known: list[str] | None, change: str) -> list[str]:
    if not change:
        return known or []
    operator = change.lstrip(":")[:1]
    if operator in {"-", "=", "+", "?"} and not _SLICE.fullmatch(change):
        other = [] if operator == "?" else shell.values_in(change.lstrip(":")[1:])
        return (known or []) + other if operator != "-" or not known else known
    return [_edited(value, change) for value in known or []]


def _edited(value: str, change: str) -> str:
    if change in _CASES:
        return _CASES[change](value)
    if sliced := _SLICE.fullmatch(change):
        start = int(sliced[1])
        return value[start:][: int(sliced[2])] if sliced[2] else value[start:]
    if change[0] in "#%":
        return _trimmed(value, change)
    if replaced := _REPLACE.fullmatch(change):
        every, pattern, new = replaced.groups()
        regex = _glob(pattern.replace("\\", ""), greedy=True)
        anchored = {"#": rf"\A{regex}", "%": rf"{regex}\Z"}.get(every, regex)
        return re.sub(anchored, lambda _: (new or "").strip("'\""), value[:4096], count=0 if every == "/" else 1)
    return value


def _trimmed(value: str, change: str) -> str:
    longest = change[:2] in {"##", "%%"}
    regex = re.compile(_glob(change.lstrip("#%").strip("'\""), greedy=True), re.DOTALL)
    cuts = range(min(len(value), 512) + 1)
    if change[0] == "#":
        found = next((cut for cut in (reversed(cuts) if longest else cuts) if regex.fullmatch(value[:cut])), 0)
        return value[found:]
    found = next((cut for cut in (cuts if longest else reversed(cuts)) if regex.fullmatch(value[cut:])), len(value))
    return value[:found]


def _glob(pattern: str, *, greedy: bool) -> str:
    body = translate(pattern)[4:-3]
    return body if greedy else body.replace("*", "*?")
