import matrixx_background_task_blocker as hook
import pytest

from matrixx_core.testing import Rig, call


@pytest.mark.parametrize(
    "tool",
    [
        "background_task", "Background_Task", "BACKGROUND_TASK", "background-task", "backgroundTask", "BackgroundTask", "backgroundtask",
        " background_task ", "mcp__matrixx__background_task", "matrixx.background_task", "server/background_task",
    ],
)  # fmt: skip
def test_the_retired_tool_is_stopped_under_any_spelling(tool: str) -> None:
    block = hook.tool_execute_before(call(tool, description="x", prompt="y"))
    assert block is not None
    assert "background_task is disabled" in block.reason
    assert all(word in block.instead for word in ("task tool", "category", "subagent_type", "run_in_background=true"))


@pytest.mark.parametrize(
    "tool",
    [
        "background_output", "background_cancel", "bash", "task", "background", "background_tasks", "my_background_task_list", "", "\ud800", "\0",
        "_" * 100_000, "mcp__background_task__list",
    ],
)  # fmt: skip
def test_other_tools_pass(tool: str) -> None:
    assert hook.tool_execute_before(call(tool, command="background_task")) is None


def test_calls_of_the_hosts_own_tools_are_not_looked_at() -> None:
    rig = Rig(hook)
    assert rig.before("background_task").blocked_by == "background-task-blocker"
    assert not rig.before("bash").ran
