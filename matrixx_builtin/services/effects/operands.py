"""Do to the operands of a program what its description says, or guess where there is none."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.options import parsed, spec_of
from matrixx_builtin.services.effects.paths import absolute, exists, is_wild
from matrixx_builtin.services.effects.programs import MERE_WORDS, WRITE_WORDS
from matrixx_builtin.services.effects.words import finished, shown

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_REVISION = re.compile(r"[^:\s]*:(?!/)(.+)", re.DOTALL)


def apply(shell: "Shell", description: str, args: Sequence[str], how: str) -> list[str]:
    """Do what the description says; returns the operands that are files."""
    spec, found = spec_of(description), parsed(description, args)
    roles = spec.operands or ("-*",)
    if roles[0] == "p" and any(option in spec.sparing for option, _ in found.values):
        roles = roles[1:]
    elif any(option in spec.sparing for option, _ in found.values):
        roles = ("-", *roles[1:]) if roles[0] in {"w", "a"} else roles
    edits = bool(found.flags & spec.in_place) or any(option in spec.in_place for option, _ in found.values)
    for option, value in found.values:
        use(shell, spec.values.get(option, "-").lstrip("2"), value, f"{how} {option}")
    touched: list[str] = []
    for at, operand in enumerate(found.operands):
        role = roles[at] if at < len(roles) else roles[-1] if roles and roles[-1].endswith("*") else "-"
        letter = role.rstrip("*")
        if edits and letter == "r":
            use(shell, "e", operand, f"{how} -i")
        else:
            use(shell, letter, operand, how)
        if letter not in {"-", "p"}:
            touched.append(operand)
    return touched


def use(shell: "Shell", letter: str, value: str, how: str) -> None:
    """Do to one value what a description's letter says."""
    special = _SPECIAL.get(letter)
    if special is not None:
        special(shell, value, how)
    elif _URL.match(value) and letter in {"r", "w", "b"}:
        address(shell, value, how)
    else:
        shell.act(letter, value, how)


def address(shell: "Shell", value: str, how: str) -> None:
    """Note a URL that is reached; ``file:`` is a file that is read."""
    if value[:5].lower() == "file:":
        shell.act("r", value if value[5:7] == "//" else value[5:], how)
    else:
        shell.ledger.fetch(value)


def guess(shell: "Shell", how: str, args: Sequence[str], letter: str) -> None:
    """Take what looks like a file among the arguments of an unknown program for one that it uses in the role of ``letter``."""
    skips = False
    for arg in args:
        mere, skips = skips, False
        if not arg.startswith("-"):
            if not mere:
                _guessed(shell, arg, letter, how)
            continue
        option, equals, value = arg.partition("=")
        words = set(re.split(r"[-_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "-", option).lower()))
        skips = bool(words & MERE_WORDS) and not equals
        if equals and not words & MERE_WORDS:
            _guessed(shell, value, "w" if words & WRITE_WORDS else letter, f"{how} {option}")


def _guessed(shell: "Shell", arg: str, letter: str, how: str) -> None:
    value = arg.partition("=")[2] if re.match(r"[\w.-]+=", arg) else arg
    value = value.removeprefix("@")
    if _URL.match(value):
        address(shell, value, how)
    elif looks_like_path(value) or _exists(shell, value):
        shell.act(letter, value, how)


def looks_like_path(text: str) -> bool:
    """Whether a text could well be a file's name: no blanks, and a dot or a slash somewhere."""
    return (
        1 < len(text) <= 1024
        and not re.search(r"[\s\"'`<>|;(){}$]", shown(text))
        and ("." in text or "/" in text or "\\" in text or is_wild(text))
    )


def _exists(shell: "Shell", text: str) -> bool:
    return 0 < len(text) <= 255 and exists(absolute(text, shell.directories[0]))


def _after_at(shell: "Shell", value: str, how: str) -> None:
    found = re.match(r"(?:[\w.\[\]-]*=?)?[@<](.+)", value, re.DOTALL) or re.match(r"fileb?:(?://)?(.+)", value, re.DOTALL)
    if found:
        shell.act("r", found[1].split(";")[0], how)


def _names(shell: "Shell", value: str, how: str) -> None:
    for name in finished(value) if not value.startswith("!") else ():
        shell.act("r", name if "/" in name else f"**/{name}", how)


def _read(shell: "Shell", value: str, how: str) -> None:
    shell.act("r", value, how)


def _program(shell: "Shell", value: str, how: str) -> None:
    shell.program(value, how=how)


def revision(shell: "Shell", value: str, how: str) -> None:
    """Read git's ``REV:path``, or a path that stands alone."""
    found = _REVISION.fullmatch(value)
    if found or looks_like_path(value) or _exists(shell, value):
        shell.act("r", found[1] if found else value, how)


_SPECIAL: "dict[str, Callable[[Shell, str, str], None]]" = {
    "u": address,
    "@": _after_at,
    "g": _names,
    "v": revision,
    "f": lambda shell, value, how: (_after_at if "=" in value else _read)(shell, value, how),
    "k": lambda shell, value, how: shell.act("r", value.partition("=")[2] or value, how),
    "s": _program,
    "t": lambda shell, value, how: _program(shell, value, how) if re.search(r"\s", value) else None,
}
