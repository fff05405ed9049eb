"""Claude Code's recorded payloads become events, and it is told only what it obeys."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from matrixx_builtin.essentials import context_injector, wake_gates
from matrixx_builtin.hosts.claude_code.adapter import ClaudeCode
from matrixx_builtin.hosts.claude_code.client import ClaudeCodeClient
from matrixx_builtin.services import wake
from matrixx_core import (
    Allow,
    Block,
    ChatMessage,
    Command,
    Compaction,
    Inject,
    PermissionAsked,
    Session,
    SessionEvent,
    ToolCall,
    ToolFailure,
    ToolResult,
    Transcript,
    guard,
    observe,
    rewrite,
)
from matrixx_core.host import Host
from matrixx_core.loading import load

SAMPLES = {path.stem: json.loads(path.read_text("utf-8")) for path in (Path(__file__).parents[3] / "data/claude_code").glob("*.json")}


def adapter(*plugins: Any) -> ClaudeCode:
    """An adapter with hooks, given as functions or modules."""
    modules = {f"hook{number}": one if isinstance(one, ModuleType) else module(one) for number, one in enumerate(plugins)}
    client = ClaudeCodeClient()
    return ClaudeCode(Host(load(modules), directory="/tmp/project", client=client), client)


def module(hook: Callable[..., Any]) -> ModuleType:
    made = ModuleType(hook.__name__)
    vars(made)[hook.__name__] = hook
    return made


def ask(one: ClaudeCode, sample: str, **changes: Any) -> Any:
    return anyio.run(one.answer, {**SAMPLES[sample], **changes})


def specific(reply: Any) -> Mapping[str, Any]:
    return {key: value for key, value in reply["hookSpecificOutput"].items() if key != "hookEventName"}


@pytest.mark.parametrize("sample", sorted(SAMPLES))
def test_without_hooks_nothing_is_said(sample: str) -> None:
    assert ask(adapter(wake_gates, context_injector), sample) in ({}, "")


@pytest.mark.parametrize(
    ("sample", "tool", "args"),
    [
        ("PreToolUse.Write", "write", {"filePath": "/tmp/project/new.txt", "content": "hello\n"}),
        ("PreToolUse.Read", "read", {"filePath": "/tmp/project/old.txt"}),
        ("PreToolUse.Bash", "bash", {"command": "echo out; echo err >&2", "description": "print"}),
        ("PreToolUse.Edit", "edit", {"filePath": "/tmp/project/old.txt", "oldString": "gamma", "newString": "delta", "replaceAll": False}),
    ],
)
def test_a_call_has_the_canonical_words(sample: str, tool: str, args: dict[str, Any]) -> None:
    seen: list[ToolCall] = []

    @observe
    def tool_execute_before(call: ToolCall) -> None:
        seen.append(call)

    ask(adapter(tool_execute_before), sample)
    assert [(call.tool, call.args, call.directory) for call in seen] == [(tool, args, SAMPLES[sample]["cwd"])]


def test_a_refusal_is_a_denial_with_the_reason() -> None:
    @guard
    def tool_execute_before(call: ToolCall) -> Block:
        return Block("it is a file of mine")

    said = specific(ask(adapter(tool_execute_before), "PreToolUse.Write"))
    assert said["permissionDecision"] == "deny"
    assert "it is a file of mine" in said["permissionDecisionReason"]


def test_a_changed_call_is_told_whole_and_in_the_hosts_words() -> None:
    @rewrite
    def tool_execute_before(call: ToolCall) -> ToolCall:
        return call.with_args(newString="other").with_text("beside")

    assert specific(ask(adapter(tool_execute_before), "PreToolUse.Edit")) == {
        "updatedInput": {"file_path": "/tmp/project/old.txt", "old_string": "gamma", "new_string": "other", "replace_all": False},
        "additionalContext": "beside",
    }


@pytest.mark.parametrize(
    ("sample", "path"),
    [("PostToolUse.Bash", ["stdout"]), ("PostToolUse.Read", ["file", "content"]), ("PostToolUse.Agent", ["content", 0, "text"])],
)
def test_a_changed_output_keeps_the_shape_of_the_tool(sample: str, path: list[Any]) -> None:
    @rewrite
    def tool_execute_after(result: ToolResult) -> ToolResult:
        return result.with_output(result.output.upper())

    def text_of(response: Any) -> str:
        for key in path:
            response = response[key]
        return str(response)

    before = SAMPLES[sample]["tool_response"]
    after = specific(ask(adapter(tool_execute_after), sample))["updatedToolOutput"]
    assert text_of(after) == text_of(before).upper()
    assert json.dumps(after).lower() == json.dumps(before).lower(), "nothing else has changed"


def test_what_is_added_to_an_output_goes_beside_it_even_where_its_shape_is_not_known() -> None:
    @rewrite
    def tool_execute_after(result: ToolResult) -> Inject:
        return Inject("look at the tests")

    for sample in ("PostToolUse.Bash", "PostToolUse.Write", "PostToolUse.TaskCreate"):
        assert specific(ask(adapter(tool_execute_after), sample)) == {"additionalContext": "look at the tests"}


@rewrite
def tool_execute_failed(failure: ToolFailure) -> Inject:
    return Inject(f"{failure.call.tool}: {failure.error[:40]}")


def test_a_failed_call_is_told_once() -> None:
    assert specific(ask(adapter(tool_execute_failed), "PostToolUseFailure.Bash-exit3")) == {"additionalContext": "bash: Exit code 3"}
    one = adapter(tool_execute_failed)
    edit = {"tool_name": "Edit", "tool_input": {"file_path": "a"}, "tool_use_id": "t1", "tool_response": "<tool_use_error>no such string"}
    assert specific(ask(one, "PostToolBatch", tool_calls=[edit])) == {"additionalContext": "edit: <tool_use_error>no such string"}
    ask(one, "PreToolUse.Bash", tool_use_id="t2")
    told = {**edit, "tool_use_id": "t2"}
    assert ask(one, "PostToolBatch", tool_calls=[told]) == {}, "PostToolUseFailure has told it"


def test_a_sub_agent_is_a_child_session() -> None:
    seen: list[tuple[str, str, str]] = []

    @observe
    def tool_execute_before(call: ToolCall, session: Session) -> None:
        seen.append((call.session_id, session.parent, session.agent))

    one = adapter(tool_execute_before)
    payload = SAMPLES["PreToolUse.Read-in-subagent"]
    ask(one, "SubagentStart.in-subagent")
    parent = one.host.sessions[payload["session_id"]]
    assert parent.state(wake.Wake).running_children == {payload["agent_id"]}
    ask(one, "PreToolUse.Read-in-subagent")
    ask(one, "SubagentStop.in-subagent")
    assert seen == [(payload["agent_id"], payload["session_id"], payload["agent_type"])]
    assert parent.state(wake.Wake).running_children == set()


def test_a_prompt_is_refused_without_showing_it_again() -> None:
    @guard
    def chat_message(message: ChatMessage) -> Block | None:
        return Block("a key") if "work" in message.text else None

    reply = ask(adapter(chat_message), "UserPromptSubmit")
    assert reply["decision"] == "block"
    assert "a key" in reply["reason"]
    assert specific(reply) == {"suppressOriginalPrompt": True}


def test_what_hooks_add_to_a_prompt_or_to_the_newest_message_goes_beside_the_prompt() -> None:
    @rewrite
    def chat_message(message: ChatMessage) -> Inject:
        return Inject("one")

    @rewrite
    def messages_transform(transcript: Transcript) -> Inject:
        return Inject(f"two, of {len(transcript.messages)}")

    assert specific(ask(adapter(chat_message, messages_transform), "UserPromptSubmit")) == {"additionalContext": "one\n\ntwo, of 1"}


def test_a_slash_command_may_be_refused() -> None:
    @guard
    def command_execute_before(command: Command) -> Block | None:
        return Block("not now") if (command.name, command.arguments) == ("hi", "bob") else None

    assert "not now" in ask(adapter(command_execute_before), "UserPromptExpansion")["reason"]


@pytest.mark.parametrize(("answer", "behavior"), [(Allow(), "allow"), (Block("no"), "deny"), (None, None)])
def test_a_permission_question_is_answered_or_left_to_the_person(answer: Any, behavior: str | None) -> None:
    @guard
    def permission_asked(permission: PermissionAsked) -> Any:
        assert (permission.permission, permission.patterns) == ("write", ("/tmp/project/new.txt",))
        return answer

    reply = ask(adapter(permission_asked), "PermissionRequest.Write")
    assert (specific(reply)["decision"]["behavior"] if reply else None) == behavior


def offering(text: str, fingerprint: str = "same") -> Callable[..., None]:
    @rewrite(types={"session.idle"})
    def session_event(event: SessionEvent, session: Session) -> None:
        wake.offer(session, wake.Offer("x", "loop", text, fingerprint))

    return session_event


def test_a_stop_goes_on_with_an_offer_three_times_without_progress_and_the_person_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    one = adapter(wake_gates, offering("go on"))
    replies = [ask(one, "Stop", stop_hook_active=bool(number)) for number in range(4)]
    assert replies[:3] == [{"decision": "block", "reason": "go on"}] * 3
    assert list(replies[3]) == ["systemMessage"]
    monkeypatch.setattr(wake, "SAME_IDLE", 0.0)
    assert ask(one, "Stop") == {}
    ask(one, "UserPromptSubmit")
    assert ask(one, "Stop") == {"decision": "block", "reason": "go on"}


def test_what_survives_a_compaction_is_printed_as_it_is() -> None:
    @rewrite
    def session_compacting(compaction: Compaction) -> Inject:
        return Inject("keep the plan")

    assert ask(adapter(session_compacting), "PreCompact.manual") == "keep the plan"


def test_after_a_compaction_waiting_text_is_told_at_once() -> None:
    @rewrite(types={"session.compacted"})
    def session_event(event: SessionEvent) -> Inject:
        return Inject("the plan is in plan.md")

    assert specific(ask(adapter(session_event), "SessionStart.compact")) == {"additionalContext": "the plan is in plan.md"}


def test_a_resumed_session_finds_its_memory_and_a_cleared_one_does_not() -> None:
    seen: list[str] = []

    @observe
    def session_event(event: SessionEvent) -> None:
        seen.append(event.type)

    one = adapter(session_event)
    session = SAMPLES["SessionEnd.other"]["session_id"]
    ask(one, "SessionStart.startup")
    ask(one, "SessionEnd.other")
    assert session in one.host.sessions
    ask(one, "SessionEnd.other", reason="clear")
    assert session not in one.host.sessions
    assert seen == ["session.created", "session.ended", "session.deleted"]


LINES = [
    {"type": "user", "promptId": "p1", "uuid": "u1", "message": {"role": "user", "content": "do it"}},
    {
        "type": "assistant",
        "uuid": "u2",
        "message": {
            "id": "m1",
            "model": "claude-x",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "yes"},
                {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "a", "content": "b"}},
            ],
            "usage": {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 1_000, "cache_creation_input_tokens": 2},
        },
    },
    {
        "type": "user",
        "promptId": "p1",
        "uuid": "u3",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
    },
    {"type": "user", "uuid": "u4", "isMeta": True, "message": {"content": "the host's own"}},
]


def test_the_transcript_is_what_hooks_know_from_other_hosts(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in LINES) + '{"type": "user", "mess')
    one = adapter()
    ask(one, "SessionStart.startup", transcript_path=str(path), session_id="s")
    user, assistant = anyio.run(one.client.messages, "s")
    assert (user.id, user.role, user.parts) == ("p1", "user", ({"type": "text", "text": "do it"},))
    assert assistant.info["tokens"] == {"input": 5, "output": 7, "cache": {"read": 1_000, "write": 2}}
    assert [part["type"] for part in assistant.parts] == ["reasoning", "text", "tool"]
    assert assistant.parts[2] == {
        "type": "tool",
        "tool": "write",
        "callID": "t1",
        "state": {"status": "completed", "output": "ok", "input": {"filePath": "a", "content": "b"}},
    }


def used(identity: str, name: str, output: str = "", **args: Any) -> list[dict[str, Any]]:
    """A call and its result, as the transcript has them."""
    call = {"type": "tool_use", "id": identity, "name": name, "input": args}
    told = {"type": "tool_result", "tool_use_id": identity, "content": output}
    return [{"type": "assistant", "message": {"content": [call]}}, {"type": "user", "message": {"content": [told]}}]


@pytest.mark.parametrize(
    ("lines", "todos"),
    [
        (
            [
                *used("1", "TaskCreate", "Task #1 created successfully: sew", subject="sew"),
                *used("2", "TaskCreate", "Task #2 created successfully: buy", subject="buy"),
                *used("3", "TaskUpdate", taskId="1", status="in_progress"),
                *used("4", "TaskUpdate", taskId="2", status="deleted"),
                *used("5", "TaskUpdate", taskId="9", status="completed"),
            ],
            [("sew", "in_progress")],
        ),
        ([*used("1", "TodoWrite", todos=[{"content": "sew", "status": "pending"}, None])], [("sew", "pending")]),
        ([*used("1", "TaskCreate", "no number", subject="sew")], []),
    ],
)
def test_the_todo_list_is_what_the_agents_calls_have_left(tmp_path: Path, lines: list[Any], todos: list[tuple[str, str]]) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    one = adapter()
    ask(one, "SessionStart.startup", transcript_path=str(path), session_id="s")
    assert [(todo["content"], todo["status"]) for todo in anyio.run(one.client.todo, "s")] == todos


def test_what_an_answer_has_cost_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    seen: list[Any] = []

    @observe(types={"message.updated"})
    def session_event(event: SessionEvent) -> None:
        seen.append(event.properties["info"]["tokens"]["input"])

    one = adapter(session_event)
    for _ in range(2):
        ask(one, "PostToolBatch", transcript_path=str(path))
    assert seen == [5]


ODD: list[Any] = [None, 5, "x" * 100_000, [1], {"a": {"b": []}}, "\ud800", {"edits": [None, {"old_string": 3}]}]


@pytest.mark.parametrize(
    "sample", ["PreToolUse.Write", "PostToolUse.Bash", "PostToolBatch", "UserPromptSubmit", "Stop", "SessionStart.compact"]
)
def test_odd_values_anywhere_are_no_error(sample: str) -> None:
    one = adapter(wake_gates, context_injector, tool_execute_failed)
    for name in SAMPLES[sample]:
        for value in ODD:
            ask(one, sample, **{name: value})
    ask(one, "Stop", hook_event_name="SomethingNew")
    assert anyio.run(one.answer, {}) == {}
