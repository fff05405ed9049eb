import json
from pathlib import Path

import pytest
from builtin.cli.samples import GUARD, Install, Run

AGENT = """
from matrixx_core import Block, Session, ToolCall, guard

@guard
def tool_execute_before(call: ToolCall, session: Session) -> Block | None:
    return Block("not for plan") if session.agent == "plan" else None
"""


def test_the_answer_has_exactly_the_keys_of_the_contract(matrixx: Run, install: Install, project: Path) -> None:
    guard = install("guard", GUARD)
    result = matrixx("explain", "write", '{"filePath": "a.txt", "content": "forbidden"}', "--json")
    record = json.loads(result.stdout)
    assert list(record) == ["verdict", "reason", "blocked_by", "args", "effects", "notes", "ran"]
    assert (record["verdict"], record["blocked_by"]) == ("block", guard) and "it says forbidden" in record["reason"]
    assert record["args"] == {"filePath": "a.txt", "content": "forbidden"}
    assert {"reads", "writes", "deletes", "moves", "runs", "fetches", "unknown"} <= record["effects"].keys()
    assert [touch["path"] for touch in record["effects"]["writes"]] == [str(project / "a.txt")]


def test_nothing_is_executed_and_nothing_kept(matrixx: Run, project: Path, home: Path) -> None:
    assert matrixx("explain", "write", '{"filePath": "a.txt", "content": "x"}', "--json").exit_code == 0
    assert list(project.iterdir()) == [] and not (home / "state").exists()


def test_the_agent_of_the_session_can_be_told(matrixx: Run, install: Install) -> None:
    install("agents", AGENT)
    call = ("explain", "some_tool", "{}", "--json")
    assert json.loads(matrixx(*call).stdout)["verdict"] == "allow"
    assert json.loads(matrixx(*call, "--session-agent", "plan").stdout)["verdict"] == "block"


@pytest.mark.parametrize("args", ["{word: 'ls',}", '{"word": "ls"}', '// as in a file\n{word: "ls"}'])
def test_people_may_type_json5(matrixx: Run, args: str) -> None:
    assert json.loads(matrixx("explain", "some_tool", args, "--json").stdout)["args"] == {"word": "ls"}


def test_arguments_may_come_from_standard_input(matrixx: Run) -> None:
    assert json.loads(matrixx("explain", "bash", "-", "--json", stdin='{"command": "ls"}').stdout)["verdict"] == "allow"


@pytest.mark.parametrize("args", ["", "ls", "[]", "null", "{", "{" * 100_000, "\x00"])
def test_arguments_that_are_no_object_are_told_in_one_line(matrixx: Run, args: str) -> None:
    result = matrixx("explain", "bash", args, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1 and "ARGS" in result.stderr and "filePath" in result.stderr and len(result.stderr) < 500


@pytest.mark.parametrize("args", ['{"command": "\\ud800\\u0000"}', '{"command": 5}', '{"filePath": ["x"], "command": null}'])
def test_odd_arguments_are_judged_like_any_other(matrixx: Run, args: str) -> None:
    result = matrixx("explain", "bash", args, "--json")
    assert result.exit_code == 0 and json.loads(result.stdout)["args"] == json.loads(args)


def test_a_person_reads_verdict_reason_and_effects(matrixx: Run, install: Install) -> None:
    install("guard", GUARD)
    result = matrixx("explain", "write", '{"filePath": "a.txt", "content": "forbidden"}')
    assert result.stdout.startswith("block\n") and "it says forbidden" in result.stdout and "a.txt" in result.stdout
