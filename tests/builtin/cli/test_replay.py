import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builtin.cli.samples import GUARD, Install, Run, Write, lines, recording, write_call

KEYS = {"hook", "verdict", "reason", "blocked_by", "output", "notes", "ran", "requests"}

BUSY = """
from matrixx_core import HostClient, Inject, SessionEvent, Session, ToolCall, ToolResult, observe, rewrite

@rewrite(tools={"write"})
def tool_execute_before(call: ToolCall) -> ToolCall:
    return call.with_args(content=call.args["content"].upper())

@rewrite
def tool_execute_after(result: ToolResult) -> Inject:
    return Inject("after all")

@observe(types={"todo.updated"})
async def session_event(event: SessionEvent, session: Session, client: HostClient) -> None:
    found = await client.messages(event.session_id)
    await client.toast(f"{len(found)} messages")
    await client.prompt(event.session_id, "go on", reply=False)
"""


def replayed(matrixx: Run, *calls: Any, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    result = matrixx("replay", "-", "--json", *options, stdin=recording(*calls))
    assert result.exit_code == 0, result.stderr
    records: list[dict[str, Any]] = lines(result.stdout)
    return records


def of(name: str, record: dict[str, Any]) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = record["ran"]
    return [one for one in calls if one["plugin"] == name]


def test_each_line_gives_one_record_with_exactly_the_keys_of_the_contract(matrixx: Run, install: Install) -> None:
    guard = install("guard", GUARD)
    blocked, allowed = replayed(matrixx, write_call("forbidden"), write_call("fine"))
    assert blocked.keys() == allowed.keys() == KEYS
    assert (blocked["verdict"], blocked["blocked_by"], blocked["hook"]) == ("block", guard, "tool.execute.before")
    assert "it says forbidden" in blocked["reason"] and "write something else" in blocked["reason"] and guard in blocked["reason"]
    assert (allowed["verdict"], allowed["reason"], allowed["blocked_by"]) == ("allow", None, None)
    assert [one["answer"] for one in of(guard, blocked)] == ["block"]
    assert [one["answer"] for one in of(guard, allowed)] == ["none"]
    assert {key: type(value) for key, value in of(guard, allowed)[0].items()} == {"plugin": str, "wave": str, "ms": float, "answer": str}


def test_a_blocked_call_keeps_its_output_and_a_changed_one_has_the_change(matrixx: Run, install: Install) -> None:
    install("guard", GUARD)
    busy = install("busy", BUSY)
    blocked, changed = replayed(matrixx, write_call("forbidden"), write_call("quiet"))
    assert blocked["output"]["args"]["content"] == "forbidden"
    assert changed["output"]["args"] == {"filePath": "new.txt", "content": "QUIET"}
    assert [(one["wave"], one["answer"]) for one in of(busy, changed)] == [("rewrite", "change")]


def test_a_note_is_told_and_stands_in_the_output_where_the_host_delivers_it_at_once(matrixx: Run, install: Install) -> None:
    guard, busy = install("guard", GUARD), install("busy", BUSY)
    after = {"hook": "tool.execute.after", "input": write_call("")["input"], "output": {"title": "", "output": "done", "metadata": {}}}
    before, done = replayed(matrixx, write_call("rude"), after)
    assert {"plugin": guard, "text": "be kind"} in before["notes"] and "be kind" not in json.dumps(before["output"])
    assert {"plugin": busy, "text": "after all"} in done["notes"]
    assert done["output"]["output"].startswith("done") and "after all" in done["output"]["output"]
    assert "be kind" in done["output"]["output"], "text beside a call reaches the model behind its result"


def test_events_run_and_client_lines_set_what_the_next_request_gets(matrixx: Run, install: Install) -> None:
    install("busy", BUSY)
    messages = {"hook": "client", "path": "/session/ses_1/message", "response": [{"info": {"role": "user"}, "parts": []}] * 2}
    updated = {"hook": "event", "input": {"event": {"type": "todo.updated", "properties": {"sessionID": "ses_1"}}}}
    first, second = replayed(matrixx, messages, updated, updated)
    toasts = [[one["body"]["message"] for one in record["requests"] if one["path"] == "/tui/show-toast"] for record in (first, second)]
    assert toasts == [["2 messages"], ["0 messages"]], "an answer is given once"
    assert [(one["method"], one["path"]) for one in first["requests"]] == [
        ("GET", "/session/ses_1/message"),
        ("POST", "/tui/show-toast"),
        ("POST", "/session/ses_1/message"),
    ]


def test_a_client_line_with_an_error_status_is_what_the_hook_gets(matrixx: Run, install: Install) -> None:
    busy = install("busy", BUSY)
    refused = {"hook": "client", "method": "GET", "path": "/session/ses_1/message", "status": 500}
    updated = {"hook": "event", "input": {"event": {"type": "todo.updated", "properties": {"sessionID": "ses_1"}}}}
    (record,) = replayed(matrixx, refused, updated)
    assert [one["answer"] for one in of(busy, record)] == ["error"]


@pytest.mark.parametrize(
    "line",
    [
        {"hook": "no.such.hook", "input": {"a": 1}, "output": {"b": [1]}},
        {"hook": "tool.execute.before"},
        {"hook": "tool.execute.before", "input": 5, "output": "x"},
        {"hook": "tool.execute.after", "input": {}, "output": None},
        {"hook": "chat.message", "input": {"sessionID": 3}, "output": {"message": [], "parts": {}}},
        {"hook": "event", "input": {"event": "?"}},
        {"hook": "event"},
        {"hook": "experimental.chat.messages.transform", "input": {}, "output": {"messages": [None, {"info": 1, "parts": "x"}]}},
        {"hook": "tool.execute.before", "input": {"tool": "bash"}, "output": {"args": {"command": "\ud800\x00"}}},
        {"hook": "shell.env", "extra": {"deep": [[[[]]]]}, "output": {"env": {"A": 1}}},
    ],
)
def test_an_odd_line_is_answered_and_the_next_one_too(matrixx: Run, line: dict[str, Any]) -> None:
    odd, plain = replayed(matrixx, line, write_call("x"))
    assert odd["hook"] == line["hook"] and odd["verdict"] == "allow" and plain["verdict"] == "allow"
    if line["hook"] == "no.such.hook":
        assert odd["output"] == line["output"] and odd["ran"] == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}\n", "line 1: not a recorded call"),
        ('{"hook": "x"}\n{"hook"\n', "line 2: not JSON"),
        ('{"hook": "x"}\n\n[1]\n', "line 3: not a recorded call"),
        ('{"hook": 5}\n', "line 1: not a recorded call"),
        ('{"hook": "x"} \x00\n', "line 1: not JSON"),
    ],
)
def test_a_line_that_is_no_call_is_named_before_anything_runs(matrixx: Run, tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(text)
    result = matrixx("replay", str(file), "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1 and f"{file}, {says}" in result.stderr


def test_an_empty_file_a_byte_order_mark_and_a_missing_last_newline_are_fine(matrixx: Run, tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_bytes(b"")
    assert matrixx("replay", str(file), "--json").stdout == ""
    file.write_bytes(b"\xef\xbb\xbf" + recording(write_call("x")).strip().encode())
    assert len(lines(matrixx("replay", str(file), "--json").stdout)) == 1


def test_a_file_that_is_not_there_is_one_line_and_exit_code_2(matrixx: Run) -> None:
    result = matrixx("replay", "nowhere.jsonl", "--json")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1 and "nowhere.jsonl" in result.stderr


def test_a_hook_can_be_left_out_and_a_settings_file_can_be_given(matrixx: Run, install: Install, tmp_path: Path) -> None:
    guard = install("guard", GUARD)
    (left_out,) = replayed(matrixx, write_call("forbidden"), options=("--disable", guard))
    assert left_out["verdict"] == "allow" and not of(guard, left_out)
    config = tmp_path / "other.jsonc"
    config.write_text(f'{{"disabled_hooks": ["{guard}"]}}')
    (configured,) = replayed(matrixx, write_call("forbidden"), options=("--config", str(config)))
    assert configured["verdict"] == "allow"


def test_a_replay_leaves_nothing_behind_but_honours_the_persons_trust(matrixx: Run, install: Install, settings: Write, home: Path) -> None:
    guard = install("guard", GUARD)
    settings("project", f'{{"disabled_hooks": ["{guard}"]}}')
    updated = {"hook": "event", "input": {"event": {"type": "todo.updated", "properties": {"sessionID": "ses_1"}}}}
    assert replayed(matrixx, write_call("forbidden"), updated)[0]["verdict"] == "block"
    assert not (home / "state").exists()
    assert matrixx("trust", "--yes").exit_code == 0
    before = sorted((home / "state").iterdir())
    assert replayed(matrixx, write_call("forbidden"), updated)[0]["verdict"] == "allow"
    assert sorted((home / "state").iterdir()) == before


def test_strict_settings_end_the_replay_at_the_line_of_the_failure(matrixx: Run, install: Install, settings: Write) -> None:
    install(
        "raising",
        "from matrixx_core import ToolCall, guard\n@guard\ndef tool_execute_before(call: ToolCall) -> None:\n    raise ValueError('x')\n",
    )
    settings("user", '{"strict": true}')
    result = matrixx("replay", "-", "--json", stdin=recording({"hook": "none"}, write_call("x")))
    assert result.exit_code == 2 and "line 2: plugin 'raising' failed" in result.stderr
    assert len(lines(result.stdout)) == 1, "what was answered before is there"


def test_a_failing_guard_blocks_and_says_so(matrixx: Run, install: Install) -> None:
    raising = install(
        "raising",
        "from matrixx_core import ToolCall, guard\n@guard\ndef tool_execute_before(call: ToolCall) -> None:\n    raise ValueError('x')\n",
    )
    (record,) = replayed(matrixx, write_call("x"))
    assert (record["verdict"], record["blocked_by"]) == ("block", raising)
    assert [one["answer"] for one in of(raising, record)] == ["error"]


def test_a_person_gets_a_table(matrixx: Run, install: Install) -> None:
    install("guard", GUARD)
    result = matrixx("replay", "-", stdin=recording(write_call("forbidden"), {"hook": "client", "path": "/x"}, write_call("fine")))
    assert result.exit_code == 0 and "tool.execute.before write" in result.stdout
    assert "block" in result.stdout and "guard: block" in result.stdout and "it says forbidden" in result.stdout


def test_what_plugins_and_their_programs_print_stays_out_of_standard_output(install: Install, project: Path) -> None:
    install(
        "loud",
        "import os\nfrom matrixx_core import ToolCall, observe\nprint('imported')\n\n@observe\ndef tool_execute_before(call: ToolCall) -> None:\n    print('called')\n    os.system('echo spawned')\n",
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-m", "matrixx_builtin", "replay", "-", "--json"]
    done = subprocess.run(argv, input=recording(write_call("x")), env=environment, cwd=project, capture_output=True, text=True, check=True)
    assert len(lines(done.stdout)) == 1
    assert {"imported", "called", "spawned"} <= set(done.stderr.split())


def test_recorded_sessions_of_any_length_are_read_line_by_line(matrixx: Run) -> None:
    assert len(replayed(matrixx, *[{"hook": "none", "output": {"n": number}} for number in range(2_000)])) == 2_000
