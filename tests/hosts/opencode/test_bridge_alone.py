"""The plugin file by itself, in node or bun, before an engine that says what the test wants."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

BRIDGE = Path(__file__).parents[3] / "matrixx_builtin/hosts/opencode/bridge.js"
RUNTIME = shutil.which("node") or shutil.which("bun")
ALL = {"names": [], "others": True}

pytestmark = pytest.mark.skipif(RUNTIME is None, reason="neither node nor bun is installed, so the bridge was not tested by itself")

Drive: TypeAlias = Callable[..., dict[str, Any]]


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    """Play steps; the result tells what came of each, and what the engine received."""

    def play(
        *steps: Mapping[str, Any], hurry: bool = False, command: Sequence[str] = (), fail_closed: bool = False, **plan: Any
    ) -> dict[str, Any]:
        (tmp_path / "plan.json").write_text(json.dumps({"ready": {"interest": {}}, "answers": {}, **plan}))
        said = {
            "command": list(command) or [sys.executable, str(Path(__file__).with_name("fake_engine.py")), str(tmp_path)],
            "failClosed": fail_closed,
        }
        bridge = tmp_path / "matrixx.mjs"
        text = BRIDGE.read_text("utf-8")
        bridge.write_text(
            re.sub(r"^const INSTALLED = .*$", lambda _: f"const INSTALLED = {json.dumps(said)}", text, count=1, flags=re.MULTILINE)
        )
        asked = json.dumps({"steps": steps, "directory": str(tmp_path), "hurry": hurry})
        argv = [str(RUNTIME), str(Path(__file__).with_name("drive.mjs")), str(bridge)]
        finished = subprocess.run(argv, input=asked, capture_output=True, text=True, timeout=60, check=False)
        assert finished.returncode == 0, finished.stderr
        received = tmp_path / "received"
        lines = [json.loads(line) for line in received.read_text().splitlines()] if received.exists() else []
        return {**json.loads(finished.stdout), "received": lines, "hooks": [line["hook"] for line in lines if "hook" in line]}

    return play


def before(tool: str, **args: Any) -> dict[str, Any]:
    return {"hook": "tool.execute.before", "input": {"tool": tool, "sessionID": "ses_1", "callID": "call_1"}, "output": {"args": args}}


def after(tool: str, output: str = "text", call: str = "call_1") -> dict[str, Any]:
    return {
        "hook": "tool.execute.after",
        "input": {"tool": tool, "sessionID": "ses_1", "callID": call},
        "output": {"output": output, "metadata": {}},
    }


@pytest.mark.parametrize(
    ("row", "tool", "asked"),
    [
        (None, "bash", False),
        ({"names": ["bash"], "others": False}, "bash", True),
        ({"names": ["bash"], "others": False}, "read", False),
        ({"names": ["bash"], "others": True}, "bash", False),
        ({"names": ["bash"], "others": True}, "read", True),
        (ALL, "anything", True),
    ],
)
def test_only_calls_that_a_hook_wants_go_to_the_engine(drive: Drive, row: Any, tool: str, asked: bool) -> None:
    played = drive(before(tool), ready={"interest": {"tool.execute.before": row} if row else {}})
    assert played["hooks"] == (["tool.execute.before"] if asked else [])


def test_edits_go_into_the_very_objects_that_opencode_holds(drive: Drive) -> None:
    edits = [
        [["args", "command"], "true"],
        [["args", "env"], {"A": "1"}],
        [["args", "list"], [1, 2]],
        [["args", "gone"], None],
        [["args", "new"], "x"],
    ]
    step = before("bash", command="false", env={"B": "2"}, list=[3], gone=1, untouched={"deep": [1]})
    played = drive(step, ready={"interest": {"tool.execute.before": ALL}}, answers={"tool.execute.before": {"edits": edits}})
    (result,) = played["results"]
    assert result["output"]["args"] == {"command": "true", "env": {"A": "1"}, "list": [1, 2], "new": "x", "untouched": {"deep": [1]}}
    assert all(result["kept"])


def test_a_tools_schema_is_changed_in_a_copy_because_opencode_has_one_for_all_projects(drive: Drive) -> None:
    definition = {"hook": "tool.definition", "input": {"toolID": "task"}, "output": {"description": "d", "jsonSchema": {"properties": {}}}}
    edits = [[["jsonSchema", "properties"], {"n": {"type": "integer"}}]]
    played = drive(definition, ready={"interest": {"tool.definition": ALL}}, answers={"tool.definition": {"edits": edits}})
    (result,) = played["results"]
    assert result["output"]["jsonSchema"] == {"properties": {"n": {"type": "integer"}}}
    assert result["kept"] == [True, False, False]


def test_an_edit_whose_place_is_not_there_changes_nothing(drive: Drive) -> None:
    edits = [[["args", "missing", "deep"], 1], [["args", "command"], "true"]]
    played = drive(
        before("bash", command="x"), ready={"interest": {"tool.execute.before": ALL}}, answers={"tool.execute.before": {"edits": edits}}
    )
    assert played["results"][0]["output"] == {"args": {"command": "true"}}


def test_a_refusal_is_thrown_with_its_text_alone(drive: Drive) -> None:
    played = drive(
        before("bash"), ready={"interest": {"tool.execute.before": ALL}}, answers={"tool.execute.before": {"block": "Blocked: why"}}
    )
    assert played["results"][0]["thrown"] == "Blocked: why"


def test_the_end_of_a_call_is_told_when_something_waits_for_it(drive: Drive) -> None:
    ready = {"interest": {"tool.execute.before": ALL}}
    steps = [before("bash"), after("bash", call="another"), after("bash"), after("bash")]
    assert drive(*steps, ready=ready, answers={"tool.execute.before": {"follow": True}})["hooks"] == [
        "tool.execute.before",
        "tool.execute.after",
    ]


@pytest.mark.parametrize(("size", "sent"), [(1_000_000, True), (33 * 1024 * 1024, False)])
def test_the_files_of_a_result_go_along_and_are_replaced_unless_they_are_too_large(drive: Drive, size: int, sent: bool) -> None:
    step = after("read")
    step["output"]["attachments"] = [{"mime": "image/png", "url": "data:" + "x" * (size // 2)}] * 2
    edits = [[["attachments"], [{"mime": "image/png", "url": "data:y"}]]]
    played = drive(step, ready={"interest": {"tool.execute.after": ALL}}, answers={"tool.execute.after": {"edits": edits}})
    (received,) = [line for line in played["received"] if line.get("hook")]
    assert ("attachments" in received["output"]) is sent
    (result,) = played["results"]
    assert result["output"]["attachments"] == [{"mime": "image/png", "url": "data:y"}]


def test_what_the_engine_says_besides_its_protocol_is_passed_over(drive: Drive) -> None:
    noise = 'not json\n{"id": 99, "block": "nobody asked"}\n[]\n{}\n\n'
    played = drive(
        before("bash"), first=noise, ready={"interest": {"tool.execute.before": ALL}}, answers={"tool.execute.before": {"block": "no"}}
    )
    assert played["results"][0]["thrown"] == "no"


def test_a_hook_that_the_engine_could_not_answer_leaves_the_call_alone(drive: Drive) -> None:
    played = drive(
        before("bash", command="x"),
        ready={"interest": {"tool.execute.before": ALL}},
        answers={"tool.execute.before": {"error": "KeyError"}},
    )
    assert played["results"][0]["output"] == {"args": {"command": "x"}}


def test_an_engine_that_keeps_dying_is_started_less_and_less_often(drive: Drive) -> None:
    played = drive({"started": 10}, dies=True, hurry=True)
    waits = [ms for ms in played["delays"] if ms not in {15_000, 5_000}]
    assert waits[:9] == [0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]


@pytest.mark.parametrize("fail_closed", [False, True])
def test_without_an_engine_calls_go_through_or_are_refused_as_the_user_wishes(drive: Drive, fail_closed: bool) -> None:
    played = drive(before("bash"), before("bash"), after("bash"), command=["/nonexistent/matrixx"], fail_closed=fail_closed)
    refused = ["cannot be reached" in result.get("thrown", "") for result in played["results"]]
    assert refused == [fail_closed, fail_closed, False]
    assert len(played["toasts"]) == 1


def test_events_pass_only_when_wanted_and_failed_calls_always_when_a_hook_reads_them(drive: Drive) -> None:
    failed = {"type": "message.part.updated", "properties": {"part": {"type": "tool", "state": {"status": "error"}}}}
    running = {"type": "message.part.updated", "properties": {"part": {"type": "tool", "state": {"status": "running"}}}}
    events = [failed, running, {"type": "session.idle", "properties": {}}, {"type": "session.created", "properties": {}}]
    interest = {"event": {"names": ["session.idle"], "others": False}, "failures": True}
    played = drive(
        before("x"), *({"event": event} for event in events), before("x"), ready={"interest": {**interest, "tool.execute.before": ALL}}
    )
    assert [line["event"]["type"] for line in played["received"] if "event" in line] == ["message.part.updated", "session.idle"]


@pytest.mark.parametrize("event", [{}, {"type": "message.part.updated"}, {"type": "message.part.updated", "properties": {"part": None}}])
def test_an_odd_event_never_throws_because_opencode_would_hang(drive: Drive, event: Any) -> None:
    assert drive({"event": {**event, "x": 1}}, before("x"), ready={"interest": {"event": ALL, "failures": True}})["results"] == [{}, {
        "output": {"args": {}}, "kept": [True, True],
    }]  # fmt: skip


def test_the_engine_calls_opencode_through_the_plugins_own_client(drive: Drive) -> None:
    call = json.dumps({"op": "rpc", "id": 7, "method": "POST", "path": "/tui/show-toast", "body": {"a": 1}}) + "\n"
    step = before("x")
    played = drive(step, step, step, first=call, ready={"interest": {"tool.execute.before": ALL}})
    (answer,) = [line for line in played["received"] if line.get("op") == "rpc-result"]
    assert answer == {
        "op": "rpc-result",
        "id": 7,
        "status": 200,
        "body": {"method": "POST", "path": "/tui/show-toast", "from": "config", "body": '{"a":1}'},
    }


def test_tools_of_plugins_are_offered_with_their_own_schema_and_run_in_the_engine(drive: Drive) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": []}
    definition = {
        "hook": "tool.definition",
        "input": {"toolID": "count"},
        "output": {"description": "d", "jsonSchema": {"required": ["n"]}},
    }
    ready = {"interest": {}, "tools": {"count": {"description": "d", "parameters": schema}}}
    played = drive(definition, {"tool": "count", "args": {"n": 1}}, ready=ready, answers={"count": {"result": "one"}})
    assert played["tools"] == {"count": {"description": "d", "args": schema["properties"]}}
    assert played["results"][0]["output"]["jsonSchema"] == schema
    assert played["results"][1]["result"] == "one"


@pytest.mark.parametrize(("refuse", "came"), [(False, {"result": "one"}), (True, {"thrown": "the person said no"})])
def test_the_person_is_asked_before_a_tool_runs(drive: Drive, refuse: bool, came: dict[str, str]) -> None:
    ready = {"interest": {}, "tools": {"count": {"description": "d", "parameters": {}}}}
    question = {"permission": "edit", "patterns": ["a.py"]}
    answers = {"count": {"ask": [question]}, "count asked": {"result": "one"}}
    played = drive({"tool": "count", "args": {}, "refuse": refuse}, ready=ready, answers=answers)
    assert played["results"] == [{"asked": [question], **came}]
    assert [line.get("asked") for line in played["received"] if "tool" in line] == ([None] if refuse else [None, True])


def test_the_end_waits_for_the_engine_and_starts_no_new_one(drive: Drive, tmp_path: Path) -> None:
    drive(before("x"), {"dispose": True}, before("x"), ready={"interest": {"tool.execute.before": ALL}})
    assert (tmp_path / "started").read_text() == "x"
