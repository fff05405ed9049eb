"""Tasks survive; their ids cannot leave the folder; what is open is what can be worked on."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.tasks import Task, TaskStore


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(tmp_path)


def made(store: TaskStore, subject: str, session: str = "ses_1", **fields: Any) -> str:
    return store.create(subject, session, **fields)[0].id


def aged(store: TaskStore, task_id: str, hours: float) -> None:
    then = time.time() - hours * 3_600
    os.utime(store.path(task_id), (then, then))


def test_a_task_is_there_for_the_next_process(store: TaskStore, tmp_path: Path) -> None:
    task_id = made(store, "write docs", description="all of them", metadata={"planName": "p"})
    found = TaskStore(tmp_path).get(task_id)
    assert found is not None
    assert (found.subject, found.description, found.metadata, found.threadID) == ("write docs", "all of them", {"planName": "p"}, "ses_1")


@pytest.mark.parametrize("task_id", ["../x", "T-../x", "T-a/b", "T-", "T-a-", "T--a", "", "x", "T-a.json", "T-a\0", "T-ü"])
def test_what_is_no_id_is_refused(store: TaskStore, task_id: str) -> None:
    with pytest.raises(RecordError, match="is no task id"):
        store.get(task_id)


def test_the_same_subject_a_moment_later_is_the_same_task(store: TaskStore) -> None:
    first, known = store.create("write docs", "ses_1")
    assert not known
    assert store.create("  write docs ", "ses_2") == (first, True)
    aged(store, first.id, 0.2)
    assert store.create("write docs", "ses_1")[1] is False


def test_a_done_task_is_not_the_same_task(store: TaskStore) -> None:
    store.update(made(store, "write docs"), status="completed")
    assert store.create("write docs", "ses_1")[1] is False


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"status": "completed"}, {"status": "completed"}),
        ({"addBlockedBy": ["T-b", "T-a"]}, {"blockedBy": ("T-a", "T-b")}),
        ({"metadata": {"a": None, "c": 3}}, {"metadata": {"b": 2, "c": 3}}),
        ({"subject": None, "owner": "ses_2"}, {"subject": "s", "owner": "ses_2"}),
    ],
)
def test_an_update_changes_what_it_names_and_nothing_else(store: TaskStore, changes: dict[str, Any], expected: dict[str, Any]) -> None:
    task_id = made(store, "s", blockedBy=("T-a",), metadata={"a": 1, "b": 2})
    before = store.get(task_id)
    assert before is not None
    assert store.update(task_id, **changes) == store.get(task_id) == Task.model_validate({**before.model_dump(), **expected})


def test_a_wrong_status_changes_nothing(store: TaskStore) -> None:
    task_id = made(store, "s")
    before = store.path(task_id).read_bytes()
    with pytest.raises(ValueError, match="status"):
        store.update(task_id, status="done")
    assert store.path(task_id).read_bytes() == before


def test_an_unknown_task_is_told(store: TaskStore) -> None:
    with pytest.raises(RecordError, match="there is no task 'T-1'; task_list"):
        store.update("T-1", status="completed")


def test_open_is_what_can_be_worked_on(store: TaskStore) -> None:
    plain = made(store, "plain")
    done = store.update(made(store, "done"), status="completed").id
    blocker = made(store, "blocker", session="ses_other")
    blocked = made(store, "blocked", blockedBy=(blocker,))
    free = made(store, "free", blockedBy=(done,))
    lost = made(store, "lost", blockedBy=("T-nowhere",))
    child_of_done = made(store, "part", parentID=done)
    stale = made(store, "stale")
    aged(store, stale, 25)
    assert {task.id for task in store.open()} == {plain, blocker, free}
    assert {task.id for task in store.open({"ses_1"})} == {plain, free}
    store.update(blocker, status="completed")
    assert blocked in {task.id for task in store.open({"ses_1"})}
    assert {lost, child_of_done, stale}.isdisjoint(task.id for task in store.open())


def test_a_blocker_of_another_session_is_found(store: TaskStore) -> None:
    blocker = store.update(made(store, "theirs", session="ses_2"), status="completed").id
    waiting = made(store, "mine", blockedBy=(blocker,))
    assert [task.id for task in store.open({"ses_1"})] == [waiting]


def test_a_clock_that_jumped_ages_nobody(store: TaskStore) -> None:
    task_id = made(store, "s")
    aged(store, task_id, -100)
    assert store.age_seconds(task_id) == 0
    assert [task.id for task in store.open()] == [task_id]


def test_cleanup_removes_what_is_done_and_old(store: TaskStore) -> None:
    done, fresh, kept = (made(store, subject) for subject in ("done", "fresh", "kept"))
    store.update(done, status="completed")
    store.update(fresh, status="deleted")
    aged(store, done, 48)
    aged(store, kept, 48)
    assert store.cleanup(86_400) == [done]
    assert store.cleanup() == [fresh]
    assert store.get(kept) is not None


def test_a_broken_file_hides_no_other_task(store: TaskStore) -> None:
    task_id = made(store, "s")
    (store.folder / "T-bad.json").write_text("{")
    (store.folder / "T-foreign.json").write_text('{"id": "T-foreign"}')
    assert [task.id for task in store.all()] == [task_id]
    assert len(list(store.folder.glob("*.corrupt-*"))) == 2


def test_the_persons_own_tasks_are_shared_by_projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(tmp_path / "state"))
    task_id = made(TaskStore(tmp_path / "a", "global"), "s")
    assert TaskStore(tmp_path / "b", "global").get(task_id) is not None
    assert not (tmp_path / "a").exists()
