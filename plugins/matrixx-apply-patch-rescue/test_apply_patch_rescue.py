import time
from pathlib import Path
from typing import Any

import anyio
import matrixx_apply_patch_rescue as hook
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_core import Block
from matrixx_core.testing import Rig, call

NAME = "a.py"
PYTHON = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    x = 1\n    y = 2\n    return x + y\n"


def patch(*rows: str, path: str = NAME, header: str = "") -> str:
    return "\n".join(["*** Begin Patch", f"*** Update File: {path}", *([header] if header else []), *rows, "*** End Patch"])


def asked(text: Any, root: Path) -> Any:
    event = call("apply_patch", directory=str(root), patchText=text)
    return anyio.run(hook.tool_execute_before, event) or anyio.run(hook.fit_patch, event)


def refused(text: str, root: Path) -> str:
    answer = asked(text, root)
    assert isinstance(answer, Block), answer
    return answer.reason


def fitted(text: str, root: Path) -> str:
    answer = asked(text, root)
    assert not isinstance(answer, Block), answer
    return str(answer.args["patchText"]) if answer else text


def applied(text: str, root: Path, name: str = NAME) -> str:
    """The file after OpenCode's own tool (1.18) has had the patch: the first exact place counts, lines are parted at line feeds."""
    content = (root / name).read_bytes().decode()
    lines = content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    done: list[tuple[int, int, list[str]]] = []
    at = 0
    rows = text.split("\n")[2:-1]
    while rows:
        context, rows = rows[0].removeprefix("@@").strip(), rows[1:]
        size = next((place for place, row in enumerate(rows) if row.startswith(("@@", "***"))), len(rows))
        chunk, rest = rows[:size], rows[size:]
        last, rows = bool(rest and rest[0].startswith("***")), [row for row in rest if not row.startswith("***")]
        old, new = [row[1:] for row in chunk if row[0] != "+"], [row[1:] for row in chunk if row[0] != "-"]
        at = next(place for place, line in enumerate(lines) if place >= at and line.strip() == context) + 1 if context else at
        places = (
            [place for place in range(at, len(lines) - len(old) + 1) if lines[place : place + len(old)] == old] if old else [len(lines)]
        )
        assert places, f"the tool does not find {old}"
        place = places[-1] if last and places[-1] == len(lines) - len(old) else places[0]
        done.append((place, len(old), new))
        at = place + len(old)
    for place, size, new in reversed(done):
        lines[place : place + size] = new
    return "\n".join([*lines, ""])


def written(root: Path, content: str) -> Path:
    (root / NAME).write_bytes(content.encode())
    return root


RESCUED = {
    "curly quotes": ("say(\u201chi\u201d)\nend\n", ["@@", '-say("hi")', "+say('ho')", " end"], "say('ho')\nend\n"),
    "dash and ellipsis": ("a \u2013 b\u2026\n", ["@@", "-a - b...", "+a + b"], "a + b\n"),
    "blanks at line ends": ("a  \nb\n", ["@@", " a", "-b", "+c"], "a  \nc\n"),
    "both": ("it\u2019s  \nb\n", ["@@", " it's", "-b", "+c"], "it\u2019s  \nc\n"),
    "CRLF is kept": ("a\r\nb\r\nc\r\n", ["@@", " a", "-b", "+x", " c"], "a\r\nx\r\nc\r\n"),
    "CRLF in the patch": ("a\nb\n", ["@@\r", " a\r", "-b\r", "+x\r"], "a\nx\n"),
    "an empty context line": ("a\n\nb\n", ["@@", " a", "", "-b", "+c"], "a\n\nc\n"),
    "empty lines at the end": ("a\nb\n", ["@@", "-b", "+c", ""], "a\nc\n"),
    "stale middle": (
        "def f():\n    old = 3\n    return 0\n",
        ["@@", " def f():", "-    old = 2", "+    new = 2", "     return 0"],
        "def f():\n    new = 2\n    return 0\n",
    ),
    "a line that came since": ("a\nb\nnew\nc\nd\ne\n", ["@@", " a", " b", " c", "-d", "+D", " e"], "a\nb\nnew\nc\nD\ne\n"),
    "a line that went": ("a\nb\nd\ne\nf\n", ["@@", " a", " b", " c", " d", "-e", "+E", " f"], "a\nb\nd\nE\nf\n"),
    "a line that is gone already": ("a\nb\nd\ne\n", ["@@", " a", " b", "-c", "+C", " d", " e"], "a\nb\nC\nd\ne\n"),
    "unknown context": ("a\nb\n", ["@@ class Gone:", " a", "-b", "+c"], "a\nc\n"),
    "insertion behind its @@ line": ("a\nb\n", ["@@ a", "+x"], "a\nx\nb\n"),
    "insertion at the end": ("a\n", ["@@", "+x", "*** End of File"], "a\nx\n"),
    "end of file that is none": ("a \nb\nc\n", ["@@", "-a", "+x", "*** End of File"], "x\nb\nc\n"),
    "two chunks": ("a \nb\na \nc\n", ["@@", " a", "-b", "+B", "@@", " a", "-c", "+C"], "a \nB\na \nC\n"),
    "second place by @@": ("f\n x \ng\n x \n", ["@@ g", "- x", "+ y"], "f\n x \ng\n y\n"),
}


