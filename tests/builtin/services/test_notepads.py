"""Notes only grow, a task has one notepad, and no name leads out of the folder."""

import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services.notepads import Kind, Notepads
from matrixx_builtin.services.plans import PlanStore
from matrixx_builtin.services.records import RecordError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    PlanStore(tmp_path / "p").create("login", "- [ ] form\n")
    return tmp_path / "p"


@pytest.fixture
def pads(project: Path) -> Notepads:
    return Notepads(project)


@pytest.mark.parametrize(
    ("plan", "bucket"),
    [
        ("login", "login"),
        ("login.md", "login"),
        ("", "adhoc"),
        ("none", "adhoc"),
        ("../plans/login", "adhoc"),
        ("..", "adhoc"),
        ("/etc", "adhoc"),
        ("a\0", "adhoc"),
        ("\ud800", "adhoc"),
        ("x" * 10_000, "adhoc"),
    ],
)
def test_a_plan_that_is_there_has_its_own_bucket(pads: Notepads, plan: str, bucket: str) -> None:
    assert pads.bucket(plan) == pads.folder / bucket
    assert pads.note("learnings", "x", plan) == pads.folder / bucket / "learnings.md"
    assert {path.name for path in pads.folder.iterdir() if path.is_dir()} == {bucket}


def test_notes_are_added_and_never_changed(pads: Notepads) -> None:
    first = pads.note("decisions", "Use sqlite.\n", "login").read_bytes()
    second = pads.note("decisions", "## Not\ud800 postgres", "login").read_bytes()
    assert second.startswith(first) and second.endswith("\n\n## Not\ufffd postgres\n\n".encode())
    assert datetime.fromisoformat(first.decode().splitlines()[0].removeprefix("## "))


@pytest.mark.parametrize("text", ["", " \n", "x" * 65_537])
def test_a_note_says_something_and_not_everything(pads: Notepads, text: str) -> None:
    with pytest.raises(RecordError, match="a note has 1 to 65536 characters"):
        pads.note("issues", text)
    assert not pads.folder.exists()


def test_the_kinds_of_notes_are_fixed(pads: Notepads) -> None:
    kind: Kind = "../x"  # type: ignore[assignment]
    with pytest.raises(RecordError, match="is no kind of note; there are learnings"):
        pads.note(kind, "x")


def test_a_task_has_one_notepad(pads: Notepads) -> None:
    path = pads.start("T-1", "Write the form!", "login", "high")
    assert path == pads.folder / "login" / "1-write-the-form.md"
    lines = path.read_text().splitlines()
    assert lines[:5] == ["# Write the form!", "", "**Task ID**: T-1", "**Priority**: high", "**Status**: pending"]
    assert [line for line in lines if line.startswith("## ")] == ["## Findings", "## Blockers", "## Questions", "## Results"]
    before = path.read_bytes()
    assert pads.start("T-1", "another subject", "login") == path == pads.find("T-1", "login")
    assert path.read_bytes() == before
    assert pads.find("T-1") is None  # without its plan only adhoc is looked at
    assert pads.find("T-2", "login") is None


def test_a_task_that_began_without_its_plan_is_found_with_it(pads: Notepads) -> None:
    path = pads.start("T-1", "s")
    assert pads.start("T-1", "s", "login") == path == pads.find("T-1", "login")


def test_an_index_is_never_used_twice(pads: Notepads) -> None:
    first, second = pads.start("T-1", "same"), pads.start("T-2", "same")
    first.unlink()
    third = pads.start("T-3", "same")
    assert [path.name for path in (second, third)] == ["2-same.md", "3-same.md"]
    assert "T-2" in second.read_text()


@pytest.mark.parametrize(
    ("subject", "name"),
    [("", "1-T-1.md"), ("日本語", "1-T-1.md"), ("../../etc/passwd", "1-etc-passwd.md"), ("a\n**Task ID**: T-2\0", "1-a-task-id-t-2.md"), ("x" * 500, f"1-{'x' * 60}.md"), ("{subject}", "1-subject.md"), ("\ud800", "1-T-1.md")],
)  # fmt: skip
def test_a_subject_cannot_choose_the_file_or_another_task(pads: Notepads, subject: str, name: str) -> None:
    assert pads.start("T-1", subject) == pads.folder / "adhoc" / name
    assert pads.find("T-2") is None


