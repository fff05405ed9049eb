"""What hooks do to each other, with every shipped hook installed: spec tool-hooks 4.3, session-hooks J, and C14, C15, C23."""

import os
import random
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import anyio
import pytest

from matrixx_builtin.hosts.claude_code.adapter import ClaudeCode
from matrixx_builtin.hosts.claude_code.client import ClaudeCodeClient
from matrixx_builtin.hosts.opencode.adapter import OpenCode
from matrixx_core import Block, Inject, SessionEvent, ToolCall, ToolResult, guard, rewrite
from matrixx_core.dispatch import Outcome
from matrixx_core.events import ChatMessage
from matrixx_core.host import Host
from matrixx_core.loading import installed, load
from matrixx_core.settings import Settings
from matrixx_core.testing import SESSION, RecordingClient, call, message, result

T = TypeVar("T")

SETTINGS = {
    "rtk": {"enabled": True},
    "experimental": {"truncate_all_tool_outputs": True, "hashline_edit": True},
    "knowledge": {"hubs": [{"name": "lore", "path": "lore"}]},
    "hooks": {"non-interactive-env": {"prefix": "git"}},
}
"""What is off by default and belongs to these cases."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with rules, notes and an ``.env``; ``rtk`` is a program that puts its name in front."""
    for name, text in {
        "project/.env": "TOKEN=old\n",
        "project/src/AGENTS.md": "Use tabs.\n",
        "project/src/a.py": "x = 1\n",
        "project/lore/_index.md": "- page.md\n",
        "project/.matrixx/rules/all.md": "---\nalwaysApply: true\n---\nNo globals.\n",
        "bin/rtk": '#!/bin/sh\nshift\nprintf "rtk %s" "$*"\n',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "bin/rtk").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "project"


def fleet(project: Path, *more: Any, seed: int | None = None, settings: Mapping[str, Any] = SETTINGS) -> Host:
    """A host with every installed plugin, perhaps met in another order, and with those of a test."""
    modules = {name: found.entry.load() for name, found in installed().items()} | {f"test-{place}": one for place, one in enumerate(more)}
    names = list(modules)
    if seed is not None:
        random.Random(seed).shuffle(names)
    given = Settings.of(settings)
    return Host(load({name: modules[name] for name in names}, given), settings=given, directory=str(project), client=RecordingClient())


def run(work: Callable[[], Awaitable[T]]) -> T:
    return anyio.run(work)


def before(host: Host, tool: str, **args: Any) -> Outcome[ToolCall]:
    return run(lambda: host.tool_execute_before(call(tool, directory=host.directory, **args)))


def after(host: Host, tool: str, output: str, **args: Any) -> Outcome[ToolResult]:
    return run(lambda: host.tool_execute_after(result(tool, output, directory=host.directory, **args)))


def chat(host: Host, text: str) -> Outcome[ChatMessage]:
    return run(lambda: host.chat_message(message(text)))


def tell(host: Host, kind: str) -> None:
    run(lambda: host.session_event(SessionEvent(session_id=SESSION, type=kind)))


@pytest.mark.parametrize(
    ("agent", "path", "blocked_by"),
    [
        ("oracle", ".matrixx/plans/x.md", "task-edit-guard"),
        ("oracle", "src/b.py", "oracle-md-only"),
        ("build", ".env", "env-file-write-guard"),
        ("oracle", ".env", "env-file-write-guard"),
    ],
)
def test_of_several_refusals_the_same_one_is_told_whatever_the_order_of_installation(
    project: Path, agent: str, path: str, blocked_by: str
) -> None:
    for seed in range(3):
        host = fleet(project, seed=seed)
        host.sessions[SESSION].agent = agent
        outcome = before(host, "write", filePath=path, content="- [ ] a\n")
        assert (outcome.blocked_by, path in outcome.refusal) == (blocked_by, True)


def test_rewrites_compose_in_one_order(project: Path) -> None:
    commands = {before(fleet(project, seed=seed), "bash", command="git commit -m x").event.args["command"] for seed in range(4)}
    assert len(commands) == 1
    [command] = commands
    assert command.endswith("rtk git commit -m x") and "GIT_TERMINAL_PROMPT=" in command
    assert before(fleet(project, settings={}), "bash", command="git commit -m x").event.args["command"].endswith("git commit -m x")


def test_a_strangers_rewrite_keeps_those_of_others_whatever_its_name(project: Path) -> None:
    def adds_yes(call: ToolCall) -> ToolCall | None:
        return None if "--yes" in call.args["command"] else call.with_args(command=f"{call.args['command']} --yes")

    for seed in range(3):
        stranger = SimpleNamespace(__name__="stranger", tool_execute_before=rewrite(tools={"bash"})(adds_yes))
        command = before(fleet(project, stranger, seed=seed), "bash", command="git commit -m x").event.args["command"]
        assert command.count("--yes") == 1 and "rtk git commit" in command and "GIT_TERMINAL_PROMPT=" in command


