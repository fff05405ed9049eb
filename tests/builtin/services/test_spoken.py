import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services.spoken import END, LOOKED_AT, START, spoken


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("fix it", "fix it"),
        ("a `b` c", "a c"),
        ("a ```\nb\n``` c", "a c"),
        ("a ``` b", "a"),
        ("<system-reminder>b</system-reminder> a", "a"),
        ("a <SYSTEM-REMINDER x=1>\nb\n</SYSTEM-REMINDER> c", "a c"),
        ("a <system-reminder> b, and never closed", "a"),
        ("a </system-reminder> b", "a b"),
        ("", ""),
    ],
)
def test_what_was_pasted_is_left_out(text: str, left: str) -> None:
    assert " ".join(spoken(text).split()) == left


def test_behind_a_long_text_nothing_is_heard() -> None:
    assert "word" not in spoken("x " * LOOKED_AT + "word")


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("word", True),
        ("(word)", True),
        ("a word.", True),
        ("src/word", False),
        ("word.py", False),
        ("--word", False),
        ("word-mode", False),
        ("@word", False),
    ],
)
def test_a_word_on_its_own_is_no_part_of_a_name(text: str, there: bool) -> None:
    assert bool(re.search(f"{START}word{END}", text)) is there


@given(st.text(st.sampled_from("`<>/ x\n") | st.characters(), max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    assert len(spoken(text)) <= 2 * len(text) + 1
