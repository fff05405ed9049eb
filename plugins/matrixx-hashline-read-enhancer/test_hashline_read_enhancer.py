import re
import types
from typing import Any

import matrixx_hashline_edit as edit_hook
import matrixx_hashline_read_enhancer as hook
import matrixx_tool_output_truncator as truncator
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services.lines import check, parse_anchor, tagged
from matrixx_core import Inject, ToolResult, rewrite
from matrixx_core.testing import Rig, result

ON = {"hashline-read-enhancer": {"hashline_edit": True}}

OPENCODE = """\
<path>/a</path>
<type>file</type>
<content>
1: foo
2:\x20
3:  bar
4: </content>
5: 7: x

(End of file - total 5 lines)
</content>

[Rule: 6: x]"""

ANCHORED = f"""\
<path>/a</path>
<type>file</type>
<content>
1#BK|foo
2#KM|
3#NX| bar
{tagged(4, "</content>")}
{tagged(5, "7: x")}

(End of file - total 5 lines)
</content>

[Rule: 6: x]"""


def read(output: str, **args: Any) -> str:
    changed = hook.tool_execute_after(result("read", output, **args))
    return output if changed is None else changed.output


def test_a_read_file_shows_an_anchor_for_each_line_and_all_else_as_it_was() -> None:
    assert read(OPENCODE) == ANCHORED


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        pytest.param("1: a", "1#RW|a", id="one line, no block"),
        pytest.param("1| a\n2| b", f"1#RW|a\n{tagged(2, 'b')}", id="the other mark"),
        pytest.param("  7: \tindent", "7#BX|\tindent", id="blanks before the number"),
        pytest.param("<content>1: a\n</content>", "<content>\n1#RW|a\n</content>", id="the tag shares the line"),
        pytest.param("<file>\n42: const x = 42\n</file>", "<file>\n42#XV|const x = 42\n</file>", id="the older tag"),
        pytest.param("1: line1\n2: line2\n4: line4", "1#ZM|line1\n2#XM|line2\n4: line4", id="numbers leave one out"),
        pytest.param("1: line1\n1: line1", "1#ZM|line1\n1: line1", id="numbers start again"),
        pytest.param("1: a\r\n2:  \r", "1#RW|a\r\n" + tagged(2, " \r"), id="carriage returns"),
        pytest.param("1: " + "x" * 1_000, tagged(1, "x" * 1_000), id="a long line"),
        pytest.param(
            "1: xxx... (line truncated to 2000 chars)\n2: line2",
            "1: xxx... (line truncated to 2000 chars)\n2#XM|line2",
            id="a line that the host has cut",
        ),
    ],
)
def test_numbered_lines_get_anchors(output: str, wanted: str) -> None:
    assert read(output) == wanted


@pytest.mark.parametrize(
    "output",
    [
        "",
        "\n",
        "Image read successfully",
        "a\n1: b",
        "<content>\nplain\n1: a\n</content>",
        "<entries>\na.py\n</entries>",
        "<content>",
        "<content>\n</content>",
        "1#RW|a",
        "1",
        "99999999999: a",
        "²: a",
        "-1: a",
    ],
)
def test_what_has_no_numbers_is_not_touched(output: str) -> None:
    assert hook.tool_execute_after(result("read", output)) is None


def test_an_output_is_not_anchored_twice() -> None:
    once = read(OPENCODE)
    assert read(once) == once


@given(st.text(st.sampled_from("a1: |#\n\r<>/content\0\ud800é") | st.characters(), max_size=80), st.booleans())
def test_any_output_keeps_its_text_and_its_anchors_fit(text: str, wrapped: bool) -> None:
    rows = text.split("\n")
    numbered = "\n".join(f"{number}: {row}" for number, row in enumerate(rows, 1))
    output = read(f"<content>\n{numbered}\n\n(End)\n</content>" if wrapped else numbered)
    shown = output.removeprefix("<content>\n").split("\n")[: len(rows)]
    anchors = [parse_anchor(row) for row in shown]
    assert [row.partition("|")[2] for row in shown] == rows
    check(anchors, rows)