@pytest.mark.parametrize(
    ("made", "blocked_by"),
    [
        ({"command": "echo TOKEN=new > .env"}, "env-file-write-guard"),
        ({"command": "cat .env"}, "env-file-read-guard"),
        ({"command": "sh -c 'tee .env'"}, "env-file-write-guard"),
    ],
)
def test_guards_judge_what_will_run_not_what_was_asked_for(project: Path, made: dict[str, str], blocked_by: str) -> None:
    def turns(call: ToolCall) -> ToolCall:
        return call.with_args(**made)

    stranger = SimpleNamespace(__name__="stranger", tool_execute_before=rewrite(tools={"bash"})(turns))
    for seed in range(3):
        assert before(fleet(project, stranger, seed=seed), "bash", command="echo hello").blocked_by == blocked_by


@guard(tools={"bash"})
def crashes(call: ToolCall) -> Block | None:
    raise RuntimeError("traceback of a guard")


@pytest.mark.parametrize(("on_failure", "stopped"), [("block", True), ("allow", False)])
def test_a_guard_that_crashes_is_a_refusal_of_the_hosts_own_kind_or_lets_go_as_settings_say(
    project: Path, on_failure: str, stopped: bool, caplog: pytest.LogCaptureFixture
) -> None:
    crashing = SimpleNamespace(__name__="crashing", tool_execute_before=crashes)
    host = fleet(project, crashing, settings={"hooks": {"test-0": {"on_failure": on_failure}}})
    about = {"tool": "bash", "sessionID": SESSION, "callID": "c1"}
    told = run(lambda: OpenCode(host).hook("tool.execute.before", about, {"args": {"command": "echo hello"}}))
    assert ("test-0" in told.refusal) == stopped
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "tool_use_id": "t1",
        "tool_name": "Bash",
        "tool_input": {"command": "echo hello"},
        "cwd": str(project),
    }
    reply = run(lambda: ClaudeCode(host, ClaudeCodeClient()).answer(payload))
    assert (reply.get("hookSpecificOutput", {}).get("permissionDecision") == "deny") == stopped
    assert "traceback of a guard" in caplog.text and "test-0" in caplog.text


def test_all_that_is_said_beside_a_call_arrives(project: Path) -> None:
    def speaks(call: ToolCall) -> Inject:
        return Inject("a stranger speaks too")

    stranger = SimpleNamespace(__name__="stranger", tool_execute_before=rewrite(tools={"webfetch"})(speaks))
    outcome = before(fleet(project, stranger), "webfetch", url="https://example.org/")
    texts = [note.text for note in outcome.notes]
    assert "a stranger speaks too" in texts and len(texts) > 1
    assert all(text in outcome.event.message for text in texts)


def test_what_a_write_reports_is_still_there_behind_all_hooks(project: Path) -> None:
    said = "Wrote file successfully.\n\nLSP errors detected in this file, please fix:\nerror: x"
    output = after(fleet(project), "write", said, filePath="src/a.py", content="x = 1\n").event.output
    assert output.startswith(said)
    assert output.index("Use tabs.") > len(said) and output.index("No globals.") > len(said)


def test_a_long_report_of_a_sub_agent_is_cut_and_says_how_to_go_on_last(project: Path) -> None:
    report = '<task id="ses_1" state="completed">\n' + "a line of the report\n" * 20_000 + "</task>"
    output = after(fleet(project), "task", report, prompt="p", subagent_type="general").event.output
    assert len(output) < len(report) and "left out here by Matrixx" in output
    assert 'to continue: task(task_id="ses_1"' in output.splitlines()[-1]


def test_reminders_are_for_those_who_can_follow_them(project: Path) -> None:
    reminders = {"agent-usage-reminder", "category-skill-reminder"}

    def said(*, parent: str) -> set[str]:
        host = fleet(project)
        host.sessions[SESSION].parent = parent
        host.sessions[SESSION].agent = "morpheus"
        tools = ["grep", "glob", "read", "grep", "edit", "bash"] * 2
        return {note.plugin for tool in tools for note in after(host, tool, "found", pattern="x", filePath="x", command="ls").notes}

    assert said(parent="ses_above") & reminders == set()
    assert said(parent="") & reminders


def test_after_a_summary_what_it_took_away_is_said_again(project: Path) -> None:
    host = fleet(project)

    def notes() -> set[str]:
        return {note.plugin for note in after(host, "read", "text", filePath=str(project / "src/a.py")).notes}

    first = notes()
    assert {"directory-agents-injector", "rules-injector"} <= first
    assert notes() & first == set()
    tell(host, "session.compacted")
    assert {"directory-agents-injector", "rules-injector"} <= notes()


@pytest.fixture
def commands(project: Path) -> Path:
    path = project / ".matrixx/commands/greet.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ndescription: Greet\n---\nGreet $ARGUMENTS.\n")
    return project


@pytest.mark.parametrize("seed", range(3))
def test_a_word_that_switches_something_on_hides_no_command(commands: Path, seed: int) -> None:
    event = chat(fleet(commands, seed=seed), "/stop-continuation ultrawork").event
    texts = [str(part["text"]) for part in event.parts]
    assert texts[0].startswith("/stop-continuation")
    assert any("The user has stopped all automatic continuation" in text for text in texts[1:])