@pytest.mark.parametrize("task_id", ["", "../x", "T-", "T-a/b", "x", "T-a\n", "T-1" * 10_000 + "/"])
def test_what_is_no_task_id_is_refused(pads: Notepads, task_id: str) -> None:
    for use in (pads.find, pads.complete, lambda task_id: pads.start(task_id, "s")):
        with pytest.raises(RecordError, match="is no task id"):
            use(task_id)


def test_a_task_is_stamped_once(pads: Notepads) -> None:
    path = pads.start("T-1", "s")
    before = path.read_bytes()
    assert pads.complete("T-1") is True
    stamped = path.read_bytes()
    assert (
        stamped.startswith(before)
        and b"\n\n## Completion\n\n**Completed at**: 20" in stamped
        and stamped.endswith(b"**Status**: completed\n")
    )
    assert pads.complete("T-1") is False and path.read_bytes() == stamped
    assert pads.complete("T-2") is False


@pytest.mark.parametrize("text", ["see ## Completion below", "> ## Completion", "### Completion", "## Completion criteria"])
def test_what_only_mentions_the_heading_is_no_stamp(pads: Notepads, text: str) -> None:
    path = pads.start("T-1", "s")
    path.write_text(f"{path.read_text()}{text}")
    assert pads.complete("T-1") is True
    assert f"{text}\n\n## Completion\n" in path.read_text()


def test_strange_files_are_passed_over(pads: Notepads, tmp_path: Path) -> None:
    adhoc = pads.folder / "adhoc"
    adhoc.mkdir(parents=True)
    (tmp_path / "outside.md").write_text("**Task ID**: T-1\n")
    (adhoc / "1-link.md").symlink_to(tmp_path / "outside.md")
    (adhoc / "2-folder.md").mkdir()
    (adhoc / "3-bytes.md").write_bytes(b"\xff\x00\n")
    (adhoc / "999999999-huge.md").write_text("")
    assert pads.find("T-1") is None
    assert pads.start("T-1", "s").name == "4-s.md"
    assert pads.complete("T-1") and (tmp_path / "outside.md").read_text() == "**Task ID**: T-1\n"


def test_a_note_does_not_go_through_a_link(pads: Notepads, tmp_path: Path) -> None:
    (pads.folder / "adhoc").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("mine")
    (pads.folder / "adhoc" / "issues.md").symlink_to(tmp_path / "outside.md")
    with pytest.raises(RecordError, match="cannot be written"):
        pads.note("issues", "x")
    assert (tmp_path / "outside.md").read_text() == "mine"


WORKS = """
import sys
from matrixx_builtin.services.notepads import Notepads
pads = Notepads(sys.argv[1])
for number in range(15):
    pads.note("learnings", f"{sys.argv[2]}{number} " + "x" * 5_000, "login")
    pads.start(f"T-{number}", "shared", "login")
    pads.start(f"T-{sys.argv[2]}{number}", "own", "login")
    pads.complete(f"T-{number}", "login")
"""


def test_two_processes_take_nothing_from_each_other(pads: Notepads, project: Path) -> None:
    workers = [subprocess.Popen([sys.executable, "-c", WORKS, str(project), name]) for name in "ab"]
    assert [worker.wait(120) for worker in workers] == [0, 0]
    bucket = pads.folder / "login"
    notes = (bucket / "learnings.md").read_text()
    assert all(f"\n{name}{number} {'x' * 5_000}\n" in notes for name in "ab" for number in range(15))
    shared = list(bucket.glob("*-shared.md"))
    assert len(shared) == 15 and len(list(bucket.glob("*-own.md"))) == 30
    assert all(path.read_text().count("## Completion") == 1 for path in shared)
    assert len({path.name.split("-")[0] for path in bucket.glob("*-*.md")}) == 45


@given(st.text())
def test_no_plan_name_leads_out(plan: str) -> None:
    folder = Path("/nowhere/.matrixx/notepads")
    assert Notepads("/nowhere").bucket(plan) == folder / "adhoc"