@pytest.mark.parametrize(("content", "rows", "after"), RESCUED.values(), ids=RESCUED)
def test_a_patch_with_drift_is_fitted_to_the_file(tmp_path: Path, content: str, rows: list[str], after: str) -> None:
    written(tmp_path, content)
    made = fitted(patch(*rows), tmp_path)
    assert applied(made, tmp_path) == after
    again = [row[1:].rstrip("\r") for row in made.split("\n") if row.startswith("+")]
    assert again == [row[1:].rstrip("\r") for row in rows if row.startswith("+")], "what the patch adds is the model's"


UNCHANGED = {
    "exact": ["@@", " def two():", "-    x = 1", "+    x = 3"],
    "exact with @@": ["@@ def two():", "-    x = 1", "+    x = 3"],
    "exact in two places: the first": ["@@", "-", "+# empty"],
    "at the end": ["@@", "     y = 2", "-    return x + y", "+    return y", "*** End of File"],
    "two chunks": ["@@", "-    return 1", "+    return 2", "@@", "-    y = 2", "+    y = 3"],
}


@pytest.mark.parametrize("rows", UNCHANGED.values(), ids=UNCHANGED)
def test_a_patch_that_fits_is_left_alone(tmp_path: Path, rows: list[str]) -> None:
    assert asked(patch(*rows), written(tmp_path, PYTHON)) is None


REFUSED = {
    "another indentation": (PYTHON, ["@@", "-  x = 1", "+  x = 2"], "another indentation"),
    "a tab for blanks": ("    a\n", ["@@", "-\ta", "+\tb"], "another indentation"),
    "two alike places": ("a \nb\na \nb\n", ["@@", "-a", "+x"], "in 2 places"),
    "two places between": ("s\n1\ne\ns\n2\ne\n", ["@@", " s", "-0", "+9", " e"], "line 1 and to line 4"),
    "two similar places": (
        "a\nb\nc\nd\nX\nY\ne\na\nb\nc\nd\nX\nY\ne\n",
        ["@@", " a", " b", " c", " d", "-n", "+m", " e"],
        "several places",
    ),
    "too little in common": ("a\n1\n2\n3\n4\nz\n", ["@@", " a", "-b", "+B", "-c", "-d", " z"], "not in a.py as given"),
    "nothing in common": (PYTHON, ["@@", "-gone", "+x"], "not in a.py as given"),
    "insertion nowhere": (PYTHON, ["@@", "+x"], "not clear"),
    "insertion at no line": (PYTHON, ["@@ class Gone:", "+x"], "0 times"),
    "insertion at two lines": ("a\na\n", ["@@ a", "+x"], "2 times"),
    "no chunk": (PYTHON, [], "no @@ chunk"),
    "before a chunk": (PYTHON, ["-    x = 1"], "no line of a chunk"),
    "inside a chunk": (PYTHON, ["@@", "-    x = 1", "=======", "+x"], "line 5"),
    "an odd header": (PYTHON, ["@@", "-    x = 1", "*** Frobnicate: b"], "no line of a chunk"),
}


