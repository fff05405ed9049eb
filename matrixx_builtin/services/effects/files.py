"""Programs that change files by a little script of their own: ``tee``, ``sed``, ``ed`` and ``vim``."""

# ruff: noqa: ARG001 - every program's function is called with the same four arguments

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from matrixx_builtin.services.effects.filters import substituted
from matrixx_builtin.services.effects.operands import apply
from matrixx_builtin.services.effects.options import parsed
from matrixx_builtin.services.effects.words import DYNAMIC, names

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

_SED = "p r* -i^ --in-place^ -I^ -e/--expression=p! -f/--file=r! -l/--line-length=-"
_ADDRESS = r"(?:\d{1,9}|\$|/(?:\\.|[^/\\\n]){0,200}/)"
_SED_FILE = re.compile(rf"(?:^|[;{{}}\n])[ \t]{{0,20}}(?:{_ADDRESS}(?:,{_ADDRESS})?)?[ \t]{{0,20}}!?[ \t]{{0,20}}([rRwW])[ \t]+([^\n;}}]+)")
_SED_WRITES = re.compile(r"s([/|,#:!@])(?:\\.|(?!\1).){0,400}\1(?:\\.|(?!\1).){0,400}\1[gpiIm0-9]*w\s+([^\n;}]+)")
_SED_EVALUATES = re.compile(r"s([/|,#:!@])(?:\\.|(?!\1).){0,400}\1((?:\\.|(?!\1).){0,400})\1[gpiIm0-9]*e")
_SED_RUNS = re.compile(r"(?:^|[;{}\n])[ \t]{0,20}(?:\d{1,9}|\$)?[ \t]{0,20}e[ \t]+([^\n]+)")
_MODE = re.compile(r"-[rwxXst]+")
_EDITOR = re.compile(r"^[ \t:%0-9,$]{0,40}(r|e|E|w|sav|saveas|write|read|edit|so|source)!?\s+([^\n!|]+)", re.MULTILINE)
_EDITOR_RUNS = re.compile(r"(?:^|\|)[ \t:%0-9,$]{0,40}(?:r|w|read|write|silent)?[ \t]{0,9}![ \t]*([^\n]+)", re.MULTILINE)


def tee(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Write the input to each operand, and print it."""
    found = parsed("w*", args)
    append = found.has("-a", "--append")
    for operand in found.operands:
        shell.act("a" if append else "w", operand, "tee")
        shell.put(operand, stdin, append=append)
    return stdin


def sed(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Read the operands, or change them with ``-i``; the script may name files and commands as well."""
    found = parsed(_SED, args)
    scripts = [value for option, value in found.values if option in {"-e", "--expression"}]
    files = found.operands
    for option, value in found.values:
        if option in {"-f", "--file"}:
            shell.act("r", value, "sed -f")
            scripts.append(shell.written(value))
    if not scripts:
        scripts, files = files[:1], files[1:]
    edits = found.has("-i", "--in-place", "-I")
    if edits and scripts[:1] == [""] and len(files) > 1:
        # BSD's `sed -i '' script file`: the empty word is the suffix.
        scripts, files = files[:1], files[1:]
    for file in files:
        shell.act("e" if edits else "r", file, "sed -i" if edits else "sed")
    for script in scripts:
        _sed_script(shell, script)
        stdin = substituted(script, stdin)
    return stdin if not files else "".join(shell.written(file) for file in files)


def _sed_script(shell: "Shell", script: str) -> None:
    for letter, file in _SED_FILE.findall(script[:65536]):
        shell.act("r" if letter in "rR" else "w", file.strip(), f"sed {letter}")
    for _, file in _SED_WRITES.findall(script[:65536]):
        shell.act("w", file.strip(), "sed w")
    codes = [*_SED_RUNS.findall(script[:65536]), *(found[1] for found in _SED_EVALUATES.findall(script[:65536]))]
    for code in codes:
        shell.program(code, "", "sed e")


def editor(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Open the operands for change, and do what a batch of editor commands says."""
    found = parsed("-* -c/--cmd/-S/-u/-i/-w/-T/--eval/--load=-", [arg for arg in args if not arg.startswith("+")])
    for operand in found.operands:
        shell.act("b", operand, name)
    commands = [value for option, value in found.values if option in {"-c", "--cmd"}]
    commands += [arg[1:] for arg in args if arg.startswith("+")]
    if name in {"ed", "ex"} or found.has("-es", "-e", "-s"):
        commands.append(stdin)
    for command in commands:
        _editor_command(shell, command[:65536], name)
    return DYNAMIC


def _editor_command(shell: "Shell", command: str, name: str) -> None:
    for verb, file in _EDITOR.findall(command):
        shell.act(
            "r" if verb in {"r", "read", "so", "source"} else "b" if verb in {"e", "E", "edit"} else "w", file.strip(), f"{name} {verb}"
        )
    for code in _EDITOR_RUNS.findall(command):
        shell.program(code, "", f"{name} !")


def rights(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    """Change rights; a mode may look like an option (``chmod -w x``)."""
    apply(shell, "- m* --reference=m", [f"a{arg}" if _MODE.fullmatch(arg) else arg for arg in args], name)
    return ""


HANDLERS: "dict[str, Callable[[Shell, str, list[str], str], str]]" = {
    "tee": tee,
    "chmod": rights,
    "gtee": tee,
    **dict.fromkeys(["sed", "gsed", "ssed"], sed),
    **dict.fromkeys(names("ed ex vi vim nvim view red emacs"), editor),
}
