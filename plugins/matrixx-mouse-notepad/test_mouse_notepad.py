from pathlib import Path
from typing import Any

import anyio
import matrixx_mouse_notepad as hook
import pytest

from matrixx_builtin.services.agents import assign
from matrixx_builtin.services.mission import MissionFile
from matrixx_core import ToolCall
from matrixx_core.testing import RecordingClient, Rig, call, session


def rewritten(args: dict[str, Any], directory: Path | str = "", agent: str = "architect", tool: str = "task") -> ToolCall | None:
    memory = session()
    assign(memory, agent)
    return anyio.run(hook.tool_execute_before, call(tool, directory=str(directory), **args), memory, RecordingClient())


def prompt(args: dict[str, Any], directory: Path | str = "", tool: str = "task") -> str:
    answer = rewritten(args, directory, tool=tool)
    assert answer is not None
    return str(answer.args["prompt"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    plan = tmp_path / ".matrixx/plans/sew-the-flag.md"
    plan.parent.mkdir(parents=True)
    plan.write_text("- [ ] sew\n")
    MissionFile(tmp_path).start(plan, "ses_other", "architect")
    return tmp_path


@pytest.mark.parametrize("tool", ["task", "delegate_agent"])
def test_a_worker_reads_which_notepad_and_plan_are_meant(project: Path, tool: str) -> None:
    text = prompt({"prompt": "Sew it.", "subagent_type": "mouse"}, project, tool)
    assert text.endswith("</work-context>\n\nSew it.")
    assert ".matrixx/notepads/sew-the-flag/" in text and "'sew-the-flag'" in text and "plan_read" in text
    assert "{" not in text


@pytest.mark.parametrize(
    "broken", ["", "[]", "{broken", '{"active_plan": 7}', '{"active_plan": "/etc/passwd"}', '{"active_plan": "\\u0000"}']
)
def test_without_a_plan_it_is_the_common_notepad(tmp_path: Path, broken: str) -> None:
    if broken:
        (tmp_path / ".matrixx").mkdir()
        (tmp_path / ".matrixx/mission.json").write_text(broken)
    text = prompt({"prompt": "Sew it."}, tmp_path)
    assert ".matrixx/notepads/adhoc/" in text and "plan_read" not in text


def test_a_plan_that_is_gone_is_not_named(project: Path) -> None:
    (project / ".matrixx/plans/sew-the-flag.md").unlink()
    assert ".matrixx/notepads/adhoc/" in prompt({"prompt": "Sew it."}, project)


@pytest.mark.parametrize("agent", ["build", "oracle", "mouse", ""])
def test_other_agents_hand_out_work_as_they_like(project: Path, agent: str) -> None:
    assert rewritten({"prompt": "Sew it."}, project, agent) is None


@pytest.mark.parametrize("args", [{"prompt": "Go on.", "task_id": "ses_a"}, {"prompt": "Go on.", "session_id": "ses_a"}])
def test_a_session_that_goes_on_has_read_it(project: Path, args: dict[str, Any]) -> None:
    assert rewritten(args, project) is None


def test_it_is_said_once(project: Path) -> None:
    assert rewritten({"prompt": prompt({"prompt": "Sew it."}, project)}, project) is None


@pytest.mark.parametrize("args", [{}, {"prompt": None}, {"prompt": ""}, {"prompt": 7}, {"prompt": ["x"]}])
def test_a_task_without_words_is_left_alone(project: Path, args: dict[str, Any]) -> None:
    assert rewritten(args, project) is None


def test_odd_words_and_places_lose_nothing() -> None:
    assert prompt({"prompt": "\ud800\0" * 10}, "/nowhere\0").endswith("\ud800\0" * 10)


def test_a_whole_host_hands_it_on(project: Path) -> None:
    rig = Rig(hook, directory=str(project))
    assign(rig.host.sessions[call("task").session_id], "architect")
    assert rig.before("task", prompt="Sew it.").event.args["prompt"].startswith("<work-context>")
    assert not rig.before("bash", command="true").ran
