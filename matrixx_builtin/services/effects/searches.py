"""Programs that look for files and do something with what they find."""

# ruff: noqa: ARG001 - every program's function is called with the same four arguments

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.options import parsed
from matrixx_builtin.services.effects.words import DYNAMIC, names

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_NAMED = frozenset(names("-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname"))
_EXECUTED = frozenset(names("-exec -execdir -ok -okdir"))
_PRINTED = frozenset(names("-fprint -fprint0 -fprintf -fls"))


def find(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run ``find``: what it would find stands for the files, and its actions are done to it."""
    start = next((at for at, arg in enumerate(args) if arg.startswith(("-", "(", "!")) and not re.fullmatch(r"-[HLPO]\d?", arg)), len(args))
    roots = [arg for arg in args[:start] if not arg.startswith("-")] or ["."]
    tests = args[start:]
    found = _candidates(roots, tests)
    at, acts = 0, False
    while at < len(tests):
        word = tests[at]
        at += 1
        if word in _EXECUTED:
            end = next((index for index in range(at, len(tests)) if tests[index] in {";", "+"}), len(tests))
            _execute(shell, tests[at:end], found)
            at, acts = end + 1, True
        elif word == "-delete":
            acts = True
            for path in found:
                shell.act("d", path, "find -delete")
        elif word in _PRINTED and at < len(tests):
            shell.act("w", tests[at], f"find {word}")
    if not acts:
        for path in found:
            shell.act("m", path, "find")
    return "" if acts else "".join(f"{path}\n" for path in found)


def _candidates(roots: list[str], tests: list[str]) -> list[str]:
    """Return what may be found: the wanted names below each root, or the roots themselves."""
    patterns: list[str] = []
    for at, word in enumerate(tests[:-1]):
        negated = at > 0 and tests[at - 1] in {"!", "-not"}
        if word in _NAMED and not negated and (at < 2 or tests[at - 1] not in _NAMED):
            patterns.append(_pattern(word, tests[at + 1]))
    return [f"{root.rstrip('/') or '/'}/**/{pattern}" for root in roots for pattern in patterns if pattern not in {"*", ""}][:64] or roots


def _pattern(test: str, value: str) -> str:
    if "regex" in test:
        value = re.sub(r"\\(.)", r"\1", value.replace(".*", "*"))
    return value.removeprefix("./").removeprefix("*/") if "name" not in test or "whole" in test else value


def _execute(shell: "Shell", argv: list[str], found: list[str]) -> None:
    for path in found[:16]:
        shell.run([word.replace("{}", path) for word in argv])


def fd(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Run ``fd``, which looks for a part of a name."""
    at = next((at for at, arg in enumerate(args) if arg in {"-x", "-X", "--exec", "--exec-batch"}), len(args))
    found = parsed("p m* -e/--extension/-E/--exclude/-t/--type/-d/--max-depth/-S/--size/--changed-within=-", args[:at])
    pattern = next(iter(found.operands), "")
    ending = found.value("-e", "--extension")
    roots = found.operands[1:] or ["."]
    literal = re.sub(r"[\\^$]", "", pattern)
    wanted = f"*.{ending}" if ending else f"{'' if literal.startswith('.') else '*'}{literal}*" if literal else ""
    paths = [f"{root}/**/{wanted}" if wanted else root for root in roots]
    if at < len(args):
        argv = args[at + 1 :]
        for path in paths:
            shell.run([word.replace("{}", path) for word in argv] if any("{}" in word for word in argv) else [*argv, path])
        return ""
    return "".join(f"{path}\n" for path in paths)


def locate(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Look a name up; nothing is read."""
    return DYNAMIC


HANDLERS: "dict[str, Callable[[Shell, str, list[str], str], str]]" = {
    "find": find,
    "gfind": find,
    "fd": fd,
    "fdfind": fd,
    "locate": locate,
    "mdfind": locate,
}
