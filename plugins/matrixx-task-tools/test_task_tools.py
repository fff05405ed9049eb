import json
from pathlib import Path
from typing import Any

import anyio
import matrixx_task_tools as hook
import pytest

from matrixx_core import ToolError, ToolOutput
from matrixx_core.testing import Rig, call


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(hook, directory=str(tmp_path))


def use(rig: Rig, name: str, **args: Any) -> Any:
    async def run() -> ToolOutput:
        return await rig.host.call_tool(call(name, **args))

    return json.loads(anyio.run(run).output)


def new(rig: Rig, subject: str, **fields: Any) -> str:
    [task] = use(rig, "task_create", subject=subject, **fields)["tasks"]
    return str(task["id"])


def test_a_task_lives_from_creation_to_cleanup(rig: Rig, tmp_path: Path) -> None:
    first = new(rig, "write docs")
    second = new(rig, "publish", blockedBy=[first])
    rows = {row.pop("id"): row for row in use(rig, "task_list")["tasks"]}
    assert rows == {
        first: {"subject": "write docs", "status": "pending"},
        second: {"subject": "publish", "status": "pending", "blockedBy": [first]},
    }
    assert use(rig, "task_update", id=first, status="completed")["task"]["status"] == "completed"
    assert use(rig, "task_list")["tasks"] == [{"id": second, "subject": "publish", "status": "pending"}]
    assert {task["id"] for task in use(rig, "task_list", all=True)["tasks"]} == {first, second}
    assert use(rig, "task_get", id=first)["task"]["subject"] == "write docs"
    assert use(rig, "task_cleanup")["removed"] == [first]
    assert [path.stem for path in (tmp_path / ".matrixx" / "tasks").glob("T-*.json")] == [second]


def test_the_same_subject_is_told_to_be_known(rig: Rig) -> None:
    first = new(rig, "write docs")
    assert use(rig, "task_create", subject="write docs")["tasks"] == [{"id": first, "subject": "write docs", "deduplicated": True}]


@pytest.mark.parametrize(
    ("name", "args", "told"),
    [
        ("task_get", {"id": "T-1"}, "there is no task 'T-1'"),
        ("task_get", {"id": "../../etc/passwd"}, "is no task id"),
        ("task_update", {"id": "T-1", "status": "completed"}, "there is no task 'T-1'"),
        ("task_update", {"id": "T-1", "status": "finished"}, "status: Input should be"),
        ("task_create", {"subject": ""}, "subject: String should have at least 1 character"),
        ("task_create", {"subject": 7}, "subject: Input should be a valid string"),
        ("task_cleanup", {"olderThan": "soon"}, "olderThan: String should match pattern"),
    ],
)
def test_what_goes_wrong_is_told(rig: Rig, name: str, args: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolError) as caught:
        use(rig, name, **args)
    assert told in str(caught.value)
