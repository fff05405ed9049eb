"""Sort the arguments of a program into options and operands, by a short description of the program.

A description is words: ``p r*`` says that the first operand is a pattern and the others are read; ``-o=w`` that ``-o`` takes a value that is
written; ``-e=p!`` that it takes a value and spares the leading operand; ``-i^`` that it turns reading into editing in place;
``-q`` alone that the option takes no value although a longer rule would say so. The letters are explained at ``programs.SPECS``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple


class Spec(NamedTuple):
    """A program's description, taken apart."""

    operands: tuple[str, ...]
    values: dict[str, str]
    sparing: frozenset[str]
    in_place: frozenset[str]


@dataclass(slots=True)
class Parsed:
    """What stood on one command line."""

    operands: list[str] = field(default_factory=list[str])
    values: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    flags: set[str] = field(default_factory=set[str])
    after_dashes: int | None = None
    """How many operands stood before ``--``; ``None`` without one."""

    def value(self, *options: str) -> str | None:
        """Return the last value that one of the options was given."""
        return next((value for option, value in reversed(self.values) if option in options), None)

    def has(self, *options: str) -> bool:
        """Whether one of the options is there, with a value or without."""
        return bool(self.flags.intersection(options)) or self.value(*options) is not None


@lru_cache(maxsize=512)
def spec_of(description: str) -> Spec:
    """Take a description apart."""
    operands: list[str] = []
    values: dict[str, str] = {}
    sparing: set[str] = set()
    in_place: set[str] = set()
    for word in description.split():
        option, equals, role = word.partition("=")
        if not word.startswith("-") or word in {"-", "-*"}:
            operands.append(word)
        elif equals:
            for name in option.split("/"):
                values[name] = role.rstrip("!")
                sparing.update({name} if role.endswith("!") else ())
        elif option.endswith("^"):
            in_place.add(option[:-1])
    return Spec(tuple(operands), values, frozenset(sparing), frozenset(in_place))


def parsed(description: str, args: Sequence[str], *, stop_at_operand: bool = False) -> Parsed:
    """Sort arguments; with ``stop_at_operand`` everything from the first operand on is an operand (``sudo``, ``env``)."""
    spec, found = spec_of(description), Parsed()
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "--" and found.after_dashes is None:
            found.after_dashes = len(found.operands)
            found.operands.extend(args[at:])
            break
        if not arg.startswith("-") or arg == "-":
            found.operands.append(arg)
            if stop_at_operand:
                found.operands.extend(args[at:])
                break
        else:
            at += _option(arg, args[at : at + 2], spec, found)
    return found


def _option(arg: str, following: Sequence[str], spec: Spec, found: Parsed) -> int:
    """Note one option; returns how many of the following arguments it took."""
    name, equals, value = arg.partition("=")
    if spec.values.get(name, "").startswith("2"):
        found.values.append((name, following[-1] if following else ""))
        return len(following)
    if name in spec.values:
        return _valued(name, value if equals else None, following, found)
    if arg.startswith("--") or arg in spec.in_place:
        found.flags.add(name)
        if equals:
            found.values.append((name, value))
        return 0
    for index in range(1, len(arg)):
        letter = f"-{arg[index]}"
        if letter in spec.values:
            return _valued(letter, arg[index + 1 :].removeprefix("=") or None, following, found)
        found.flags.add(letter)
        if letter in spec.in_place:
            break
    found.flags.add(arg)
    return 0


def _valued(name: str, attached: str | None, following: Sequence[str], found: Parsed) -> int:
    found.values.append((name, attached if attached is not None else "".join(following[:1])))
    return len(following[:1]) if attached is None else 0
