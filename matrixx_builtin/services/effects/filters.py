"""What a few programs print, so that text which is built on the way to ``sh``, ``xargs`` or ``$(...)`` can be followed."""

# ruff: noqa: ARG001 - every program's function is called with the same four arguments

import base64
import binascii
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.options import parsed
from matrixx_builtin.services.effects.paths import entries, is_directory
from matrixx_builtin.services.effects.words import DYNAMIC, ansi, is_dynamic, names

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_SUBSTITUTE = re.compile(r"s([/|,#:!@])((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1[gIip0-9]*")
_FORMAT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?([sbdiqxXocu%])")


def echoed(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``echo``."""
    options = next((at for at, arg in enumerate(args) if not re.fullmatch(r"-[neE]+", arg)), len(args))
    text = " ".join(args[options:])
    decode = any("e" in arg for arg in args[:options])
    return (ansi(text) if decode else text) + ("" if any("n" in arg for arg in args[:options]) else "\n")


def formatted(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``printf``."""
    if args[:1] == ["-v"] and len(args) > 2:
        shell.assign(args[1], [formatted(shell, args[2:], stdin)])
        return ""
    args = args[1:] if args[:1] == ["--"] else args
    if not args:
        return ""
    values, form = list(args[1:]), ansi(args[0])
    printed = [_filled(form, values)]
    while values and _FORMAT.search(form.replace("%%", "")) and len(printed) < 1000:
        printed.append(_filled(form, values))
    return "".join(printed)


def _filled(form: str, values: list[str]) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1] == "%":
            return "%"
        text = values.pop(0) if values else ""
        return ansi(text) if found[1] == "b" else text

    return _FORMAT.sub(value, form)


def decoded(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``base64``."""
    found = parsed("r* -w/-b=-", args)
    if is_dynamic(stdin):
        return DYNAMIC
    if found.has("-d", "-D", "--decode"):
        return from_base64(stdin)
    return base64.b64encode(stdin.encode("utf-8", "replace")).decode() + "\n"


def from_base64(text: str) -> str:
    """Return what base64 text stands for, or what marks it as unknown."""
    try:
        return base64.b64decode("".join(text.split()) + "==").decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return DYNAMIC


def from_hex(text: str) -> str:
    """Return what a row of hex digits stands for, or what marks it as unknown."""
    try:
        return bytes.fromhex("".join(text.split())).decode("utf-8", "replace")
    except ValueError:
        return DYNAMIC


def unhexed(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``xxd``."""
    return from_hex(stdin) if parsed("", args).has("-r") else DYNAMIC


def reversed_lines(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``rev``."""
    return "\n".join(line[::-1] for line in stdin.split("\n"))


def translated(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``tr``."""
    found = parsed("- -", args)
    sets = [_members(operand) for operand in found.operands]
    if found.has("-d", "--delete") and sets:
        return stdin.translate({ord(char): None for char in sets[0]})
    if len(sets) == 2 and sets[1] and not found.has("-c", "-C", "--complement"):
        padded = sets[1] + sets[1][-1] * len(sets[0])
        return stdin.translate({ord(old): new for old, new in zip(sets[0], padded, strict=False)})
    return stdin


def _members(text: str) -> str:
    text = ansi(text).replace("[:lower:]", "a-z").replace("[:upper:]", "A-Z").replace("[:space:]", " \t\n").replace("[:digit:]", "0-9")
    return re.sub(r"(\w)-(\w)", lambda span: "".join(map(chr, range(ord(span[1]), min(ord(span[2]), ord(span[1]) + 255) + 1))), text[:1024])


def substituted(script: str, stdin: str) -> str:
    """Print like ``sed`` where the script is one plain ``s/old/new/``; otherwise let every line through."""
    found = _SUBSTITUTE.fullmatch(script.strip())
    if not found or re.search(r"[*+{(].*[*+{(]", found[2]) or len(stdin) > 2048:
        return stdin
    new = found[3].replace("\\n", "\n").replace(f"\\{found[1]}", found[1])
    try:
        return re.sub(found[2].replace(f"\\{found[1]}", found[1]), lambda _: new, stdin)
    except re.error:
        return stdin


def kept(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``grep``: the lines that hold a plain pattern, or all where it is not plain."""
    found = parsed("p r* -e/--regexp=p! -m/-A/-B/-C=-", args)
    pattern = found.value("-e", "--regexp") or next(iter(found.operands), "")
    inverted = found.has("-v", "--invert-match")
    if inverted or re.search(r"[*+{(|\[\\?]", pattern) or is_dynamic(stdin):
        return stdin
    fold = str.casefold if found.has("-i", "--ignore-case") else str
    wanted = fold(pattern.strip("^$"))
    return "".join(f"{line}\n" for line in stdin.splitlines() if _fits(wanted, fold(line)))


def _fits(wanted: str, line: str) -> bool:
    return wanted in line or ("." in wanted and re.search(re.escape(wanted).replace(r"\.", "."), line) is not None)


def listed(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``ls``: the names that were given, or those in the one directory that was."""
    found = parsed("m*", args)
    operands = found.operands or ["."]
    if found.has("-l") or not shell.captures:
        return DYNAMIC
    place = shell.place(operands[0])
    if len(operands) == 1 and is_directory(place) and not found.has("-d"):
        names = [name for name in entries(place) if found.has("-a", "-A") or not name.startswith(".")]
        return "".join(f"{name}\n" for name in names)
    return "".join(f"{operand}\n" for operand in operands)


def pasted(shell: "Shell", args: list[str], stdin: str) -> str:
    """Print like ``paste -s``: all lines as one."""
    found = parsed("r* -d/--delimiters=-", args)
    if not found.has("-s", "--serial"):
        return stdin
    return (ansi(found.value("-d", "--delimiters") or "\t")[:1] or "").join(stdin.splitlines()) + "\n"


def _silent(shell: "Shell", args: list[str], stdin: str) -> str:
    return ""


def _same(shell: "Shell", args: list[str], stdin: str) -> str:
    return "".join(f"{arg}\n" for arg in args if not arg.startswith("-"))


def _last_part(shell: "Shell", args: list[str], stdin: str) -> str:
    operands = parsed("m*", args).operands
    return "".join(f"{operand.rstrip('/').rsplit('/', 1)[-1]}\n" for operand in operands[:1])


def _first_part(shell: "Shell", args: list[str], stdin: str) -> str:
    operands = parsed("m*", args).operands
    return "".join(f"{operand.rpartition('/')[0] or '.'}\n" for operand in operands)


FILTERS: "dict[str, Callable[[Shell, list[str], str], str]]" = {
    "echo": echoed,
    "printf": formatted,
    "base64": decoded,
    "xxd": unhexed,
    "rev": reversed_lines,
    "paste": pasted,
    "tr": translated,
    "ls": listed,
    "dir": listed,
    "basename": _last_part,
    "dirname": _first_part,
    "which": _same,
    "realpath": _same,
    "readlink": _same,
    **dict.fromkeys(names("grep egrep fgrep rg ag"), kept),
    **dict.fromkeys(
        names("true false : sleep mkdir touch rm rmdir unlink chmod chown cd shopt set unset return exit break continue [ test kill wait"),
        _silent,
    ),
}
