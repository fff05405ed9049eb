"""Operands of programs that nobody has described."""

from collections.abc import Callable, Iterable

import pytest

from matrixx_builtin.services.effects import Effects, Touch
from matrixx_builtin.services.effects.operands import looks_like_path


@pytest.mark.parametrize("text", [".env", "a.txt", "a/b", "a\\b", "*.py", "/x"])
def test_a_dot_or_a_slash_makes_a_path(text: str) -> None:
    assert looks_like_path(text)


@pytest.mark.parametrize("text", ["", "a", "word", "two words.", "say 'a.b'", "x" * 2000 + ".y", "a(b.c)", "a|b.c"])
def test_other_texts_are_no_paths(text: str) -> None:
    assert not looks_like_path(text)


@pytest.mark.parametrize(
    ("command", "reads", "writes"),
    [
        ("tool a.txt", {"a.txt"}, set[str]()),
        ("tool word", set[str](), set[str]()),
        ("tool --input a.txt", {"a.txt"}, set[str]()),
        ("tool --input=a.txt", {"a.txt"}, set[str]()),
        ("tool --output=a.txt", set[str](), {"a.txt"}),
        ("tool --outputFile=a.txt", set[str](), {"a.txt"}),
        ("tool --message a.txt", set[str](), set[str]()),
        ("tool --commit-message=a.txt", set[str](), set[str]()),
        ("tool key=a.txt @b.txt", {"a.txt", "b.txt"}, set[str]()),
        ("tool https://x.example/a.txt", set[str](), set[str]()),
        ("$TOOL a.txt", {"a.txt"}, {"a.txt"}),
    ],
)
def test_an_unknown_program_reads_what_looks_like_a_file(
    command: str, reads: set[str], writes: set[str], bash: Callable[[str], Effects], names: Callable[[Iterable[Touch]], set[str]]
) -> None:
    found = bash(command)
    assert (names(found.reads), names(found.writes)) == (reads, writes)
