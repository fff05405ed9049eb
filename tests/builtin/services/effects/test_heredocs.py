"""Heredocs and here-strings, taken out before parsing."""

import pytest

from matrixx_builtin.services.effects.heredocs import MARK, STRING, Heredoc, expansions, extract


def taken(source: str) -> tuple[str, list[Heredoc]]:
    known: list[Heredoc] = []
    return extract(source, known), known


@pytest.mark.parametrize(
    ("source", "left", "bodies"),
    [
        ("cat <<E\na\nE\n", f"cat <{MARK}0\n", ["a\n"]),
        ("cat <<E && b\na\nE\nc", f"cat <{MARK}0 && b\nc", ["a\n"]),
        ("cat <<A <<B\na\nA\nb\nB\nc", f"cat <{MARK}0 <{MARK}1\nc", ["a\n", "b\n"]),
        ("cat <<-E\n\ta\n\tE\nb", f"cat <{MARK}0\nb", ["a\n"]),
        ("cat << 'x y'\na\nx y\nb", f"cat <{MARK}0\nb", ["a\n"]),
        ("cat <<E\n E\nEE\nE\nb", f"cat <{MARK}0\nb", [" E\nEE\n"]),
        ("cat <<E\nnever ends", f"cat <{MARK}0\n", ["never ends"]),
        ("cat <<E", f"cat <{MARK}0", [""]),
        ('x "$(cat <<E\nit\'s (\nE\n)" y', f'x "$(cat <{MARK}0\n)" y', ["it's (\n"]),
        ("x `cat <<E\na\nE\n` y", f"x `cat <{MARK}0\n` y", ["a\n"]),
        ("x $(case a in a) cat <<E;; esac\nb\nE\n) y", f"x $(case a in a) cat <{MARK}0;; esac\n) y", ["b\n"]),
        ("cat <<< x", f"cat <{STRING}x", []),
        ("echo '<<E'\nE", "echo '<<E'\nE", []),
        ('echo "<<E"\nE', 'echo "<<E"\nE', []),
        ("echo \\<<E\nE", "echo \\<<E\nE", []),
        ("# <<E\nE", "# <<E\nE", []),
        ("echo a#<<E\nb\nE\n", f"echo a#<{MARK}0\n", ["b\n"]),
        ("echo $((1<<2))\n2", "echo $((1<<2))\n2", []),
        ("((x<<2))\n2", "((x<<2))\n2", []),
        ("echo ${x:-<<E}\nE", "echo ${x:-<<E}\nE", []),
        (f"a {MARK}0 <<E\nb\nE\n", f"a 0 <{MARK}0\n", ["b\n"]),
    ],
)
def test_bodies_are_kept_aside(source: str, left: str, bodies: list[str]) -> None:
    found, known = taken(source)
    assert (found, [heredoc.body for heredoc in known]) == (left, bodies)


@pytest.mark.parametrize(("delimiter", "literal"), [("E", False), ("'E'", True), ('"E"', True), ("\\E", True), ("E''", True)])
def test_a_quoted_delimiter_keeps_the_body_as_it_is(delimiter: str, *, literal: bool) -> None:
    assert taken(f"cat <<{delimiter}\na\nE\n")[1] == [Heredoc("a\n", literal)]


def test_what_the_shell_would_replace_is_found() -> None:
    parts = [part for expanded, part in expansions('a $x b ${y:-$(z)} `c` $(d "e)") \\$f $ g') if expanded]
    assert parts == ["$x", "${y:-$(z)}", "`c`", '$(d "e)")']
