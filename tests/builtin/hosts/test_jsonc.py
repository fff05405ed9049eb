"""``matrixx_builtin.hosts.jsonc``: every byte outside of an edit stays as it is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.hosts import jsonc

KEYS = st.text(max_size=4).filter(lambda key: key != "new")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e6, 1e6) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([None, 0, 1, "\t"]))
def test_what_is_read_is_what_json_says(value: Any, indent: int | str | None) -> None:
    assert jsonc.parse(json.dumps(value, indent=indent).encode()).plain == value


@given(
    st.dictionaries(KEYS, VALUES, max_size=4) | st.lists(VALUES, max_size=4),
    VALUES,
    st.sampled_from([None, 0, 2, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_an_item_goes_in_at_the_end_and_out_again(value: Any, new: Any, indent: int | str | None, line_break: str) -> None:
    before = json.dumps(value, indent=indent).replace("\n", line_break).encode()
    container = jsonc.parse(before)
    after = jsonc.insert(before, container, new, key="new")
    expected = {**value, "new": new} if isinstance(value, dict) else [*value, new]
    assert json.loads(after) == expected
    changed = jsonc.parse(after)
    assert jsonc.remove(after, changed, changed.items[-1]) == before


@pytest.mark.parametrize(
    ("before", "number", "after"),
    [
        ("[1, 2, 3]", 0, "[ 2, 3]"),
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[\n  1,\n  2\n]", 0, "[\n  2\n]"),
        ("[1, // one\n2]", 1, "[1 // one\n]"),
        ("[1, // one\n2\n]", 1, "[1 // one\n]"),
        ("[1 /* one */, 2 // two\n]", 1, "[1 /* one */ // two\n]"),
        ("[ // none\n 1]", 0, "[ // none\n ]"),
        ("[1, // one\r\n2\r\n]", 1, "[1 // one\r\n]"),
        ("[1, // one\r\n2]", 1, "[1 // one\r\n]"),
        ('{"a": 1, /* b */ "b": 2}', 1, '{"a": 1 /* b */}'),
    ],
)
def test_what_is_taken_out_leaves_json_behind(before: str, number: int, after: str) -> None:
    data = before.encode()
    container = jsonc.parse(data)
    left = jsonc.remove(data, container, container.items[number])
    assert left.decode() == after
    assert len(jsonc.parse(left).items) == len(container.items) - 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[1]", '[1,\n  "x"]'),
        ("[\n\t1 // one\n]", '[\n\t1, // one\n\t"x"\n]'),
        ("[]", '["x"]'),
        ("[ // none\n]", '["x" // none\n]'),
        ("[1 // one\r\n]", '[1, // one\r\n  "x"\r\n]'),
        ("\ufeff[1]", '\ufeff[1,\n  "x"]'),
    ],
)
def test_comments_and_marks_stay_where_they_are(before: str, after: str) -> None:
    data = before.encode()
    assert jsonc.insert(data, jsonc.parse(data), "x").decode() == after


@pytest.mark.parametrize("line", [1, 2, 7])
def test_an_error_says_its_line(line: int) -> None:
    with pytest.raises(jsonc.JsonError, match=f"line {line}:"):
        jsonc.parse(b"{" + b"\n" * (line - 1) + b'"a" 1}')
    with pytest.raises(jsonc.JsonError, match=f"line {line}: 'a' is there twice"):
        _ = jsonc.parse(b'{"a": 1,' + b"\n" * (line - 1) + b'"a": 1}').items


@pytest.mark.parametrize(("text", "expected"), [("{}", False), ('{"a": "// no"}', False), ("{} // yes", True), ("[[[/**/]]]", True)])
def test_comments_are_found_wherever_they_are(text: str, expected: bool) -> None:
    assert jsonc.has_comments(text.encode()) is expected
