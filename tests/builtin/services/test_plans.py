"""Plans: what is ticked stays ticked, what is not meant is not touched, and no name leaves the folder."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services.lines import AnchorError, StaleAnchors, anchor
from matrixx_builtin.services.plans import Edit, PlanStore, Progress, applied, boxes, progress, ticked
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.text_files import Document, revision

PLAN = """# Login

- [ ] write the form
  - [x] fields
  - [ ] checks
1. [ ] test it

## Done when

* [X] it works
"""


@pytest.fixture
def store(tmp_path: Path) -> PlanStore:
    return PlanStore(tmp_path)


@pytest.fixture
def login(store: PlanStore) -> PlanStore:
    store.create("login", PLAN)
    return store


def raw(store: PlanStore, name: str = "login") -> bytes:
    return store.path(name).read_bytes()


def at(store: PlanStore, line: int) -> str:
    return str(anchor(line, store.read("login").texts[line - 1]))


@pytest.mark.parametrize(
    ("text", "done", "total"),
    [
        ("", 0, 0),
        ("# only text\n- a list\n", 0, 0),
        (PLAN, 2, 5),
        ("- [ ] a\n- [x] b\n  - [ ] c\n* [X] d\n1. [ ] e\n-[x] f\n- [] g\n+ [x] h\n2) [x] i", 5, 9),
        ("- [ ] 1. numbered\n- [x] plain\n", 1, 2),
        ("\t- [x] tab\n        - [ ] deep\n> - [x] quoted\n> > 1. [ ] twice\n", 2, 4),
        ("1. - [x] a list in a list\n", 1, 1),
        ("- [ ]\n- [x]", 1, 2),
        ("- [x](link)\n- [y] no\n- [-] no\n[x] no\n- x [ ] no\n- [ x ] no\n-- [x]y\n", 0, 0),
        ("```\n- [ ] code\n```\n- [x] a\n", 1, 1),
        ("~~~md\n- [ ] code\n```\n~~~~\n- [x] a\n", 1, 1),
        ("- ```\n  - [ ] code\n  ```\n- [x] a\n", 1, 1),
        ("````\n```\n- [ ] code\n````\n- [x] a\n", 1, 1),
        ("```never closed\n- [ ] a\n", 0, 1),
        ("```inline``` - text\n- [x] a\n```\n- [ ] code\n```\n", 1, 1),
        ("<!--\n- [ ] a template\n-->\n- [x] a\n", 1, 1),
        ("<!-- never closed\n- [ ] a\n", 0, 1),
        ("<!-- a --> \n- [ ] a\n", 0, 1),
        ("- [x] a\r\n- [ ] b\r\n", 1, 2),
    ],
)
def test_boxes_are_counted_as_people_mean_them(text: str, done: int, total: int) -> None:
    assert progress(Document.of(text.encode()).texts) == Progress(done, total)


@pytest.mark.parametrize(("done", "total", "complete"), [(0, 0, False), (0, 1, False), (1, 2, False), (1, 1, True)])
def test_a_plan_without_boxes_is_not_complete(done: int, total: int, complete: bool) -> None:
    assert Progress(done, total).complete is complete


def test_boxes_are_told_with_their_place() -> None:
    found = boxes(PLAN.splitlines())
    assert [(box.anchor.line, box.text, box.done, box.depth, box.section) for box in found] == [
        (3, "write the form", False, 0, "Login"),
        (4, "fields", True, 1, "Login"),
        (5, "checks", False, 1, "Login"),
        (6, "test it", False, 0, "Login"),
        (10, "it works", True, 0, "Done when"),
    ]
    assert [box.depth for box in boxes("- [ ] a\n\t- [ ] b\n\t\t- [ ] c\n\t- [ ] d\n# new\n\t- [ ] e".splitlines())] == [0, 1, 2, 1, 0]


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "..",
        ".",
        "",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "a\0b",
        ".hidden",
        "a..b",
        "a\nb",
        "x" * 101,
        "_archive",
        "-a",
        "C:x",
        "a ",
        "\ud800",
    ],
)
def test_what_is_no_name_is_refused_everywhere(store: PlanStore, name: str, tmp_path: Path) -> None:
    for use in (store.read, store.delete, lambda name: store.create(name, PLAN), lambda name: store.update(name, []), store.path):
        with pytest.raises(RecordError, match="is no plan's name"):
            use(name)
    assert not store.exists(name)
    assert [path for path in tmp_path.rglob("*") if path.suffix == ".md"] == []


@pytest.mark.parametrize(("name", "hint"), [("My Plan", "my-plan"), ("a_b", "a-b"), ("v1.2", "v1-2"), ("Ünder", "nder"), ("a--b", "a-b")])
def test_a_new_plans_name_is_kebab_case(store: PlanStore, name: str, hint: str) -> None:
    with pytest.raises(RecordError, match=f"such as '{hint}'"):
        store.create(name, PLAN)


def test_a_plan_that_a_person_named_is_still_readable(store: PlanStore) -> None:
    store.folder.mkdir(parents=True)
    (store.folder / "My Plan v1.2.md").write_text(PLAN)
    assert store.read("My Plan v1.2.md").texts[0] == "# Login"


def test_a_missions_path_means_a_plan_that_is_here(login: PlanStore, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "login.md").write_text(PLAN)
    for path in (login.folder / "login.md", tmp_path / "link/.matrixx/plans/login.md", login.folder / "../plans/login.md"):
        assert login.name_of(str(path)) == "login"
    for odd in (
        tmp_path / "login.md",
        login.folder / "gone.md",
        login.folder,
        login.folder / "login",
        "",
        "\0/login.md",
        "\ud800",
        "login.md",
    ):
        assert login.name_of(str(odd)) == ""


def test_a_plan_is_never_made_over_another(login: PlanStore) -> None:
    with pytest.raises(RecordError, match="there is a plan 'login' already"):
        login.create("login", "other")
    assert raw(login) == PLAN.encode()


MAKES = """
import sys
from matrixx_builtin.services.plans import PlanStore
from matrixx_builtin.services.records import RecordError
try:
    PlanStore(sys.argv[1]).create("contested", "- [ ] " + sys.argv[2] * 1_000)
