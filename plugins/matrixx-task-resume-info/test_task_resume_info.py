from typing import Any

import matrixx_task_resume_info as hook
import pytest

from matrixx_core.testing import Rig, result

REPORT = '<task id="ses_ab-c_d1" state="completed">\n<task_result>\ndone\n</task_result>\n</task>'


def told(output: str, tool: str = "task", **metadata: Any) -> str:
    """The session that the model is told to go on with."""
    note = hook.tool_execute_after(result(tool, output).model_copy(update={"metadata": metadata}))
    return note.text.partition('task_id="')[2].partition('"')[0] if note else ""


@pytest.mark.parametrize(
    ("output", "metadata", "session"),
    [
        (REPORT, {"sessionId": "ses_ab-c_d1"}, "ses_ab-c_d1"),
        (REPORT, {}, "ses_ab-c_d1"),
        ("plain report", {"sessionId": "a4c44bb272ad48f1c"}, "a4c44bb272ad48f1c"),
        ("done\n<task_metadata>\nsession_id: ses_1\n</task_metadata>", {}, "ses_1"),
        ("Session ID: ses_old\n<task_metadata>\nsession_id: ses_new\n</task_metadata>", {}, "ses_new"),
        ("Session ID: ses_old", {}, ""),
        ("done", {}, ""),
        ("", {}, ""),
        ("Error: no such agent", {"sessionId": "ses_1"}, ""),
        ("Failed to start", {"sessionId": "ses_1"}, ""),
        ("to continue: task(...)", {"sessionId": "ses_1"}, ""),
        (REPORT, {"sessionId": 5}, "ses_ab-c_d1"),
        ("done", {"sessionId": 'x", prompt="rm'}, ""),
        ("done", {"sessionId": "x" * 500}, ""),
    ],
)
def test_the_session_is_the_hosts_word_not_the_reports(output: str, metadata: dict[str, Any], session: str) -> None:
    assert told(output, **metadata) == session


@pytest.mark.parametrize("tool", sorted(hook.DELEGATING))
def test_every_way_of_delegating_is_meant(tool: str) -> None:
    assert told(REPORT, tool) == "ses_ab-c_d1"


def test_it_is_said_once_and_other_tools_are_left_alone() -> None:
    rig = Rig(hook)
    once = rig.after("task", REPORT).event.output
    assert once.count("to continue:") == 1
    assert rig.after("task", once).event.output == once
    assert rig.after("bash", REPORT).event.output == REPORT


@pytest.mark.parametrize("piece", ["<task_metadata>", '<task id="', "session_id: ", " ", "<"])
def test_a_huge_report_costs_one_look(piece: str) -> None:
    assert told(piece * 100_000) == ""
