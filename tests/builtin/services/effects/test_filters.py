"""What programs print on the way to something that runs or reads it."""

import pytest

from matrixx_builtin.services.effects.filters import from_base64, from_hex, substituted
from matrixx_builtin.services.effects.ledger import Ledger
from matrixx_builtin.services.effects.shell import Shell
from matrixx_builtin.services.effects.words import DYNAMIC


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("echo a  'b  c'", "a b  c\n"),
        ("echo -n a", "a"),
        (r"echo -e 'a\tb'", "a\tb\n"),
        ("printf '%s-%s\\n' a b c", "a-b\nc-\n"),
        ("printf %d%% 5", "5%"),
        ("printf a", "a"),
        ("printf '%b' '\\x41'", "A"),
        ("echo abc | rev", "cba\n"),
        ("echo abc | tr a-c x", "xxx\n"),
        ("echo abc | tr -d b", "ac\n"),
        ("echo a | tr '[:lower:]' '[:upper:]'", "A\n"),
        ("echo YQ== | base64 -d", "a"),
        ("echo -n a | base64", "YQ==\n"),
        ("echo 61 | xxd -r -p", "a"),
        ("printf 'a\\nb\\n' | grep b", "b\n"),
        ("printf 'a\\nB\\n' | grep -i b", "B\n"),
        ("printf 'a\\nb\\n' | grep -v b", "a\nb\n"),
        ("printf 'a\\nb\\n' | paste -sd,", "a,b\n"),
        ("echo axb | sed s/x/y/", "ayb\n"),
        ("echo axb | sed 's|x|y|g'", "ayb\n"),
        ("echo a | cat | tee x | sort | head", "a\n"),
        ("basename a/b", "b\n"),
        ("dirname a/b", "a\n"),
        ("cd sub; pwd", "/nowhere/sub\n"),
        ("find x -name '*.py'", "x/**/*.py\n"),
        ("true", ""),
        ("date", DYNAMIC),
        ("echo a; date; echo b", f"a\n{DYNAMIC}b\n"),
        ("echo a > x; cat x", "a\n"),
        ("python3 -c 'print(\"a\")'", "a\n"),
        ("x=a; echo $x", "a\n"),
        ("f() { echo a; }; f", "a\n"),
    ],
)
def test_printed_text_is_known_as_far_as_it_can_be(command: str, printed: str) -> None:
    assert Shell(Ledger(), "/nowhere").program(command) == printed


def test_what_is_no_encoding_is_unknown() -> None:
    assert from_base64("é") == from_hex("xyz") == DYNAMIC


def test_only_plain_substitutions_are_made() -> None:
    assert substituted("s/(a*)*b/x/", "aab") == "aab"
    assert substituted("p", "a") == "a"
    assert substituted("s/[/x/", "a") == "a"
