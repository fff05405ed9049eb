from pathlib import Path
from typing import Any

import anyio
import matrixx_plan_persister as hook
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services.mission import MissionFile
from matrixx_builtin.services.records import write
from matrixx_builtin.services.tasks import Task, TaskStore
from matrixx_core import Compaction
from matrixx_core.testing import SESSION, Rig, session

CONFIG = hook.Config()


def plan(project: Path, text: str | bytes, *, sessions: tuple[str, ...] = (SESSION,)) -> Path:
    """A plan that is the mission of these sessions."""
    path = project / ".matrixx" / "plans" / "flag.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    for one in sessions:
        MissionFile(project).start(path, one)
    return path


def task(project: Path, subject: str, status: str = "completed", **fields: Any) -> Task:
    store = TaskStore(project)
    made, _ = store.create(subject, fields.pop("session", SESSION), **fields)
    return store.update(made.id, status=status)


def rig(project: Path, **settings: Any) -> Rig:
    return Rig(hook, settings={"plan-persister": settings}, directory=str(project))


def compacted(project: Path) -> str:
    """What a summary of the session is told."""
    outcome = anyio.run(rig(project).host.session_compacting, Compaction(session_id=SESSION))
    return "\n".join(outcome.event.context)


@pytest.mark.parametrize(
    ("before", "subjects", "after"),
    [
        ("- [ ] A\n", ["A"], "- [x] A\n"),
        ("- [ ] sew\n", ["Sew"], "- [x] sew\n"),
        ("- [ ] Task A\n- [ ] Task D\n", ["Task A"], "- [x] Task A\n- [ ] Task D\n"),
        ("- [ ] sew the flag\r\n* [ ] buy cloth", ["Buy the cloth", "sew flag"], "- [x] sew the flag\r\n* [x] buy cloth"),
        ("1. [ ] 1. sew the flag\n", ["sew the flag"], "1. [x] 1. sew the flag\n"),
        ("- [ ] sew flag 1\n- [ ] sew flag 2\n", ["sew flag 2"], "- [ ] sew flag 1\n- [x] sew flag 2\n"),
        ("- [ ] sew flag 1\n", ["sew flag 2"], "- [ ] sew flag 1\n"),
        ("- [ ] write parser tests\n", ["write lexer tests"], "- [ ] write parser tests\n"),
        (
            "- [ ] write parser tests\n- [x] write lexer tests\n",
            ["write lexer tests"],
            "- [ ] write parser tests\n- [x] write lexer tests\n",
        ),
        ("- [ ] hoist the flag\n", ["unrelated work"], "- [ ] hoist the flag\n"),
        ("- [x] hoist the flag\n", [], "- [x] hoist the flag\n"),
        ("```\n- [ ] sew it\n```\n- [ ]\ntext\n", ["sew it"], "```\n- [ ] sew it\n```\n- [ ]\ntext\n"),
        ("Name: sew it\n  - [ ] sew it  \n", ["sew it"], "Name: sew it\n  - [x] sew it  \n"),
    ],
)
def test_a_completed_task_ticks_the_box_that_says_the_same_and_nothing_else(
    tmp_path: Path, before: str, subjects: list[str], after: str
) -> None:
    path = plan(tmp_path, before)
    for subject in subjects:
        task(tmp_path, subject)
    for _ in range(2):
        rig(tmp_path).event("session.idle")
        assert path.read_bytes() == after.encode()


@pytest.mark.parametrize("status", ["pending", "in_progress", "deleted"])
def test_a_task_that_is_not_completed_ticks_and_unticks_nothing(tmp_path: Path, status: str) -> None:
    path = plan(tmp_path, "- [ ] sew it\n- [x] buy cloth\n")
    task(tmp_path, "sew it", status)
    task(tmp_path, "buy cloth", status)
    rig(tmp_path).event("session.idle")
    assert path.read_text() == "- [ ] sew it\n- [x] buy cloth\n"


