from typing import Any

import pytest

from matrixx_builtin.services.delegation import Worker, failed, prompt_of, resumed, under_way, worker_of
from matrixx_core import ToolResult
from matrixx_core.testing import call, result

OPENCODE = '<task id="ses_new-1" state="completed">\n<task_result>\nAs in\nSession ID: ses_quoted\nI found it.\n</task_result>\n</task>'


def done(output: str, **metadata: Any) -> ToolResult:
    return result("task", output).model_copy(update={"metadata": metadata})


@pytest.mark.parametrize(
    ("output", "metadata", "worker"),
    [
        (OPENCODE, {}, Worker("ses_new-1", "task_id")),
        (OPENCODE, {"sessionId": "ses_meta"}, Worker("ses_meta", "task_id")),
        ("Done.\n\n<task_metadata>\nsession_id: ses_abc-d_e\n</task_metadata>", {}, Worker("ses_abc-d_e", "session_id")),
        ("Session ID: ses_old\nsaid it\n<task_metadata>\nsession_id: ses_new\n</task_metadata>", {}, Worker("ses_new", "session_id")),
        ("<task_metadata>\nsession_id: ses_1\n</task_metadata>x<task_metadata>session_id: ses_2</task_metadata>", {}, Worker("ses_2", "session_id")),
        ("Session ID: ses_one", {}, Worker("ses_one", "session_id")),
        ("sessionId: ses_one\nmore\nsession_id: ses_two", {"sessionId": 7}, Worker("ses_two", "session_id")),
        ("It said Session ID: ses_one in passing", {}, None),
        ("Done.", {"sessionId": "a1b2c3"}, None),
        ("Done.", {"sessionId": "ses_../../x"}, None),
        ("Done.\nsession_id: ses_a", {"sessionId": "ses_b"}, Worker("ses_b", "session_id")),
        ("", {}, None),
        ("session_id: \ud800\0", {}, None),
    ],
)  # fmt: skip
def test_the_session_that_did_the_work(output: str, metadata: dict[str, Any], worker: Worker | None) -> None:
    assert worker_of(done(output, **metadata)) == worker


@pytest.mark.parametrize(
    ("args", "session_id"),
    [
        ({"task_id": "ses_a"}, "ses_a"),
        ({"session_id": "ses_b"}, "ses_b"),
        ({"task_id": "", "session_id": "ses_b"}, "ses_b"),
        ({"task_id": "ses_a/../b"}, ""),
        ({"task_id": ["ses_a"]}, ""),
        ({"session_id": None}, ""),
        ({}, ""),
    ],
)
def test_the_session_that_goes_on(args: dict[str, Any], session_id: str) -> None:
    assert resumed(call("task", **args)) == session_id


@pytest.mark.parametrize(
    ("output", "is_failed", "is_under_way"),
    [
        (OPENCODE, False, False),
        ('<task id="ses_a" state="error">\n<task_error>\nno\n</task_error>\n</task>', True, False),
        ('<task id="ses_a" state="running">\n<task_result>\nlater\n</task_result>\n</task>', False, True),
        ("Error: no such agent", True, False),
        ("Failed to start", True, False),
        ("Errors were found and mended", False, False),
        ("Background task launched\n\nTask ID: bg_1", False, True),
        ("Background task continued", False, True),
        ("I launched it: Background task launched", False, False),
        ("", False, False),
    ],
)
def test_how_it_ended(output: str, is_failed: bool, is_under_way: bool) -> None:
    assert failed(done(output)) is is_failed
    assert under_way(done(output)) is is_under_way


@pytest.mark.parametrize(("given", "prompt"), [("do", "do"), ("", ""), (" \n", ""), (None, ""), (7, ""), (["do"], "")])
def test_what_the_sub_agent_is_told(given: Any, prompt: str) -> None:
    assert prompt_of(call("task", prompt=given)) == prompt


def test_hostile_outputs_are_read_in_no_time() -> None:
    assert worker_of(done("<task_metadata>" * 20_000)) is None
    assert worker_of(done("session_id: " * 50_000)) is None