@given(st.text(st.sampled_from("1234: |#\n<content>file/") | st.characters(), max_size=200))
def test_no_output_fails_and_no_line_is_lost(text: str) -> None:
    glued = len(re.findall(r"^<(?:content|file)>", text, re.MULTILINE)[:1])
    assert 0 <= read(text).count("\n") - text.count("\n") <= glued


@pytest.mark.parametrize("tool", ["edit", "bash", "grep", "glob"])
def test_other_tools_are_left_alone(tool: str) -> None:
    assert Rig(hook, settings=ON).after(tool, "1: a").event.output == "1: a"


@pytest.mark.parametrize("settings", [{}, {"hashline-read-enhancer": {"hashline_edit": False}}])
def test_without_its_setting_lines_stay_as_the_host_shows_them(settings: dict[str, Any]) -> None:
    rig = Rig(hook, settings=settings)
    assert rig.after("read", OPENCODE).event.output == OPENCODE


@pytest.mark.parametrize(
    ("content", "count"),
    [("a\nb\n", "2 lines"), ("a\nb", "2 lines"), ("a", "1 line"), ("", "0 lines"), ("\n", "1 line"), ("a\r\n\ud800\0", "2 lines")],
)
def test_a_write_says_how_many_lines_there_are_and_keeps_the_hosts_diagnostics(content: str, count: str) -> None:
    said = "Wrote file successfully.\n\nLSP errors detected in this file:\nERROR [1:2] no"
    output = Rig(hook, settings=ON).after("write", said, filePath="a.py", content=content).event.output
    assert output.startswith(f"{said}\n\n{count} written.")


@pytest.mark.parametrize(
    ("output", "args"),
    [
        ("Error: no space", {"content": "a"}),
        ("  error", {"content": "a"}),
        ("The write\nFailed.", {"content": "a"}),
        ("Wrote it.", {}),
        ("Wrote it.", {"content": None}),
        ("Wrote it.", {"content": ["a"]}),
    ],
)
def test_nothing_is_said_of_a_write_that_failed_or_is_odd(output: str, args: dict[str, Any]) -> None:
    assert hook.count_lines(result("write", output, **args)) is None


def test_lines_are_anchored_before_an_output_is_cut_so_that_no_anchor_is_of_half_a_line() -> None:
    text = "".join(f"{number}: {'word ' * 40}{number}\n" for number in range(1, 200))
    settings: dict[str, Any] = {**ON, "tool-output-truncator": {"limits": {"read": 1_000}, "keep_files": 0}}
    output = Rig(hook, truncator, settings=settings).after("read", text).event.output
    shown = [row for row in output.split("\n") if re.match(r"\d+#", row)]
    assert "left out here by Matrixx" in output and shown
    assert all(row.startswith(tagged(int(row.partition("#")[0]), f"{'word ' * 40}{row.partition('#')[0]}")[:7]) for row in shown)


def test_what_other_hooks_add_is_not_taken_for_lines() -> None:
    def note(result: ToolResult) -> Inject:
        return Inject("2: no line")

    module = types.ModuleType("matrixx_a_note")
    module.__dict__["tool_execute_after"] = rewrite(note)
    assert Rig(hook, module, settings=ON).after("read", "1: a").event.output == "1#RW|a\n\n2: no line"


def test_the_tool_takes_the_anchors_as_they_are_shown() -> None:
    setting = {"hashline-edit": {"hashline_edit": True}, **ON}
    rig = Rig(hook, edit_hook, settings=setting)
    shown = rig.after("read", "<content>\n1: a = 1\n2: b = 2\n</content>").event.output
    check([parse_anchor(row) for row in shown.split("\n")[1:3]], ["a = 1", "b = 2"])
    assert rig.host.tools.keys() == {"edit"}