@pytest.mark.parametrize(
    ("fields", "config", "counts"),
    [
        ({}, {}, True),
        ({"session": "ses_mate"}, {}, True),
        ({"session": "ses_other"}, {}, False),
        ({"session": "ses_other"}, {"session_scoped": False}, True),
        ({"session": "ses_other", "metadata": {"planName": "flag"}}, {}, True),
        ({"metadata": {"planName": "other"}}, {"session_scoped": False}, False),
    ],
)
def test_only_tasks_of_the_mission_count(tmp_path: Path, fields: Any, config: Any, counts: bool) -> None:
    path = plan(tmp_path, "- [ ] sew it\n", sessions=(SESSION, "ses_mate"))
    task(tmp_path, "sew it", **fields)
    rig(tmp_path, **config).event("session.idle")
    assert ("[x]" in path.read_text()) is counts


def test_a_task_of_another_project_never_counts(tmp_path: Path) -> None:
    path = plan(tmp_path, "- [ ] sew it\n")
    store = TaskStore(tmp_path)
    made = task(tmp_path, "sew it", metadata={"planName": "flag"})
    write(store.path(made.id), made.model_copy(update={"projectRoot": "/elsewhere"}))
    rig(tmp_path, session_scoped=False).event("session.idle")
    assert path.read_text() == "- [ ] sew it\n"


@pytest.mark.parametrize(("between", "counts"), [(2, True), (3, False)])
def test_a_part_of_a_task_of_the_mission_counts_three_levels_deep(tmp_path: Path, between: int, counts: bool) -> None:
    path = plan(tmp_path, "- [ ] sew it\n")
    above = task(tmp_path, "the whole", "pending")
    for level in range(between):
        above = task(tmp_path, f"level {level}", "pending", session="ses_other", parentID=above.id)
    task(tmp_path, "sew it", session="ses_other", parentID=above.id)
    rig(tmp_path).event("session.idle")
    assert ("[x]" in path.read_text()) is counts


def test_tasks_that_are_parts_of_each_other_are_no_mistake(tmp_path: Path) -> None:
    path = plan(tmp_path, "- [ ] sew it\n")
    made = task(tmp_path, "sew it", session="ses_other")
    write(TaskStore(tmp_path).path(made.id), made.model_copy(update={"parentID": made.id}))
    rig(tmp_path).event("session.idle")
    assert path.read_text() == "- [ ] sew it\n"


@pytest.mark.parametrize(("status", "kind"), [("completed", "task_update"), ("deleted", "task_update")])
def test_a_task_that_ends_is_in_the_plan_at_once(tmp_path: Path, status: str, kind: str) -> None:
    path = plan(tmp_path, "- [ ] sew it\n")
    task(tmp_path, "sew it")
    rig(tmp_path).after(kind, "ok", id="T-1", status=status)
    assert path.read_text() == "- [x] sew it\n"


@pytest.mark.parametrize(("kind", "status"), [("task_update", "in_progress"), ("task_create", "completed"), ("task_update", ["completed"])])
def test_other_calls_leave_the_plan_for_later(tmp_path: Path, kind: str, status: Any) -> None:
    path = plan(tmp_path, "- [ ] sew it\n")
    task(tmp_path, "sew it")
    rig(tmp_path).after(kind, "ok", status=str(status))
    assert path.read_text() == "- [ ] sew it\n"


@pytest.mark.parametrize("kind", ["session.error", "session.deleted", "message.updated"])
def test_other_events_change_nothing(tmp_path: Path, kind: str) -> None:
    path = plan(tmp_path, "- [ ] sew it\n")
    task(tmp_path, "sew it")
    rig(tmp_path).event(kind)
    assert path.read_text() == "- [ ] sew it\n"


def test_a_session_outside_of_the_mission_changes_and_reads_nothing(tmp_path: Path) -> None:
    path = plan(tmp_path, "- [ ] sew it\n", sessions=("ses_other",))
    task(tmp_path, "sew it", session="ses_other")
    rig(tmp_path).event("session.idle")
    assert path.read_text() == "- [ ] sew it\n"
    assert compacted(tmp_path) == ""
    assert not (tmp_path / ".matrixx" / "plan-state").exists()


