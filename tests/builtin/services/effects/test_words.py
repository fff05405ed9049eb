"""Shell words as text: quoting, braces, splitting."""

import pytest

from matrixx_builtin.services.effects.words import (
    DYNAMIC,
    END,
    MOST,
    ansi,
    bare,
    finished,
    in_double_quotes,
    is_dynamic,
    joined,
    limited,
    plain,
    quoted,
    shown,
    split_values,
)


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("a", ["a"]),
        ("a{b,c}d", ["abd", "acd"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("a{b,c{d,e}}", ["ab", "acd", "ace"]),
        ("a{,b}", ["a", "ab"]),
        ("{1..3}", ["1", "2", "3"]),
        ("{c..a}", ["a", "b", "c"]),
        ("{a}", ["{a}"]),
        ("{a,b", ["{a,b"]),
        ("a}", ["a}"]),
        ("{}", ["{}"]),
        ("{1..x}", ["{1..x}"]),
        ("a b", ["a", "b"]),
        (quoted("a b"), ["a b"]),
        (quoted("{a,b}"), ["{a,b}"]),
        (split_values("a b{c,d}"), ["a", "b{c,d}"]),
    ],
)
def test_a_word_becomes_words(word: str, words: list[str]) -> None:
    assert finished(word) == words


def test_a_word_does_not_become_endless_words() -> None:
    assert len(finished("{a,b}" * 20)) <= MOST + 2
    assert len(joined([["a", "b"]] * 20)) == MOST


def test_what_stands_inside_a_name_and_is_not_known_may_be_nothing() -> None:
    assert ".env" in finished(f".e{DYNAMIC}${{x}}{END}nv")
    assert finished(f"{DYNAMIC}$x{END}/a") == [f"{DYNAMIC}$x{END}/a"]


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        (r"\x2eenv", ".env"),
        (r"\056env", ".env"),
        (r"\u002e", "."),
        (r"\n\t", "\n\t"),
        (r"\'", "'"),
        ("plain", "plain"),
        (r"\U0001F600", "\U0001f600"),
        (r"\cA", "\x01"),
        ("\\", "\\"),
    ],
)
def test_escapes_are_decoded(text: str, decoded: str) -> None:
    assert ansi(text) == decoded


def test_a_bare_word_loses_its_backslashes_unless_it_may_be_a_windows_path() -> None:
    assert [plain(word) for word in bare(r"a\ b")] == ["a b"]
    assert [plain(word) for word in bare(r"backend\.env")] == ["backend.env", "backend/.env"]
    assert [plain(word) for word in bare("a\\\nb")] == ["ab"]


def test_double_quotes_keep_most_backslashes() -> None:
    assert in_double_quotes(r"a\$b\nc\"") == r'a$b\nc"'


def test_marks_are_not_shown() -> None:
    assert shown(f"{DYNAMIC}$x{END}") == "$x"
    assert is_dynamic(limited("abc", 2))
    assert limited("ab", 2) == "ab"
