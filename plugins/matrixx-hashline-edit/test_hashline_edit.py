"""The tool on real files, called as a host calls it."""

import json
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import matrixx_env_file_write_guard as env_guard
import matrixx_hashline_edit as hook
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixx_hashline_edit.disk import Locks

from matrixx_builtin.services.lines import anchor
from matrixx_core import ToolError, ToolOutput
from matrixx_core.testing import Rig, call

ON = {"hashline-edit": {"hashline_edit": True}}
ABC = "a = 1\nb = 2\nc = 3\n"
BRACES = "one {\n}\ntwo {\n}\nthree {\n}\n"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(hook, settings=ON, directory=str(tmp_path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_text(ABC)
    return path


def edit(rig: Rig, path: Path | str, *edits: Mapping[str, Any], **args: Any) -> ToolOutput:
    return anyio.run(rig.host.call_tool, call("edit", directory=rig.host.directory, filePath=str(path), edits=list(edits), **args))


def error(rig: Rig, path: Path | str, *edits: Mapping[str, Any], **args: Any) -> str:
    return refused(rig, filePath=str(path), edits=list(edits), **args)


def refused(rig: Rig, **args: Any) -> str:
    with pytest.raises(ToolError) as caught:
        anyio.run(rig.host.call_tool, call("edit", directory=rig.host.directory, **args))
    return str(caught.value)


def at(path: Path, number: int) -> str:
    return str(anchor(number, path.read_text().split("\n")[number - 1]))


def new(pos: str, lines: Any, end: str | None = None) -> dict[str, Any]:
    return {"op": "replace", "pos": pos, "end": end, "lines": lines}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_without_its_setting_there_is_no_tool() -> None:
    assert Rig(hook).host.tools.keys() == set()
    assert Rig(hook, settings=ON).host.tools.keys() == {"edit"}


def test_the_schema_needs_what_an_edit_needs() -> None:
    schema = json.dumps(Rig(hook, settings=ON).host.tools["edit"].parameters)
    assert '"required": ["filePath"]' in schema and '"required": ["op", "lines"]' in schema


def test_an_edit_is_written_and_told(rig: Rig, file: Path) -> None:
    done = edit(rig, "a.py", new(at(file, 2), ["b = 20", "b = 21"]), new(at(file, 1), "a = 1"), new(at(file, 1), "a = 1"))
    assert file.read_text() == "a = 1\nb = 20\nb = 21\nc = 3\n"
    assert (done.output, done.title) == ("Updated a.py.", "a.py")
    assert done.metadata == {
        "filePath": str(file),
        "diff": f"--- {file}\n+++ {file}\n@@ -1,3 +1,4 @@\n a = 1\n-b = 2\n+b = 20\n+b = 21\n c = 3\n",
        "filediff": {"file": str(file), "before": ABC, "after": file.read_text(), "additions": 2, "deletions": 1},
        "firstChangedLine": 2,
        "noopEdits": 1,
        "deduplicatedEdits": 1,
    }


def test_bytes_outside_the_edit_and_the_mode_stay(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\nc\r\n\x0bd\xc2\x85")
    path.chmod(0o751)
    edit(rig, path, new(str(anchor(2, "b")), "B"))
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\nB\r\nc\r\n\x0bd\xc2\x85"
    assert path.stat().st_mode & 0o777 == 0o751


def test_a_link_stays_a_link(rig: Rig, file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("a.py")
    edit(rig, link, new(at(file, 1), "A"))
    assert link.is_symlink() and file.read_text() == "A\nb = 2\nc = 3\n"
    assert "is a symbolic link to" in error(rig, link, rename="other")
    edit(rig, link, delete=True)
    assert not link.is_symlink() and file.exists()


@pytest.mark.parametrize("op", ["append", "prepend"])
def test_a_missing_file_is_created_with_its_folders(rig: Rig, tmp_path: Path, op: str) -> None:
    done = edit(rig, "sub/dir/new.py", {"op": op, "lines": ["x", "y"]})
    assert (tmp_path / "sub/dir/new.py").read_text() == "x\ny\n"
    assert done.output == "Created sub/dir/new.py."
    assert done.metadata["filediff"]["additions"] == 2


@pytest.mark.parametrize(
    ("edits", "args"),
    [
        ([{"op": "append", "pos": "1#ZZ", "lines": "x"}], {}),
        ([{"op": "append", "lines": "x"}, {"op": "replace", "pos": "1#ZZ", "lines": "x"}], {}),
        ([], {"rename": "other"}),
        ([{"op": "append", "lines": "x"}], {"rename": "other"}),
        ([], {"delete": True}),
    ],
)
def test_of_a_missing_file_nothing_else_can_be_had(rig: Rig, tmp_path: Path, edits: list[Any], args: dict[str, Any]) -> None:
    told = error(rig, "new.py", *edits, **args)
    assert "not found" in told or "No such file" in told
    assert tree(tmp_path) == {}


def test_a_file_is_moved_with_its_new_text_and_its_mode(rig: Rig, file: Path, tmp_path: Path) -> None:
    file.chmod(0o600)
    done = edit(rig, file, new(at(file, 1), "A"), rename="sub/b.py")
    target = tmp_path / "sub/b.py"
    assert tree(tmp_path) == {"sub/b.py": b"A\nb = 2\nc = 3\n"}
    assert target.stat().st_mode & 0o777 == 0o600
    assert (done.output, done.title, done.metadata["filePath"]) == ("Moved a.py to sub/b.py.", "sub/b.py", str(target))


def test_a_file_is_moved_as_it_is(rig: Rig, file: Path, tmp_path: Path) -> None:
    edit(rig, file, rename=str(tmp_path / "b.py"))
    assert tree(tmp_path) == {"b.py": ABC.encode()}


def test_its_own_name_is_no_other_place(rig: Rig, file: Path) -> None:
    edit(rig, file, new(at(file, 1), "A"), rename="./a.py")
    assert file.read_text() == "A\nb = 2\nc = 3\n"
    assert "no changes to make" in error(rig, file, rename="./a.py")


def test_a_file_is_deleted(rig: Rig, file: Path) -> None:
    done = edit(rig, file, delete=True)
    assert not file.exists()
    assert done.metadata["filediff"] == {"file": str(file), "before": ABC, "after": "", "additions": 0, "deletions": 3}


HARMLESS = {"op": "append", "lines": "x"}


@pytest.mark.parametrize(
    ("path", "args", "told"),
    [
        ("a.py", {}, "There is nothing to do"),
        ("a.py", {"edits": [HARMLESS], "delete": True}, "delete goes with neither edits nor rename"),
        ("a.py", {"delete": True, "rename": "b.py"}, "delete goes with neither edits nor rename"),
        ("a.py", {"edits": [HARMLESS], "rename": "taken"}, "exists already"),
        ("a.py", {"rename": "dangling"}, "exists already"),
        ("a.py", {"rename": "sub"}, "exists already"),
        ("a.py", {"rename": "taken/b.py"}, "Nothing was written"),
        ("a.py", {"edits": [{"op": "replace", "pos": "1#ZZ", "lines": "x"}]}, ">>> 1#"),
        ("a.py", {"edits": [{"op": "replace", "pos": "42", "lines": "x"}]}, "is no anchor"),
        ("a.py", {"edits": [{"op": "replace", "pos": "1#ZZ"}]}, "edits.0.lines: Field required"),
        ("a.py", {"edits": [{"op": "insert", "lines": "x"}]}, "edits.0.op: Input should be"),
        ("a.py", {"edits": [{"type": "set_line", "lines": "x"}]}, "edits.0.op: Field required"),
        ("a.py", {"edits": [{"op": "append", "lines": {"a": 1}}]}, "edits.0.lines"),
        ("a.py", {"edits": ["x", None]}, "edits.0: Input should be"),
        ("a.py", {"oldString": "a", "newString": "b"}, "no oldString and newString"),
        ("", {"edits": [HARMLESS]}, "filePath"),
        ("sub", {"edits": [HARMLESS]}, "is no regular file"),
        ("sub/..", {"edits": [HARMLESS]}, "is no regular file"),
        ("pipe", {"edits": [HARMLESS]}, "is no regular file"),
        ("sub", {"delete": True}, "is no regular file"),
        ("taken/x", {"edits": [HARMLESS]}, "Nothing was written"),
        ("loop", {"edits": [HARMLESS]}, "Nothing was written"),
        ("latin", {"edits": [HARMLESS]}, "is not UTF-8 (byte 1)"),
        ("binary", {"edits": [HARMLESS]}, "holds NUL bytes"),
        ("huge", {"edits": [HARMLESS]}, "this tool edits files up to"),
        ("\0", {"edits": [HARMLESS]}, "Nothing was written"),
        ("\ud800", {"edits": [HARMLESS]}, "filePath: Input should be a valid string"),
        ("x" * 5_000, {"edits": [HARMLESS]}, "Nothing was written"),
        ("new.py", {"edits": [{"op": "append", "lines": "\ud800"}]}, "surrogate"),
        ("a.py", {"edits": [HARMLESS], "rename": "\0"}, "Nothing was written"),
        (".matrixx/plans/p.md", {"edits": [HARMLESS]}, "plan_update"),
        (".Matrixx\\PLANS\\p.md", {"edits": [HARMLESS]}, "plan_update"),
        (".matrixx//./plans/p.md", {"delete": True}, "plan_update"),
        ("link-to-plans/p.md", {"edits": [HARMLESS]}, "plan_update"),
        ("a.py", {"rename": ".matrixx/plans/p.md"}, "plan_update"),
        ("a.py", {"rename": "sub/../.matrixx/x/../plans/p.md"}, "plan_update"),
    ],
)
@pytest.mark.usefixtures("file")
def test_what_cannot_be_done_is_told_and_nothing_is_touched(rig: Rig, tmp_path: Path, path: str, args: dict[str, Any], told: str) -> None:
    (tmp_path / "taken").write_text("taken\n")
    (tmp_path / "latin").write_bytes(b"\n\xe9\n")
    (tmp_path / "binary").write_bytes(b"a\0b\n")
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(10_000_001)
    (tmp_path / "sub").mkdir()
    (tmp_path / ".matrixx/plans").mkdir(parents=True)
    (tmp_path / ".matrixx/plans/p.md").write_text("- [ ] a\n")
    (tmp_path / "link-to-plans").symlink_to(".matrixx/plans")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    before = tree(tmp_path)
    assert told in refused(rig, filePath=path, **args)
    assert tree(tmp_path) == before


def test_a_write_protected_file_stays(rig: Rig, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "is write-protected" in error(rig, file, HARMLESS)
    assert file.read_text() == ABC


def test_when_the_disk_is_full_the_old_file_is_whole(rig: Rig, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda path: full() if path == file else unlink(path))
    assert "No space left on device. Nothing was written." in error(rig, file, HARMLESS)
    assert "No space left on device. Nothing was written." in error(rig, file, HARMLESS, rename="b.py")
    assert tree(tmp_path) == {"a.py": ABC.encode()}


class TestAFileThatHasChangedSinceItWasRead:
    """One session reads; then somebody else, or the session itself, changes the file."""

    @pytest.fixture
    def braces(self, tmp_path: Path, rig: Rig) -> Path:
        path = tmp_path / "braces"
        path.write_text(BRACES)
        rig.after("read", "...", filePath="braces")
        return path

    def test_an_anchor_that_fits_an_equal_line_by_chance_is_refused_once(self, rig: Rig, braces: Path) -> None:
        last = at(braces, 4)
        moved = "zero {\n}\n" + BRACES
        braces.write_text(moved)
        told = error(rig, braces, new(last, "} # end of two"))
        assert braces.read_text() == moved
        assert f">>> {last}|}}" in told and "   " + " " + at(braces, 3) in told
        edit(rig, braces, new(last, "} # end of one"))
        assert braces.read_text() == "zero {\n}\none {\n} # end of one\ntwo {\n}\nthree {\n}\n"

    def test_a_range_whose_inner_lines_have_changed_is_refused_once(self, rig: Rig, braces: Path) -> None:
        whole = new(at(braces, 1), "gone", at(braces, 5))
        braces.write_text(BRACES.replace("two", "important"))
        told = error(rig, braces, whole)
        assert "important" in told and "important" in braces.read_text()
        edit(rig, braces, whole)
        assert braces.read_text() == "gone\n}\n"

    def test_a_change_elsewhere_is_told_beside_the_edit(self, rig: Rig, braces: Path) -> None:
        first = at(braces, 1)
        braces.write_text(BRACES + "four {\n}\n")
        assert "somebody else has changed lines 7 to 8" in edit(rig, braces, new(first, "uno {")).output
        assert braces.read_text() == BRACES.replace("one", "uno") + "four {\n}\n"

    def test_old_anchors_behind_an_edit_of_its_own_are_refused_once(self, rig: Rig, braces: Path) -> None:
        fourth = at(braces, 4)
        edit(rig, braces, {"op": "append", "pos": at(braces, 2), "lines": ["new {", "}"]})
        assert "perhaps by an edit of your own" in error(rig, braces, new(fourth, "} # end of two"))
        assert "#" not in braces.read_text()

    def test_own_edits_do_not_stand_in_the_way_of_a_larger_one(self, rig: Rig, braces: Path) -> None:
        edit(rig, braces, new(at(braces, 3), "dos {"))
        edit(rig, braces, new(at(braces, 1), "all", at(braces, 6)))
        assert braces.read_text() == "all\n"

    def test_new_numbers_behind_an_edit_of_its_own_are_taken(self, rig: Rig, braces: Path) -> None:
        edit(rig, braces, {"op": "append", "pos": at(braces, 2), "lines": "new"})
        edit(rig, braces, new(at(braces, 6), "tres {"))
        assert braces.read_text() == BRACES.replace("}\ntwo", "}\nnew\ntwo").replace("three", "tres")

    def test_fresh_anchors_of_an_error_are_taken_at_once(self, rig: Rig, braces: Path) -> None:
        old = at(braces, 3)
        braces.write_text("zero\n" + BRACES)
        told = error(rig, braces, new(old, "dos {"))
        assert f">>> {at(braces, 3)}|}}" in told
        edit(rig, braces, new(at(braces, 4), "dos {"))
        assert braces.read_text() == "zero\n" + BRACES.replace("two", "dos")

    def test_with_stale_anchors_those_that_fit_by_chance_are_shown_too(self, rig: Rig, braces: Path) -> None:
        old = [new(at(braces, 3), "dos {"), new(at(braces, 4), "} # dos")]
        braces.write_text("zero {\n}\nhalf {\n" + BRACES.partition("\n")[2])
        told = error(rig, braces, *old)
        assert "may be others than you mean" in told and f">>> {at(braces, 4)}|}}" in told

    def test_reading_it_again_settles_it(self, rig: Rig, braces: Path) -> None:
        braces.write_text("zero {\n}\n" + BRACES)
        rig.after("read", "...", filePath=str(braces))
        edit(rig, braces, new(at(braces, 4), "} # end of one"))
        assert "end of one" in braces.read_text()

    def test_inserts_at_its_ends_need_no_proof(self, rig: Rig, braces: Path) -> None:
        braces.write_text("zero\n" + BRACES)
        edit(rig, braces, {"op": "append", "lines": "end"})
        assert braces.read_text() == "zero\n" + BRACES + "end\n"

    def test_it_is_not_deleted_until_it_is_read_again(self, rig: Rig, braces: Path) -> None:
        braces.write_text(BRACES + "important\n")
        assert "has changed since you read it" in error(rig, braces, delete=True)
        assert braces.exists()
        rig.after("read", "...", filePath="braces")
        edit(rig, braces, delete=True)
        assert not braces.exists()

    def test_what_is_known_moves_with_the_file(self, rig: Rig, braces: Path, tmp_path: Path) -> None:
        edit(rig, braces, rename="moved")
        (tmp_path / "moved").write_text("zero {\n}\n" + BRACES)
        assert "has changed since you read it" in error(rig, "moved", new(at(tmp_path / "moved", 4), "x"))


@pytest.mark.parametrize("path", [None, 7, "", "missing", ".", "\0", "\ud800", "x" * 5_000])
def test_whatever_was_read_the_observer_does_not_fail(rig: Rig, path: Any) -> None:
    outcome = rig.after("read", "x", filePath=path)
    assert [one.error for one in outcome.ran] == [""]


@pytest.mark.parametrize(
    ("path", "edits", "args"),
    [
        (".env", [HARMLESS], {}),
        ("a.py", [], {"rename": ".env.local"}),
        (".env", [], {"rename": "b.py"}),
        (".env", [], {"delete": True}),
    ],
)
def test_a_guard_judges_it_like_any_other_tool(file: Path, tmp_path: Path, path: str, edits: list[Any], args: dict[str, Any]) -> None:
    (tmp_path / ".env").write_text("TOKEN=old\n")
    before = tree(tmp_path)
    rig = Rig(hook, env_guard, settings=ON, directory=str(tmp_path))
    assert "env-file-write-guard" in error(rig, path, *edits, **args)
    assert tree(tmp_path) == before
    edit(rig, "a.py", HARMLESS)


def test_calls_for_one_file_wait_for_each_other(file: Path) -> None:
    locks, inside, most = Locks(), threading.Semaphore(1), list[bool]()

    def hold(number: int) -> None:
        with locks.held(file, file.with_name(str(number % 2))):
            most.append(inside.acquire(blocking=False))
            inside.release()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(hold, range(200)))
    assert len(most) == 200 and all(most)
    assert len(locks._locks) == 0


def test_parallel_edits_of_one_file_lose_none(rig: Rig, file: Path) -> None:
    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for number in range(20):
                args = {"filePath": str(file), "edits": [{"op": "append", "lines": f"line {number}"}]}
                group.start_soon(rig.host.run_tool, "edit", args, "ses_test")

    anyio.run(all_at_once)
    assert sorted(file.read_text().splitlines()[3:]) == sorted(f"line {number}" for number in range(20))


ANYTHING = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3))
POINTERS = st.sampled_from(["1#ZZ", "2", "", "#", "1#", "99999999999#ZZ", "-1#ZZ", "x#VK", "\0", "\ud800"]) | ANYTHING


@given(
    st.lists(
        st.fixed_dictionaries({"op": st.sampled_from(["replace", "append"]), "pos": POINTERS, "lines": ANYTHING}), min_size=1, max_size=3
    )
)
def test_an_error_leaves_the_file_byte_for_byte(tmp_path_factory: pytest.TempPathFactory, edits: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.getbasetemp() / "hostile"
    folder.mkdir(exist_ok=True)
    (folder / "f").write_bytes(b"a\r\nb\n\xef\xbb\xbf")
    rig = Rig(hook, settings=ON, directory=str(folder))
    try:
        edit(rig, "f", *edits)
    except ToolError:
        assert tree(folder) == {"f": b"a\r\nb\n\xef\xbb\xbf"}