@pytest.mark.parametrize(("content", "rows", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_in_doubt_is_refused(tmp_path: Path, content: str, rows: list[str], why: str) -> None:
    assert why in refused(patch(*rows), written(tmp_path, content))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin"),
        ("*** Begin Patch", "does not begin"),
        ("*** Begin Patch\njunk\n*** End Patch", "line 2"),
        ("hi\n*** Begin Patch\n*** Delete File: a.py\n*** End Patch", "does not begin"),
        ("*** Begin Patch\n*** Add File: b.py\nno plus\n*** End Patch", "line 3"),
        ("*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch", "there already"),
        (patch("@@", "-import os", "+import re", header="*** Move to: taken.py"), "there already"),
        ("*** Begin Patch\n*** Delete File: a.py\n*** Delete File: a.py\n*** End Patch", "second time"),
        ("*** Begin Patch\n*** Add File: \n+x\n*** End Patch", "line 2"),
    ],
)
def test_what_is_no_patch_or_overwrites_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (written(tmp_path, PYTHON) / "taken.py").write_text("x\n")
    assert why in refused(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "*** Begin Patch\n*** Delete File: a.py\n*** End Patch",
        "*** Begin Patch\n*** Add File: b/c.py\n+x\n+\n*** End Patch",
        patch("@@", "-import os", "+import re", header="*** Move to: free.py"),
        patch("@@", "-gone", "+x", path="missing.py"),
        "cat <<'EOF'\n" + patch("@@", "-import os", "+import re") + "\nEOF",
        patch("@@", "-gone", "+x", path="../outside.py"),
        patch("@@", "-gone", "+x", path="link.py"),
        patch("@@", "-gone", "+x", path="a\x00b"),
        patch("@@", "-gone", "+x", path="."),
        patch("@@", "-import os ", "+x") .replace("*** End Patch", "*** Update File: ../b\n@@\n-x\n+y\n*** End Patch"),
        None,
        5,
        ["*** Begin Patch"],
    ],
)  # fmt: skip
def test_what_is_none_of_its_business_is_passed_on(tmp_path: Path, text: Any) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.py").write_text("x \n")
    (written(root, PYTHON) / "link.py").symlink_to(tmp_path / "outside.py")
    assert asked(text, root) is None


def test_sections_that_fit_stay_beside_one_that_is_fitted(tmp_path: Path) -> None:
    written(tmp_path, "a \n")
    made = fitted(
        "*** Begin Patch\n*** Add File: new\n+ 1\n+\n*** Update File: a.py\n*** Move to: b.py\n@@\n-a\n+b\n*** Delete File: old\n*** End Patch",
        tmp_path,
    )
    assert made == (
        "*** Begin Patch\n*** Add File: new\n+ 1\n+\n*** Update File: a.py\n*** Move to: b.py\n@@\n-a \n+b\n*** Delete File: old\n*** End Patch"
    )


def test_a_fitted_patch_is_judged_once_more_and_passes(tmp_path: Path) -> None:
    rig = Rig(hook, directory=str(written(tmp_path, "a \nb\na \nc\n")))
    assert rig.before("apply_patch", patchText=patch("@@", " b", "-a", "+x")).event.args["patchText"] == patch("@@", " b", "-a ", "+x")
    assert rig.before("apply_patch", patchText=patch("@@", "-a", "+x")).blocked_by == "apply-patch-rescue"


lines = st.sampled_from(["a", "b", "c", "  a", "a ", "", "}"])


@given(st.lists(lines, min_size=1, max_size=10), st.data())
def test_a_fitted_patch_changes_the_place_that_was_meant(
    tmp_path_factory: pytest.TempPathFactory, content: list[str], data: st.DataObject
) -> None:
    root = written(tmp_path_factory.mktemp("p"), "\n".join([*content, ""]))
    start = data.draw(st.integers(0, len(content) - 1))
    stop = data.draw(st.integers(start + 1, len(content)))
    rows = [data.draw(st.sampled_from(" -")) + line.rstrip() for line in content[start:stop]]
    answer = asked(patch("@@", *rows, "+new"), root)
    if isinstance(answer, Block):
        return
    after = applied(str(answer.args["patchText"]) if answer else patch("@@", *rows, "+new"), root).split("\n")[:-1]
    kept = [place for place, row in enumerate(rows) if row[0] == " "]
    old = [row[1:] for row in rows]
    places = [at for at in range(len(content)) if [line.rstrip() for line in content[at : at + len(old)]] == old]
    assert after in [[*content[:at], *(content[at + place] for place in kept), "new", *content[at + len(old) :]] for at in places]


@given(
    st.lists(
        st.sampled_from(
            [
                "*** Begin Patch",
                "*** End Patch",
                "*** Update File: a.py",
                "*** Add File: a.py",
                "@@",
                " a",
                "-a",
                "+",
                "",
                "\ud800",
                "*** End of File",
                "*** Move to: b",
            ]
        ),
        max_size=9,
    )
)
def test_no_patch_is_too_odd(tmp_path_factory: pytest.TempPathFactory, rows: list[str]) -> None:
    asked("\n".join(rows), written(tmp_path_factory.getbasetemp(), "a \nb\n"))


def test_large_files_and_patches_end(tmp_path: Path) -> None:
    written(tmp_path, "{\nx\n}\n" * 30_000)
    start = time.process_time()
    assert "many places" in refused(patch("@@", " {", " 1", "-2", "+3", " }"), tmp_path)
    assert "not in a.py" in refused(patch("@@", *[f"-{number}" for number in range(20_000)]), tmp_path)
    assert time.process_time() - start < 30
