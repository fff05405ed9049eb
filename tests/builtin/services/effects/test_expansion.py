"""What ``${...}`` may stand for."""

import pytest

from matrixx_builtin.services.effects.expansion import values_of
from matrixx_builtin.services.effects.ledger import Ledger
from matrixx_builtin.services.effects.shell import Shell
from matrixx_builtin.services.effects.words import is_dynamic, shown


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("$x", ["a.b.c"]),
        ("${x}", ["a.b.c"]),
        ("${x%.*}", ["a.b"]),
        ("${x%%.*}", ["a"]),
        ("${x#*.}", ["b.c"]),
        ("${x##*.}", ["c"]),
        ("${x/./-}", ["a-b.c"]),
        ("${x//./-}", ["a-b-c"]),
        ("${x/#a/z}", ["z.b.c"]),
        ("${x/%c/z}", ["a.b.z"]),
        ("${x:2}", ["b.c"]),
        ("${x:2:1}", ["b"]),
        ("${x^^}", ["A.B.C"]),
        ("${x^}", ["A.b.c"]),
        ("${u,,}", ["up"]),
        ("${u,}", ["uP"]),
        ("${#x}", ["5"]),
        ("${!r}", ["a.b.c"]),
        ("${x:-d}", ["a.b.c"]),
        ("${none:-d}", ["d"]),
        ("${none-d}", ["d"]),
        ("${none:-$x}", ["a.b.c"]),
        ("${x:+d}", ["a.b.c", "d"]),
        ("$two", ["1", "2"]),
        ("${two[0]}", ["1", "2"]),
        ("$1", ["one"]),
        ("${2}", ["two"]),
        ("$@", ["one", "two"]),
        ("$1x", ["onex"]),
        ("$PWD", ["/nowhere"]),
    ],
)
def test_a_known_variable_has_its_values(text: str, values: list[str]) -> None:
    shell = Shell(Ledger(), "/nowhere", arguments=("one", "two"))
    shell.variables = {"x": ["a.b.c"], "u": ["UP"], "r": ["x"], "two": ["1", "2"]}
    assert values_of(shell, text) == values


@pytest.mark.parametrize("text", ["$none", "${none}", "${none%x}", "$9", "$$", "${none:?no}", "${"])
def test_what_is_not_known_is_marked(text: str) -> None:
    values = values_of(Shell(Ledger(), "/nowhere"), text)
    assert [is_dynamic(value) for value in values] == [True]
    assert shown(values[0]) == text


def test_a_default_may_be_kept() -> None:
    shell = Shell(Ledger(), "/nowhere")
    assert values_of(shell, "${x:=d}") == ["d"]
    assert shell.variables["x"] == ["d"]