def test_how_far_the_plan_is_is_written_beside_it_only_when_that_changes(tmp_path: Path) -> None:
    path = plan(tmp_path, "- [ ] sew it\n- [ ] hoist it\n")
    state = tmp_path / ".matrixx" / "plan-state" / "flag.json"
    rig(tmp_path).event("session.idle")
    first, at = state.read_bytes(), path.stat().st_mtime_ns
    assert b'"done": 0' in first and SESSION.encode() in first
    state.write_bytes(first.replace(b'"updated_at": "', b'"updated_at": "0'))
    rig(tmp_path).event("session.compacted")
    assert b'"updated_at": "0' in state.read_bytes()
    assert path.stat().st_mtime_ns == at
    path.write_text("- [x] sew it\n- [ ] hoist it\n")
    rig(tmp_path).event("session.idle")
    assert b'"done": 1' in state.read_bytes() and b'"updated_at": "0' not in state.read_bytes()


def test_a_summary_is_told_the_plan_its_progress_and_what_is_next(tmp_path: Path) -> None:
    plan(tmp_path, "# Flag\n## Make\n- [x] buy cloth\n- [ ] sew it\n  - [ ] the hem\n## Show\n- [ ] hoist it\n")
    text = compacted(tmp_path)
    for said in (
        "[plan-persister]",
        "'flag'",
        "1/4",
        SESSION,
        "## Make\n- [ ] sew it\n  - [ ] the hem\n",
        "first open box",
        "tick each box",
    ):
        assert said in text
    assert "hoist it" not in text
    assert compacted(tmp_path) == text


@pytest.mark.parametrize("text", ["- [x] sew it\n", "only text\n", ""])
def test_a_plan_that_is_complete_or_has_no_boxes_is_not_told(tmp_path: Path, text: str) -> None:
    plan(tmp_path, text)
    assert compacted(tmp_path) == ""


def test_without_a_mission_or_its_plan_nothing_is_told(tmp_path: Path) -> None:
    assert compacted(tmp_path) == ""
    plan(tmp_path, "- [ ] sew it\n").unlink()
    assert compacted(tmp_path) == ""
    (tmp_path / "outside.md").write_text("- [ ] out\n")
    MissionFile(tmp_path).start(tmp_path / "outside.md", SESSION)
    assert compacted(tmp_path) == ""


def test_a_long_plan_is_cut(tmp_path: Path) -> None:
    plan(tmp_path, "".join(f"- [ ] step number {number}\n" for number in range(500)))
    assert "... and 475 more" in compacted(tmp_path)
    plan(tmp_path, "".join(f"- [ ] {number} {'x' * 1_000}\n" for number in range(30)))
    assert len(compacted(tmp_path)) < hook.SHOWN_CHARACTERS + 600


@pytest.mark.parametrize("text", [b"\xff\0- [ ] x\n", b"- [ ] x\n" * 20_000, b"\xef\xbb\xbf- [ ] sew it\n"])
def test_odd_and_oversized_plans_lose_nothing(tmp_path: Path, text: bytes) -> None:
    path = plan(tmp_path, text)
    task(tmp_path, "sew it")
    rig(tmp_path).event("session.idle")
    compacted(tmp_path)
    assert path.read_bytes().replace(b"[x]", b"[ ]") == text


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"id": "T-1"}'])
def test_a_broken_task_file_is_no_vote(tmp_path: Path, content: bytes) -> None:
    path = plan(tmp_path, "- [ ] sew it\n- [x] buy cloth\n")
    (tmp_path / ".matrixx" / "tasks").mkdir()
    (tmp_path / ".matrixx" / "tasks" / "T-1.json").write_bytes(content)
    rig(tmp_path).event("session.idle")
    assert path.read_text() == "- [ ] sew it\n- [x] buy cloth\n"


def test_what_cannot_be_written_is_left(tmp_path: Path) -> None:
    path = plan(tmp_path, "- [ ] sew it\n")
    (tmp_path / ".matrixx" / "plan-state").write_text("in the way")
    rig(tmp_path).event("session.idle")
    assert path.read_text() == "- [ ] sew it\n"


def test_without_a_directory_nothing_is_looked_for() -> None:
    assert hook.sync(session(), CONFIG) == hook.rehydration(session(), CONFIG) == ""


@given(st.text(max_size=40), st.text(max_size=40))
def test_two_texts_fit_alike_both_ways_and_a_text_fits_itself(one: str, other: str) -> None:
    assert hook.fits(hook.words(one), hook.words(other)) == hook.fits(hook.words(other), hook.words(one))
    assert hook.fits(hook.words(one), hook.words(one)) == len(hook.words(one))
