"""Edits on texts, without a disk."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixx_hashline_edit.apply import Plan, planned
from matrixx_hashline_edit.arguments import Edit
from matrixx_hashline_edit.diff import counts, unified
from matrixx_hashline_edit.text import parse

from matrixx_builtin.services.lines import AnchorError, StaleAnchors, anchor

ABC = "a = 1\nb = 2\nc = 3\n"
NESTED = "def f(x):\n    y = g(x)\n    return y\n"
LONG = "const message = formatted(name, count, suffix)\nconst other = 2\n"


def at(text: str, number: int) -> str:
    return str(anchor(number, parse(text).lines[number - 1]))


def plan(text: str, *edits: dict[str, Any]) -> Plan:
    """Edits with line numbers for anchors."""
    filled = [{key: at(text, value) if isinstance(value, int) else value for key, value in edit.items()} for edit in edits]
    return planned([Edit.model_validate({"lines": None, **edit}) for edit in filled], parse(text))


def edited(text: str, *edits: dict[str, Any]) -> str:
    return parse(text).spliced(plan(text, *edits).splices).text


def replace(pos: int | str, lines: Any, end: int | str | None = None) -> dict[str, Any]:
    return {"op": "replace", "pos": pos, "end": end, "lines": lines}


def append(lines: Any, pos: int | str | None = None) -> dict[str, Any]:
    return {"op": "append", "pos": pos, "lines": lines}


def prepend(lines: Any, pos: int | str | None = None) -> dict[str, Any]:
    return {"op": "prepend", "pos": pos, "lines": lines}


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        pytest.param([replace(2, "B")], "a = 1\nB\nc = 3\n", id="one line"),
        pytest.param([replace(1, ["A", "B"], 2)], "A\nB\nc = 3\n", id="range"),
        pytest.param([{"op": "replace", "end": 2, "lines": "B"}], "a = 1\nB\nc = 3\n", id="end alone is pos"),
        pytest.param([replace(2, None)], "a = 1\nc = 3\n", id="null deletes"),
        pytest.param([replace(2, [])], "a = 1\nc = 3\n", id="nothing deletes"),
        pytest.param([replace(2, "")], "a = 1\n\nc = 3\n", id="an empty text is an empty line"),
        pytest.param([replace(2, [""])], "a = 1\n\nc = 3\n", id="an empty line"),
        pytest.param([replace(1, None, 3)], "", id="delete all"),
        pytest.param([append("x", 1)], "a = 1\nx\nb = 2\nc = 3\n", id="append"),
        pytest.param([{"op": "append", "end": 1, "lines": "x"}], "a = 1\nx\nb = 2\nc = 3\n", id="append at end"),
        pytest.param([prepend("x", 1)], "x\na = 1\nb = 2\nc = 3\n", id="prepend"),
        pytest.param([append("x")], ABC + "x\n", id="append to the file"),
        pytest.param([prepend("x")], "x\n" + ABC, id="prepend to the file"),
        pytest.param([append("x", "")], ABC + "x\n", id="an empty anchor is none"),
        pytest.param([prepend("p", 2), replace(2, "B")], "a = 1\np\nB\nc = 3\n", id="replace before prepend on one line"),
        pytest.param([append("p", 2), replace(2, "B")], "a = 1\nB\np\nc = 3\n", id="append and replace on one line"),
        pytest.param([append("p", 1), prepend("q", 2)], "a = 1\np\nq\nb = 2\nc = 3\n", id="between two lines from both sides"),
        pytest.param([append("p", 1), append("q", 1)], "a = 1\np\nq\nb = 2\nc = 3\n", id="appended in the order given"),
        pytest.param([prepend("p"), prepend("q", 1)], "p\nq\na = 1\nb = 2\nc = 3\n", id="the file's start is outermost"),
        pytest.param([append("p"), append("q", 3)], ABC + "q\np\n", id="the file's end is outermost"),
        pytest.param([append(["p", "q"], 1), replace(3, "C")], "a = 1\np\nq\nb = 2\nC\n", id="anchors mean the file as it was"),
        pytest.param([prepend("p", 1), replace(1, ["A", "B"], 2), append("q", 2)], "p\nA\nB\nq\nc = 3\n", id="around a range"),
        pytest.param([append("x", 1), append("x", 1)], "a = 1\nx\nb = 2\nc = 3\n", id="the same twice is once"),
        pytest.param([replace(2, r"print('\n\t')")], "a = 1\nprint('\\n\\t')\nc = 3\n", id="a backslash stays one"),
        pytest.param([replace(2, "B\n")], "a = 1\nB\nc = 3\n", id="a final line feed is no line"),
        pytest.param([replace(2, "B\r\nC\r\n")], "a = 1\nB\nC\nc = 3\n", id="line ends are the file's"),
        pytest.param([replace(2, ["B\nC"])], "a = 1\nB\nC\nc = 3\n", id="two lines in one"),
    ],
)
def test_edits_do_what_they_say(edits: list[dict[str, Any]], wanted: str) -> None:
    assert edited(ABC, *edits) == wanted


@pytest.mark.parametrize("form", [">>> {}", "+{}", "-{}", " {} ", "{}|b = 2", "{}|x|y", "see {} there"])
def test_what_stands_around_an_anchor_is_no_fault(form: str) -> None:
    assert edited(ABC, replace(form.format(at(ABC, 2)), "B")) == "a = 1\nB\nc = 3\n"


def test_blanks_in_an_anchor_make_no_other_edit() -> None:
    spaced = at(ABC, 1).replace("#", " # ")
    found = plan(ABC, append("x", 1), append("x", spaced))
    assert (len(found.splices), found.duplicates) == (1, 1)


def test_an_older_id_that_is_blind_to_white_space_is_accepted() -> None:
    text = "  function hello() {\n"
    assert edited(text, replace(str(anchor(1, "functionhello(){")), "  x")) == "  x\n"


@pytest.mark.parametrize(
    ("text", "edits", "wanted"),
    [
        pytest.param("", [append("x")], "x\n", id="empty, append"),
        pytest.param("", [prepend("x")], "x\n", id="empty, prepend"),
        pytest.param("", [append("b"), prepend("a")], "a\nb\n", id="empty, both"),
        pytest.param("a\nb", [append("c")], "a\nb\nc", id="no final line feed stays"),
        pytest.param("a\nb", [replace(2, None)], "a", id="last line without one"),
        pytest.param("a\nb", [replace(2, "B")], "a\nB", id="replaced without one"),
        pytest.param("\ufeffa\r\nb\r\n", [replace(1, "A")], "\ufeffA\r\nb\r\n", id="BOM and CRLF"),
        pytest.param("\ufeffa\r\nb\r\n", [prepend("A")], "\ufeffA\r\na\r\nb\r\n", id="BOM stays first"),
        pytest.param("a\nb\r\nc\n", [replace(2, "B")], "a\nB\nc\n", id="LF first, so LF"),
        pytest.param("a\r\nb\nc\n", [append("x", 3)], "a\r\nb\nc\nx\r\n", id="CRLF first, other lines as they are"),
        pytest.param("a\rb\n", [append("x", 1)], "a\rb\nx\n", id="a carriage return inside stays"),
        pytest.param("a\nb\r", [append("x")], "a\nb\nx", id="a line that is the last no more is ended"),
        pytest.param("a\nb\r", [prepend("x", 1)], "x\na\nb\r", id="a carriage return at the end stays"),
        pytest.param("a\x0bb\x0cc\u2028d\x85e\n", [append("x", 1)], "a\x0bb\x0cc\u2028d\x85e\nx\n", id="only LF ends a line"),
    ],
)
def test_ends_of_lines_and_files_stay(text: str, edits: list[dict[str, Any]], wanted: str) -> None:
    assert edited(text, *edits) == wanted


def test_the_anchor_of_a_first_line_that_was_shown_with_its_byte_order_mark_is_good() -> None:
    assert edited("\ufeffabc\nb\n", replace(str(anchor(1, "\ufeffabc")), "x")) == "\ufeffx\nb\n"


@pytest.mark.parametrize(
    ("text", "edits", "wanted"),
    [
        pytest.param(ABC, [replace(2, "1#VK|first\n2#NP|second")], "a = 1\nfirst\nsecond\nc = 3\n", id="anchors"),
        pytest.param(ABC, [replace(2, ["1#VK|one", "two", "", "3#NP|"])], "a = 1\none\ntwo\n\n\nc = 3\n", id="half of them"),
        pytest.param(ABC, [replace(2, ["1#VK|one", "two", "three"])], "a = 1\n1#VK|one\ntwo\nthree\nc = 3\n", id="fewer than half"),
        pytest.param(ABC, [replace(2, ["+x", "+y"])], "a = 1\nx\ny\nc = 3\n", id="diff"),
        pytest.param(ABC, [replace(2, ["++x", "y"])], "a = 1\n++x\ny\nc = 3\n", id="increment"),
        pytest.param("+ one\n+ two\n", [append("+ three", 2)], "+ one\n+ two\n+ three\n", id="where lines have plus signs"),
        pytest.param("1#VK|a\n", [append("2#NP|b", 1)], "1#VK|a\n2#NP|b\n", id="where lines look like anchors"),
        pytest.param(ABC, [append(["a = 1", "x"], 1)], "a = 1\nx\nb = 2\nc = 3\n", id="anchor echo of append"),
        pytest.param(ABC, [prepend(["x", "b  =  2"], 2)], "a = 1\nx\nb = 2\nc = 3\n", id="anchor echo of prepend"),
        pytest.param("\nx\n", [append(["", "y"], 1)], "\n\ny\nx\n", id="an empty line is no echo"),
        pytest.param(ABC, [replace(2, ["a = 1", "B", "c = 3"])], "a = 1\nB\nc = 3\n", id="boundary echo"),
        pytest.param(ABC, [replace(2, ["a = 1", "B", "C", "c=3"])], "a = 1\nB\nC\nc = 3\n", id="boundary echo but for blanks"),
        pytest.param(ABC, [replace(2, "c = 3")], "a = 1\nc = 3\nc = 3\n", id="one line is no boundary echo"),
        pytest.param(ABC, [replace(1, ["x", "c = 3"], 2)], "x\nc = 3\nc = 3\n", id="not more lines than the range"),
        pytest.param(
            "f() {\n  g()\n}\n", [replace(2, ["  if (x) {", "    g()", "  }"])], "f() {\n  if (x) {\n    g()\n  }\n}\n", id="inner bracket"
        ),
        pytest.param("f() {\n  g()\n}\n", [replace(2, ["  h()", "}"])], "f() {\n  h()\n}\n", id="the same bracket"),
        pytest.param(NESTED, [replace(3, "return 2")], "def f(x):\n    y = g(x)\n    return 2\n", id="indent"),
        pytest.param(NESTED, [replace(2, ["z = g(x)", "return z"], 3)], "def f(x):\n    z = g(x)\n    return z\n", id="all indents"),
        pytest.param(NESTED, [replace(3, ["if y:", "    return y"])], "def f(x):\n    y = g(x)\n    if y:\n    return y\n", id="first indent"),
        pytest.param(NESTED, [replace(3, "return y")], "def f(x):\n    y = g(x)\nreturn y\n", id="the same text de-indented"),
        pytest.param("\tif x\n", [replace(1, "if x")], "if x\n", id="de-indented from a tab"),
        pytest.param(NESTED, [replace(3, "  return 2")], "def f(x):\n    y = g(x)\n  return 2\n", id="another indent"),
        pytest.param(
            "const a = 1;\n  const b = 2;\n",
            [replace(1, "const a = 10; const b = 20;", 2)],
            "const a = 10;\n  const b = 20;\n",
            id="two statements on one line",
        ),
        pytest.param(
            "first_call()\n  second_call()\n",
            [replace(1, "first_call() # one second_call() # two", 2)],
            "first_call() # one\n  second_call() # two\n",
            id="two known lines on one",
        ),
        pytest.param("call(\n  x)\n", [replace(1, "call(x)", 2)], "call(x)\n", id="joined on purpose"),
        pytest.param("const a = 1;\nconst b = 2;\n", [replace(1, "const a = 1; const b = 2;", 2)], "const a = 1; const b = 2;\n", id="merged"),
        pytest.param("a = 1;\nb = 2;\nc = 3;\n", [replace(1, "for (;;) {", 3)], "for (;;) {\n", id="a loop's semicolons"),
        pytest.param(
            LONG,
            [replace(1, ["const message = formatted(", "name, count, suffix)", "const other = 3"], 2)],
            "const message = formatted(name, count, suffix)\nconst other = 3\n",
            id="wrapped",
        ),
        pytest.param(
            LONG,
            [replace(1, ["const message = formatted(", "  name, count, suffix)"])],
            "const message = formatted(\n  name, count, suffix)\nconst other = 2\n",
            id="wrapped on purpose",
        ),
        pytest.param("some_call(x)\nsome_call(x)\nend\n", [replace(1, ["some_", "call(x)", "z"], 3)], "some_\ncall(x)\nz\n", id="not unique"),
        pytest.param("some_call(x)\nb\nc\nd\ne\n", [replace(1, ["some_", "call(x)"] * 2 + ["z"], 5)], "some_\ncall(x)\nsome_\ncall(x)\nz\n", id="repeated"),
        pytest.param("a(x)\nb\nc\n", [replace(1, ["a", "(x)", "z"], 3)], "a\n(x)\nz\n", id="short"),
        pytest.param(
            "a\n\n  b\n\n    c\n\nd\n", [replace(1, ["A", "", "  B", "", "    C", "", "D"], 7)], "A\n\n  B\n\n    C\n\nD\n", id="seven lines"
        ),
    ],
)  # fmt: skip
def test_lines_are_put_right_where_the_file_says_how(text: str, edits: list[dict[str, Any]], wanted: str) -> None:
    assert edited(text, *edits) == wanted


def test_what_was_put_right_is_told() -> None:
    assert plan(NESTED, replace(3, "return 2")).notes == ("edit 1: gave its lines the indentation of those it replaces",)
    assert plan(NESTED, replace(3, "    return 2")).notes == ()


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ([replace("42", "x")], "edit 1 (replace): '42' is no anchor"),
        ([replace("", "x")], "edit 1 (replace): it needs pos"),
        ([{"op": "replace", "lines": "x"}], "it needs pos"),
        ([replace("line#ZZ", "x")], "'line' is no line number"),
        ([replace("9#ZZ", "x")], "9#ZZ is outside the text, which has 3 lines"),
        ([replace("0#ZZ", "x")], "is no line number"),
        ([replace(3, "x", 1)], "comes after end"),
        ([append([], 1)], "it has no lines to insert"),
        ([append(None, 1)], "it has no lines to insert"),
        ([append("a = 1", 1)], "it only repeats the line of its anchor"),
        ([prepend("b = 2", 2)], "it only repeats the line of its anchor"),
        ([replace(1, "x", 2), replace(2, "y", 3)], "edits 1 and 2 overlap"),
        ([replace(1, "x"), replace(1, "y")], "edits 1 and 2 overlap"),
        ([replace(1, "x", 3), replace(2, "y")], "edits 1 and 2 overlap"),
        ([append("y", 1), replace(1, "x", 2)], "edits 2 and 1 overlap"),
        ([replace(1, "\ud800")], "surrogate pair"),
        ([append("\0")], "NUL"),
    ],
)
def test_what_cannot_be_done_is_told(edits: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(AnchorError) as caught:
        plan(ABC, *edits)
    assert told in str(caught.value) and not isinstance(caught.value, StaleAnchors)


def test_an_id_that_one_line_has_is_found() -> None:
    with pytest.raises(AnchorError, match="did you mean 2#"):
        plan(ABC, replace("b#" + at(ABC, 2)[2:], "x"))


def test_all_changed_lines_are_shown_with_anchors_to_use_at_once() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 21))
    stale = [str(anchor(number, "something else")) for number in (2, 15)]
    with pytest.raises(StaleAnchors) as caught:
        plan(text, replace(5, "x"), *(replace(one, "x") for one in stale))
    rows = [row for row in str(caught.value).splitlines() if row.startswith(">>>")]
    assert rows == [f">>> {at(text, number)}|line {number}" for number in (2, 15)]
    assert edited(text, *(replace(row, "x") for row in rows)).splitlines().count("x") == 2


def test_edits_that_change_nothing_are_counted() -> None:
    found = plan(ABC, replace(1, "a = 1"), replace(2, "B"))
    assert (len(found.splices), found.noops) == (1, 1)


@pytest.mark.parametrize(
    "edit",
    [{"op": "replace", "pos": "1#ZZ"}, {"set_line": {"anchor": "1#ZZ"}}, {"op": "insert", "lines": "x"}, {"op": "append", "lines": 7}],
)
def test_an_edit_of_another_shape_is_none(edit: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Edit"):
        Edit.model_validate(edit)


TEXTS = st.text(st.sampled_from("ab1 \t\r\n}{;é😀\ufeff\u2028"), max_size=60)
LINES = st.lists(st.text(st.sampled_from("xyz9"), min_size=1, max_size=3).map(lambda text: f"<{text}>"), max_size=3)


@st.composite
def jobs(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]]]:
    """A text and edits that do not touch each other, each told by line numbers."""
    text = draw(TEXTS)
    count = len(parse(text).lines)
    edits: list[dict[str, Any]] = []
    at_line = 1
    while at_line <= count:
        last = draw(st.integers(at_line, count))
        lines = draw(LINES)
        edits += draw(
            st.sampled_from([[], [replace(at_line, lines, last)], [append(lines or ["<>"], last)], [prepend(lines or ["<>"], at_line)]])
        )
        at_line = last + 1 + draw(st.integers(0, 2))
    ends = [append(draw(LINES)), prepend(draw(LINES))]
    return text, draw(st.permutations([*edits, *draw(st.sampled_from([[], ends]))]))


def naive(text: str, edits: Sequence[dict[str, Any]]) -> list[str]:
    """The lines, changed one edit after another from the bottom up."""
    lines = list(parse(text).lines)

    def place(edit: dict[str, Any]) -> tuple[bool, int, int]:
        anchored = edit["pos"] is not None
        return not anchored, -(edit.get("end") or edit["pos"] or 0), ["replace", "append", "prepend"].index(edit["op"])

    for edit in sorted(edits, key=place):
        first = edit["pos"]
        match edit["op"]:
            case "replace":
                lines[first - 1 : edit["end"]] = edit["lines"]
            case "append":
                where = first if first is not None else len(lines)
                lines[where:where] = edit["lines"]
            case _:
                where = first - 1 if first is not None else 0
                lines[where:where] = edit["lines"]
    return lines


@given(jobs())
def test_edits_equal_a_naive_application(job: tuple[str, list[dict[str, Any]]]) -> None:
    text, edits = job
    wanted = naive(text, edits)
    found = parse(text).spliced(plan(text, *edits).splices)
    assert [line.lstrip() for line in found.lines] == [line.lstrip() for line in wanted]  # an indentation may be restored


@given(jobs())
def test_no_byte_outside_the_edited_lines_is_lost(job: tuple[str, list[dict[str, Any]]]) -> None:
    text, edits = job
    document = parse(text)
    found = plan(text, *edits)
    after = document.spliced(found.splices)
    touched = {number for one in found.splices for number in range(one.start, one.stop)}
    kept = [(line, end) for number, (line, end) in enumerate(zip(document.lines, document.ends, strict=True)) if number not in touched]
    rows = iter(zip(after.lines, after.ends, strict=True))
    for line, end in kept:
        assert any(line == row and (end == row_end or {end, row_end} & {"", "\r"}) for row, row_end in rows)  # the last line's end may move
    assert after.bom == document.bom
    assert after.ended == document.ended or not after.lines


@given(TEXTS)
def test_a_text_is_its_lines(text: str) -> None:
    assert parse(text).text == text
    assert parse(text).spliced(()).text == text


@given(jobs())
def test_the_diff_says_what_was_done(job: tuple[str, list[dict[str, Any]]]) -> None:
    text, edits = job
    splices = plan(text, *edits).splices
    rows = unified("f", parse(text).lines, splices).split("\n")[2:]
    assert (sum(row.startswith("+") for row in rows), sum(row.startswith("-") for row in rows)) == counts(splices)


def test_patch_understands_the_diff(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 41))
    edits = [replace(3, ["x", "y"]), append("z", 8), replace(20, None, 22), prepend("top"), append("bottom")]
    file = tmp_path / "f"
    file.write_text(text)
    diff = unified("f", parse(text).lines, plan(text, *edits).splices)
    done = subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert file.read_text() == edited(text, *edits)
