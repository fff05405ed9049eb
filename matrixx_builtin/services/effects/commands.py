"""Run one command line: find out which program it is, and do to its operands what that program does."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from matrixx_builtin.services.effects import archives, files, git, interpreters, searches, transfers, wrappers
from matrixx_builtin.services.effects.filters import FILTERS
from matrixx_builtin.services.effects.operands import apply, guess
from matrixx_builtin.services.effects.programs import long_commands, program_name, programs, unversioned
from matrixx_builtin.services.effects.words import DYNAMIC, is_dynamic

if TYPE_CHECKING:
    from matrixx_builtin.services.effects.shell import Shell

Handler: TypeAlias = "Callable[[Shell, str, list[str], str], str]"
"""Does what a program does, given the shell, the program's bare name, its arguments and its input; returns what it prints."""

_LONG_NAMES = frozenset(command[0] for command in long_commands())
_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
HANDLERS: dict[str, Handler] = {
    **archives.HANDLERS,
    **files.HANDLERS,
    **git.HANDLERS,
    **interpreters.HANDLERS,
    **searches.HANDLERS,
    **transfers.HANDLERS,
    **wrappers.HANDLERS,
}


def run_command(shell: "Shell", argv: list[str], stdin: str) -> str:
    """Run a command line that is no function of the shell; returns what it prints, as far as that is known."""
    word, args = argv[0], argv[1:]
    if is_dynamic(word):
        shell.ledger.doubt("program", word)
        guess(shell, word, args, "b")
        return DYNAMIC
    shell.ledger.run(tuple(argv), shell.directories[0])
    if "/" in word and shell.place(word) in shell.ledger.texts:
        return interpreters.run_script(shell, word, args)
    name = _known(program_name(word))
    alias = shell.aliases.pop(name, None)
    if alias is not None:
        printed = shell.program(" ".join([alias, *map(_requoted, args)]), stdin)
        shell.aliases[name] = alias
        return printed
    return _dispatched(shell, name, args, stdin)


def _dispatched(shell: "Shell", name: str, args: list[str], stdin: str) -> str:
    if (long := _long_command(shell, name, args, stdin)) is not None:
        return long
    if handler := HANDLERS.get(name):
        return handler(shell, name, args, stdin)
    description = programs().get(name)
    if description is None:
        guess(shell, name, args, "r")
        return DYNAMIC
    operands = apply(shell, description, args, name)
    printer = FILTERS.get(name)
    if printer is not None:
        return printer(shell, args, _input(shell, operands, stdin))
    return _input(shell, operands, stdin) if description.startswith(("r*", "p r*")) else DYNAMIC


def _long_command(shell: "Shell", name: str, args: list[str], stdin: str) -> str | None:
    """Run a command like ``aws s3 cp``; ``None`` if it is not one of those."""
    if name not in _LONG_NAMES:
        return None
    said = [arg for arg in args if not arg.startswith("-")]
    description = long_commands().get((name, *said[:2])) or long_commands().get((name, *said[:1]))
    if description is None:
        return None
    if description.startswith("remote"):
        rest = list(args)
        for word in said[: int(description[-1])]:
            rest.remove(word)
        return transfers.remote(shell, name, rest, stdin)
    apply(shell, f"{description} {programs().get(name, '').partition(' ')[2]}", args, " ".join([name, *said[:2]]))
    return DYNAMIC


def _input(shell: "Shell", operands: Sequence[str], stdin: str) -> str:
    """Return the text of the files that a program reads, or of its input where it names none."""
    return "".join(stdin if operand in _INPUT else shell.written(operand) for operand in operands) if operands else stdin


def _known(name: str) -> str:
    table = programs()
    for candidate in (name, unversioned(name)):
        if candidate in HANDLERS or candidate in table:
            return candidate
    return name


def _requoted(arg: str) -> str:
    return arg if re.fullmatch(r"[\w./:=@%+,-]+", arg) else "'" + arg.replace("'", "'\\''") + "'"
