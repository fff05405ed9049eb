"""Anchors have the seed's letters, survive what models do to them, and tell when they are stale."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh32_intdigest

from matrixx_builtin.services.lines import (
    LETTERS,
    SAYS_SOMETHING,
    Anchor,
    AnchorError,
    StaleAnchors,
    anchor,
    check,
    fits,
    line_id,
    parse_anchor,
    render,
    resolve,
    split,
)

CODE = "function hello() {"


@pytest.mark.parametrize(
    ("number", "text", "expected"),
    [
        (1, "", "KM"),
        (2, "", "KM"),
        (3, "}", "RZ"),
        (4, "}", "NN"),
        (1, CODE, "RM"),
        (99, CODE, "RM"),
        (1, f"  {CODE}", "XJ"),
        (42, "const x = 42", "XV"),
        (7, "\tindent", "BX"),
        (1, "é", "MS"),
        (3, "日本語", "XB"),
        (5, "---", "HH"),
        (6, "---", "SM"),
        (10, "_", "TT"),
        (11, "_", "MX"),
        (1, "a", "RW"),
        (1, "abc", "HH"),
        (1, "line1", "ZM"),
        (2, "line2", "XM"),
        (3, "   ", "HW"),
        (4, "   ", "RW"),
        (8, "x\u00a0", "YT"),
        (9, "x\u0085", "MH"),
        (5, "😀", "WS"),
        (5, "½", "VP"),
    ],
)
def test_the_ids_are_those_of_the_seed(number: int, text: str, expected: str) -> None:
    assert line_id(number, text) == expected


def test_the_hash_is_xxhash32() -> None:
    assert xxh32_intdigest(b"", 0) == 0x02CC5D05


@pytest.mark.parametrize("block", range(0, 0x110000, 0x10000))
def test_a_letter_or_number_is_what_unicode_calls_one(block: int) -> None:
    chars = [chr(code) for code in range(block, block + 0x10000)]
    assert [c for c in chars if bool(SAYS_SOMETHING.search(c)) != (unicodedata.category(c)[0] in "LN")] == []


@pytest.mark.parametrize("end", ["\r", " ", "\t", "\u3000", "\ufeff", " \r"])
def test_the_end_of_a_line_does_not_count(end: str) -> None:
    assert line_id(3, CODE + end) == line_id(3, CODE)


@pytest.mark.parametrize("text", ["\x1c", "x\x1f", "x\x85"])
def test_what_only_python_calls_white_space_counts(text: str) -> None:
    assert line_id(3, text) != line_id(3, text.strip())


def test_half_a_surrogate_pair_is_hashed_as_javascript_does() -> None:
    assert line_id(1, "a\ud800") == line_id(1, "a\ufffd")
    assert line_id(5, "\ud83d\ude00") == line_id(5, "😀") == "WS"


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\n\n", ["a", ""]), ("a\r\nb\r\n", ["a", "b"]), ("a\rb\x0bc\u2028d", ["a\rb\x0bc\u2028d"])],
)
def test_lines_are_counted_as_hosts_count_them(text: str, lines: list[str]) -> None:
    assert split(text) == lines


def test_a_text_is_shown_with_its_anchors() -> None:
    assert render(f"{CODE}\r\n\n}}\n") == "1#RM|function hello() {\n2#KM|\n3#RZ|}"
    assert render("") == ""


@pytest.mark.parametrize(
    "written",
    [
        "12#VK",
        "  12#VK\n",
        "12 # VK",
        "12#VK|const a = 1",
        "12#VK | 3#ZZ",
        ">>> 12#VK|x",
        ">>>12#VK",
        "+ 12#VK|x",
        "-12#VK",
        "line 12#VK",
        "at 12#VK, please",
        "[12#VK]",
        "0012#VK",
    ],
)
def test_an_anchor_is_understood_however_it_is_dressed(written: str) -> None:
    assert parse_anchor(written) == Anchor(12, "VK")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("42", "is no anchor"),
        ("", "is no anchor"),
        ("12#vk", "is no anchor"),
        ("12#AB", "is no anchor"),
        ("12#VKX", "is no anchor"),
        ("0#VK", "is no line number"),
        ("9999999999#VK", "is no line number"),
        ("foo#VK", "'foo' is no line number; write the line's number before #VK"),
        ("#VK", "'' is no line number"),
        ("|12#VK", "is no anchor"),
        ("\x00\ud800", "is no anchor"),
        ("#" * 100_000, "is no anchor"),
        (f"a{' ' * 1_000_000}b", "is no anchor"),
        ("١٢#VK", "is no line number"),
    ],
)
def test_what_is_no_anchor_is_told(written: str, told: str) -> None:
    with pytest.raises(AnchorError) as caught:
        parse_anchor(written)
    assert told in str(caught.value) and len(str(caught.value)) < 400


def test_an_id_without_its_number_finds_its_line() -> None:
    with pytest.raises(AnchorError, match=r"did you mean 2#RM\?"):
        resolve("hello#RM", ["a", CODE])
    with pytest.raises(AnchorError) as caught:
        resolve("hello#RM", [CODE, CODE])
    assert "did you mean" not in str(caught.value)


def test_the_older_ids_are_still_understood() -> None:
    old = Anchor(1, line_id(1, "functionhello(){"))
    assert old != anchor(1, CODE) and fits(old, CODE)


def test_stale_anchors_are_answered_with_fresh_ones() -> None:
    lines = [f"line{number}" for number in range(1, 12)]
    with pytest.raises(StaleAnchors) as caught:
        check([anchor(2, "was"), anchor(3, "line3"), anchor(9, "was"), anchor(9, "was")], lines)
    assert str(caught.value).splitlines()[1:] == [
        f"    1#{line_id(1, 'line1')}|line1",
        ">>> 2#XM|line2",
        f"    3#{line_id(3, 'line3')}|line3",
        f"    4#{line_id(4, 'line4')}|line4",
        "    ...",
        f"    7#{line_id(7, 'line7')}|line7",
        f"    8#{line_id(8, 'line8')}|line8",
        f">>> 9#{line_id(9, 'line9')}|line9",
        f"    10#{line_id(10, 'line10')}|line10",
        f"    11#{line_id(11, 'line11')}|line11",
    ]
    check([parse_anchor(row) for row in str(caught.value).splitlines()[1:] if "#" in row], lines)


def test_an_anchor_outside_the_text_is_told() -> None:
    with pytest.raises(AnchorError, match="3#VK is outside the text, which has 2 lines"):
        check([Anchor(3, "VK")], ["a", "b"])


@given(st.integers(1, 10**6), st.text())
def test_any_line_has_an_id_that_fits_it(number: int, text: str) -> None:
    one = anchor(number, text)
    assert set(one.id) <= set(LETTERS) and fits(one, text) and parse_anchor(str(one)) == one


@given(st.text())
def test_the_anchors_that_are_shown_fit_the_text(text: str) -> None:
    lines = split(text)
    check([parse_anchor(row) for row in _rows(render(text))], lines)


@pytest.mark.parametrize("understand", [parse_anchor, lambda text: resolve(text, ["a"])])
@given(st.text())
def test_nothing_but_an_anchor_error_comes_of_any_text(understand: Callable[[str], Anchor], text: str) -> None:
    try:
        assert understand(text).line > 0
    except AnchorError as error:
        assert str(error)  # noqa: PT017


def _rows(shown: str) -> list[str]:
    return shown.split("\n") if shown else []
