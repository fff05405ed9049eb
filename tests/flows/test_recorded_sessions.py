"""The whole fleet over recorded sessions of the real OpenCode and payloads of the real Claude Code: nobody fails, and whoever has no business changes nothing."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from matrixx_builtin.hosts.claude_code.adapter import Answer as ClaudeAnswer
from matrixx_builtin.hosts.claude_code.adapter import ClaudeCode
from matrixx_builtin.hosts.claude_code.client import ClaudeCodeClient
from matrixx_builtin.hosts.opencode.adapter import Answer, OpenCode
from matrixx_builtin.hosts.opencode.translate import HOOKS
from matrixx_core.host import Host
from matrixx_core.testing import RecordingClient

TRACES = sorted((Path(__file__).parents[1] / "data" / "opencode").glob("*.jsonl"))


async def play(trace: Path, project: Path) -> list[tuple[dict[str, Any], Answer]]:
    played: list[tuple[dict[str, Any], Answer]] = []
    async with Host.open(project, client=RecordingClient()) as host:
        one = OpenCode(host)
        for line in trace.read_text("utf-8").splitlines():
            recorded = json.loads(line)
            if recorded["hook"] == "event":
                played.append((recorded, await one.event(recorded["input"]["event"])))
            elif recorded["hook"] in HOOKS and isinstance(recorded.get("output"), dict):
                played.append((recorded, await one.hook(recorded["hook"], recorded["input"], recorded["output"])))
    return played


@pytest.fixture(scope="module", params=TRACES, ids=lambda path: path.name)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], Answer]]:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        patch.setenv("MATRIXX_STATE_DIR", str(home / "state"))
        return anyio.run(play, request.param, tmp_path_factory.mktemp("project"))


def test_nobody_fails(played: list[tuple[dict[str, Any], Answer]]) -> None:
    errors = Counter(
        (ran.plugin, ran.error) for _, answer in played for outcome in answer.outcomes for ran in outcome.ran if ran.answer == "error"
    )
    assert errors == {}


def test_a_payload_changes_only_where_a_hook_said_so(played: list[tuple[dict[str, Any], Answer]]) -> None:
    silent = [
        (recorded["hook"], answer.edits)
        for recorded, answer in played
        if answer.edits and not any(ran.answer in {"change", "inject"} for outcome in answer.outcomes for ran in outcome.ran)
    ]
    # what was bound to a message or a failed call before is repeated there: the only edits without a hook of the moment
    assert {hook for hook, _ in silent} <= {"experimental.chat.messages.transform"}


def test_something_was_played(played: list[tuple[dict[str, Any], Answer]]) -> None:
    assert sum(len(answer.outcomes) for _, answer in played) > 10


def test_no_hook_acts_on_every_call(played: list[tuple[dict[str, Any], Answer]]) -> None:
    calls = [answer for recorded, answer in played if recorded["hook"] in {"tool.execute.before", "tool.execute.after"}]
    acts = Counter(ran.plugin for answer in calls for outcome in answer.outcomes for ran in outcome.ran if ran.answer != "none")
    assert all(count <= max(3, len(calls) // 3) for count in acts.values()), acts


SAMPLES = sorted((Path(__file__).parents[1] / "data" / "claude_code").glob("*.json"))


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, ClaudeAnswer]]:
    """Every recorded payload of Claude Code, and what the fleet made of it."""
    project = tmp_path_factory.mktemp("project")

    async def hear() -> list[tuple[str, ClaudeAnswer]]:
        client = ClaudeCodeClient()
        async with Host.open(project, client=client) as host:
            one = ClaudeCode(host, client)
            return [(path.stem, await one.hear(json.loads(path.read_text("utf-8")) | {"cwd": str(project)})) for path in SAMPLES]

    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        patch.setenv("MATRIXX_STATE_DIR", str(home / "state"))
        return anyio.run(hear)


def test_nobody_fails_in_claude_code(heard: list[tuple[str, ClaudeAnswer]]) -> None:
    ran = [one for _, answer in heard for outcome in answer.outcomes for one in outcome.ran]
    assert Counter((one.plugin, one.error) for one in ran if one.answer == "error") == {}
    assert len(ran) > 50


def test_an_answer_to_claude_code_says_something_only_where_a_hook_did(heard: list[tuple[str, ClaudeAnswer]]) -> None:
    said = [
        (name, reply)
        for name, answer in heard
        if (reply := answer.reply(name.partition(".")[0]))
        and set(reply) != {"systemMessage"}  # the person is told how many hooks are on
        and all(one.answer in {"none", "allow"} for outcome in answer.outcomes for one in outcome.ran)
    ]
    assert said == []


def test_few_payloads_of_claude_code_are_anybodys_business(heard: list[tuple[str, ClaudeAnswer]]) -> None:
    calls = [answer for name, answer in heard if name.startswith(("PreToolUse", "PostToolUse"))]
    acts = Counter(one.plugin for answer in calls for outcome in answer.outcomes for one in outcome.ran if one.answer != "none")
    assert all(count <= max(3, len(calls) // 3) for count in acts.values()), acts