except RecordError:
    sys.exit(3)
"""

TICKS = """
import sys
from matrixx_builtin.services.lines import anchor
from matrixx_builtin.services.plans import Edit, PlanStore
store = PlanStore(sys.argv[1])
for line in range(int(sys.argv[2]), 61, 2):
    store.update("login", [Edit(op="tick", pos=str(anchor(line, store.read("login").texts[line - 1])))])
"""


def codes(script: str, directory: Path, *arguments: str) -> list[int]:
    """Run the script once for each argument, all at the same time."""
    processes = [subprocess.Popen([sys.executable, "-c", script, str(directory), one]) for one in arguments]
    return [process.wait(120) for process in processes]


def test_only_one_of_many_makers_wins(store: PlanStore, tmp_path: Path) -> None:
    assert sorted(codes(MAKES, tmp_path, "a", "b", "c", "d")) == [0, 3, 3, 3]
    assert len(list(store.folder.iterdir())) == 2  # the plan and the lock: no draft is left


def test_two_processes_lose_no_tick(store: PlanStore, tmp_path: Path) -> None:
    store.create("login", "".join(f"- [ ] item {number}\n" for number in range(60)))
    assert codes(TICKS, tmp_path, "1", "2") == [0, 0]
    assert progress(store.read("login").texts) == Progress(60, 60)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([{"op": "tick", "pos": 3}], PLAN.replace("- [ ] write", "- [x] write")),
        ([{"op": "untick", "pos": 10}], PLAN.replace("* [X]", "* [ ]")),
        ([{"op": "tick", "pos": 4}], PLAN),
        ([{"op": "tick", "pos": 3}, {"op": "tick", "pos": 3}, {"op": "tick", "pos": 6}], PLAN.replace("- [ ] write", "- [x] write").replace("1. [ ]", "1. [x]")),
        ([{"op": "replace", "pos": 1, "lines": "# Sign in\n"}], PLAN.replace("# Login", "# Sign in")),
        ([{"op": "replace", "pos": 4, "end": 5, "lines": None}], PLAN.replace("  - [x] fields\n  - [ ] checks\n", "")),
        ([{"op": "replace", "end": 1, "lines": ["a", "b"]}], PLAN.replace("# Login", "a\nb")),
        ([{"op": "append", "lines": ["- [ ] last"]}], f"{PLAN}- [ ] last\n"),
        ([{"op": "prepend", "lines": ["---", "---"]}], f"---\n---\n{PLAN}"),
        ([{"op": "append", "pos": 6, "lines": "2. [ ] ship\n3. [ ] rest"}], PLAN.replace("1. [ ] test it\n", "1. [ ] test it\n2. [ ] ship\n3. [ ] rest\n")),
        ([{"op": "prepend", "pos": 3, "lines": "new"}, {"op": "append", "pos": 3, "lines": "after"}, {"op": "tick", "pos": 3}],
         PLAN.replace("- [ ] write the form\n", "new\n- [x] write the form\nafter\n")),
        ([{"op": "append", "pos": 3, "lines": "1"}, {"op": "prepend", "pos": 4, "lines": "3"}, {"op": "append", "pos": 3, "lines": "2"}],
         PLAN.replace("write the form\n", "write the form\n1\n2\n3\n")),
        ([{"op": "replace", "pos": 1, "lines": ["1#ZZ|# Sign in", "2#KM|"]}], PLAN.replace("# Login", "# Sign in\n")),
        ([{"op": "replace", "pos": 2, "lines": ""}], PLAN),
    ],
)  # fmt: skip
def test_edits_change_what_they_name(login: PlanStore, edits: list[dict[str, Any]], expected: str) -> None:
    given = [
        Edit.model_validate({key: at(login, value) if key in {"pos", "end"} else value for key, value in edit.items()}) for edit in edits
    ]
    change = login.update("login", given)
    assert raw(login) == expected.encode() == change.after.content
    assert all(change.after.texts[number - 1] not in change.before.texts for number in change.touched if expected != PLAN and number > 2)


@pytest.mark.parametrize(
    ("edits", "error", "told"),
    [
        ([{"op": "tick", "pos": 1}], RecordError, "'# Login' has no check box"),
        ([{"op": "tick"}], RecordError, "needs pos"),
        ([{"op": "tick", "pos": 3, "end": 4}], RecordError, "one box"),
        ([{"op": "replace", "lines": "x"}], RecordError, "replace needs pos"),
        ([{"op": "replace", "pos": 1}], RecordError, "replace needs lines"),
        ([{"op": "replace", "pos": 4, "end": 3, "lines": "x"}], RecordError, "pos is the first line"),
        ([{"op": "append", "pos": 3, "lines": []}], RecordError, "nothing to add"),
        ([{"op": "replace", "pos": 3, "end": 5, "lines": "x"}, {"op": "tick", "pos": 4}], RecordError, "two edits change line 4"),
        (
            [{"op": "replace", "pos": 3, "end": 5, "lines": "x"}, {"op": "append", "pos": 4, "lines": "y"}],
            RecordError,
            "two edits change line 5",
        ),
        ([{"op": "tick", "pos": 3}, {"op": "tick", "pos": "4#ZZ"}, {"op": "tick", "pos": "5#ZZ"}], StaleAnchors, "2 lines have changed"),
        ([{"op": "tick", "pos": "99#VK"}], AnchorError, "outside the text"),
        ([{"op": "tick", "pos": "write the form"}], AnchorError, "is no anchor"),
    ],
)
def test_what_makes_no_sense_changes_nothing(login: PlanStore, edits: list[dict[str, Any]], error: type[Exception], told: str) -> None:
    given = [
        Edit.model_validate({key: at(login, value) if isinstance(value, int) else value for key, value in edit.items()}) for edit in edits
    ]
    with pytest.raises(error, match=told):
        login.update("login", given)
    assert raw(login) == PLAN.encode()


def test_a_plan_that_changed_since_it_was_read_is_not_touched(login: PlanStore) -> None:
    seen = revision(raw(login))
    moved = f"- [ ] write the form\n{PLAN}"
    login.path("login").write_text(moved)
    with pytest.raises(RecordError, match=f"has changed since you read it.*revision '{revision(moved.encode())}'"):
        login.update("login", [Edit(op="tick", pos=str(anchor(1, "- [ ] write the form")))], seen)
    assert raw(login) == moved.encode()
    login.update("login", [Edit(op="tick", pos=str(anchor(1, "- [ ] write the form")))], revision(moved.encode()))
    assert raw(login) == moved.replace("- [ ]", "- [x]", 1).encode()


def test_an_update_that_changes_nothing_leaves_the_files_time(login: PlanStore) -> None:
    os.utime(login.path("login"), (1, 1))
    login.update("login", [Edit(op="untick", pos=at(login, 3))])
    assert login.path("login").stat().st_mtime == 1


@pytest.mark.parametrize(
    ("content", "pos", "expected"),
    [
        (b"\xef\xbb\xbf- [ ] a\r\n- [ ] b\r\n", "1#", b"\xef\xbb\xbf- [x] a\r\n- [ ] b\r\n"),
        (b"- [ ] a\r\n- [ ] b\n- [ ] c", "3#", b"- [ ] a\r\n- [ ] b\n- [x] c"),
        (b"- [ ] \xff\x00\n\x80\x81\n", "1#", b"- [x] \xff\x00\n\x80\x81\n"),
        (b"- [ ] a\x0b\x0c\xe2\x80\xa8\r\r\n", "1#", b"- [x] a\x0b\x0c\xe2\x80\xa8\r\r\n"),
    ],
)
def test_every_other_byte_stays(store: PlanStore, content: bytes, pos: str, expected: bytes) -> None:
    store.folder.mkdir(parents=True)
    (store.folder / "login.md").write_bytes(content)
    store.update("login", [Edit(op="tick", pos=at(store, int(pos[0])))])
    assert raw(store) == expected


def test_new_lines_end_as_the_first_one_does(store: PlanStore) -> None:
    store.create("login", "a\r\nb")
    store.update("login", [Edit(op="append", lines=["c", "d"]), Edit(op="replace", pos=at(store, 1), lines="x\r\ny\r\n")])
    assert raw(store) == b"x\r\ny\r\nb\r\nc\r\nd"


def test_the_size_has_a_limit(tmp_path: Path) -> None:
    store = PlanStore(tmp_path, most_bytes=100)
    with pytest.raises(RecordError, match=r"would have 101 bytes and may have 100 \(plans.max_plan_file_bytes\)"):
        store.create("login", "x" * 101)
    store.create("login", "é" * 50)
    with pytest.raises(RecordError, match="Nothing was written"):
        store.update("login", [Edit(op="append", lines="x")])
    store.path("login").write_text("x" * 101)
    with pytest.raises(RecordError, match="more than 100 bytes"):
        store.read("login")
    assert [(plan.name, plan.progress) for plan in store.all()] == [("login", None)]


def test_text_that_cannot_be_written_is_made_writable(store: PlanStore) -> None:
    store.create("login", "a\ud800\x00")
    store.update("login", [Edit(op="append", lines=["\udcff", "😀"])])
    assert raw(store) == "a\ufffd\x00\n\ufffd\n😀".encode()


def test_plans_are_listed_newest_first_without_what_is_none(store: PlanStore) -> None:
    assert store.all() == []
    for name, when in (("old", 1), ("new", 3), ("mid", 2)):
        store.create(name, PLAN)
        os.utime(store.path(name), (when, when))
    (store.folder / "_archive").mkdir()
    (store.folder / "_archive" / "gone.md").write_text(PLAN)
    (store.folder / "folder.md").mkdir()
    (store.folder / ".draft.md").write_text(PLAN)
    (store.folder / "bad.md").write_bytes(b"\xff\x00")
    os.utime(store.folder / "bad.md", (0, 0))
    assert [(plan.name, str(plan.progress)) for plan in store.all()] == [("new", "2/5"), ("mid", "2/5"), ("old", "2/5"), ("bad", "0/0")]


def test_a_link_or_pipe_is_not_followed(store: PlanStore, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("- [ ] key\n")
    store.folder.mkdir(parents=True)
    (store.folder / "login.md").symlink_to(tmp_path / "secret")
    os.mkfifo(store.folder / "pipe.md")
    for name in ("login", "pipe"):
        with pytest.raises(RecordError, match=name):
            store.read(name)
        with pytest.raises(RecordError):
            store.update(name, [Edit(op="append", lines="x")])
    assert (tmp_path / "secret").read_text() == "- [ ] key\n"
    assert [plan.progress for plan in store.all()] == [None]
    store.delete("login")
    assert (tmp_path / "secret").exists()


def test_a_deleted_plan_is_gone(login: PlanStore) -> None:
    login.delete("login")
    for use in (login.read, login.delete):
        with pytest.raises(RecordError, match="there is no plan 'login'; plan_list"):
            use("login")


def test_a_folder_that_cannot_be_written_is_told(login: PlanStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(RecordError, match="No space left on device; what was there is unchanged"):
        login.update("login", [Edit(op="tick", pos=at(login, 3))])
    assert raw(login) == PLAN.encode()
    assert [path.name for path in login.folder.iterdir() if path.name.startswith(".login")] == []


def test_the_files_mode_stays(login: PlanStore) -> None:
    login.path("login").chmod(0o600)
    login.update("login", [Edit(op="tick", pos=at(login, 3))])
    assert login.path("login").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    ["```python\n" * 10_000, "- " * 50_000, "# " + "# " * 50_000 + "x", "- [ ] " + " " * 100_000, ">" * 100_000, "`" * 100_000, "~~~\n" + "`" * 50_000,
     "<!--\n" * 20_000, "\n".join("`" * number for number in range(3, 440)), "1" * 100_000, "\t" * 100_000 + "x", "- " + "\t" * 100_000],
    ids=range(12),
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    progress(text.split("\n"))
    boxes(text.split("\n"))
    assert time.process_time() - began < 5


MARKDOWN = st.lists(
    st.one_of(
        st.builds(
            lambda indent, mark, tick, text, end: (indent + mark + tick + text, end),
            st.text(" \t>", max_size=6),
            st.sampled_from(["- ", "* ", "1. ", "12) ", "-", ""]),
            st.sampled_from(["[ ]", "[x]", "[X]", "[]", "[-]", ""]),
            st.sampled_from(["", " ", " a", " b", "c"]),
            st.sampled_from(["\n", "\r\n"]),
        ),
        st.tuples(st.sampled_from(["```", "~~~", "# h", "<!--", "-->", "text"]), st.just("\n")),
        st.tuples(st.text(st.characters(exclude_characters="\n"), max_size=10), st.sampled_from(["\n", "\r\n"])),
    ),
    max_size=12,
).map(lambda rows: "".join(text + end for text, end in rows))


@given(MARKDOWN, st.data())
def test_ticking_any_box_changes_its_bracket_and_nothing_else(text: str, data: st.DataObject) -> None:
    content = text.encode("utf-8", "replace")
    document = Document.of(content)
    found = boxes(document.texts)
    if not found:
        return
    box = data.draw(st.sampled_from(found))
    after, _ = applied(document, [Edit(op="untick" if box.done else "tick", pos=str(box.anchor))])
    before_lines, after_lines = content.split(b"\n"), after.content.split(b"\n")
    changed = [number for number, (old, new) in enumerate(zip(before_lines, after_lines, strict=True), 1) if old != new]
    assert changed == [box.anchor.line]
    assert [one.done for one in boxes(after.texts)] == [one.done is not (one.anchor.line == box.anchor.line) for one in found]
    assert progress(after.texts) == Progress(progress(document.texts).done + (-1 if box.done else 1), len(found))


@given(st.binary() | MARKDOWN.map(lambda text: text.encode("utf-8", "replace")))
def test_any_file_survives_being_read(content: bytes) -> None:
    document = Document.of(content)
    assert document.content == content
    how_far = progress(document.texts)
    assert 0 <= how_far.done <= how_far.total == len(boxes(document.texts)) <= len(document.lines)


@given(st.text())
def test_a_line_without_a_box_is_refused_and_one_with_a_box_ticks_twice_the_same(line: str) -> None:
    try:
        once = ticked(line, done=True)
    except RecordError:
        return
    assert ticked(once, done=True) == once
