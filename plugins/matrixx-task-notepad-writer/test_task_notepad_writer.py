import json
from pathlib import Path
from typing import Any

import matrixx_task_notepad_writer as hook
import pytest

from matrixx_builtin.services.tasks import Task, TaskStore
from matrixx_core.testing import Rig

PLAN = "# Flag\n\n- [ ] sew\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".matrixx/plans").mkdir(parents=True)
    (tmp_path / ".matrixx/plans/flag.md").write_text(PLAN)
    return tmp_path


def task(project: Path, subject: str = "Sew the flag", **metadata: Any) -> Task:
    return TaskStore(project).create(subject, "ses", metadata=metadata)[0]


def created(project: Path, one: Task, **more: Any) -> None:
    Rig(hook, directory=str(project)).after("task_create", json.dumps({"tasks": [{"id": one.id, "subject": one.subject, **more}]}))


def updated(project: Path, one: Task, status: str) -> None:
    changed = {**one.model_dump(mode="json", exclude_none=True), "status": status}
    Rig(hook, directory=str(project)).after("task_update", json.dumps({"task": changed}))


def notepads(project: Path) -> list[str]:
    return sorted(str(path.relative_to(project / ".matrixx/notepads")) for path in (project / ".matrixx/notepads").rglob("*.md"))


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({}, "adhoc/1-sew-the-flag.md"),
        ({"planName": "flag"}, "flag/1-sew-the-flag.md"),
        ({"planName": "nowhere"}, "adhoc/1-sew-the-flag.md"),
        ({"planName": "../../outside"}, "adhoc/1-sew-the-flag.md"),
        ({"planName": 5}, "adhoc/1-sew-the-flag.md"),
    ],
)
def test_a_new_task_gets_a_notepad_in_its_plans_folder(project: Path, metadata: dict[str, Any], path: str) -> None:
    one = task(project, **metadata)
    created(project, one)
    assert notepads(project) == [path]
    text = (project / ".matrixx/notepads" / path).read_text()
    assert f"**Task ID**: {one.id}" in text.splitlines()
    assert "**Priority**: medium" in text


def test_the_same_creation_twice_makes_one_file(project: Path) -> None:
    one = task(project)
    created(project, one)
    created(project, one)
    assert len(notepads(project)) == 1


def test_a_known_task_gets_none(project: Path) -> None:
    created(project, task(project), deduplicated=True)
    assert notepads(project) == []


@pytest.mark.parametrize(("status", "stamped"), [("completed", True), ("deleted", True), ("in_progress", False), ("pending", False)])
def test_an_ended_task_is_stamped_once(project: Path, status: str, stamped: bool) -> None:
    one = task(project)
    created(project, one)
    path = project / ".matrixx/notepads/adhoc/1-sew-the-flag.md"
    before = path.read_text()
    updated(project, one, status)
    updated(project, one, status)
    after = path.read_text()
    assert after.startswith(before)
    assert after.count("## Completion") == stamped


def test_a_task_without_a_notepad_is_left_alone(project: Path) -> None:
    updated(project, task(project), "completed")
    assert notepads(project) == []


ODD = [
    "",
    "no json",
    "[]",
    "null",
    "5",
    '{"tasks": 5}',
    '{"tasks": [null, {}, {"id": "../x"}, {"id": 5}]}',
    '{"task": {"status": "completed"}}',
    "[" * 100_000,
]


@pytest.mark.parametrize("tool", ["task_create", "task_update"])
@pytest.mark.parametrize("output", ODD, ids=range(len(ODD)))
def test_odd_answers_are_left_as_they_are(project: Path, tool: str, output: str) -> None:
    outcome = Rig(hook, directory=str(project)).after(tool, output)
    assert outcome.event.output == output
    assert {ran.answer for ran in outcome.ran} == {"none"}
    assert notepads(project) == []
