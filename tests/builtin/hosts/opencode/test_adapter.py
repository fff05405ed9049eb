"""OpenCode's payloads become events, and only what a hook changed goes back."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_builtin.hosts.opencode.adapter import Answer, OpenCode
from matrixx_builtin.hosts.opencode.translate import HOOKS, apply
from matrixx_core import (
    Allow,
    Block,
    ChatHeaders,
    ChatMessage,
    ChatParams,
    Command,
    Compaction,
    Inject,
    PermissionAsked,
    SessionEvent,
    ShellEnv,
    ToolCall,
    ToolFailure,
    ToolResult,
    Transcript,
    guard,
    rewrite,
)
from matrixx_core.host import Host
from matrixx_core.loading import load
from matrixx_core.testing import RecordingClient

TRACES = sorted((Path(__file__).parents[3] / "data" / "opencode").glob("*.jsonl"))


def plugin(name: str, *hooks: Callable[..., Any]) -> ModuleType:
    module = ModuleType(name)
    vars(module).update({hook.__name__: hook for hook in hooks})
    return module


def adapter(*plugins: ModuleType) -> OpenCode:
    return OpenCode(Host(load({one.__name__: one for one in plugins}), directory="/project", client=RecordingClient()))


def ask(one: OpenCode, hook: str, inp: Any, output: Any) -> Answer:
    return anyio.run(one.hook, hook, inp, output)


def tell(one: OpenCode, kind: str, **properties: Any) -> Answer:
    return anyio.run(one.event, {"type": kind, "properties": properties})


def requests(one: OpenCode) -> list[tuple[str, dict[str, Any]]]:
    client = one.host.rules.client
    assert isinstance(client, RecordingClient)
    return client.requests


BEFORE = {"tool": "write", "sessionID": "ses_1", "callID": "call_1"}


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name)
def test_without_hooks_no_recorded_payload_changes(trace: Path) -> None:
    one = adapter()

    async def play() -> list[str]:
        changed: list[str] = []
        for line in trace.read_text("utf-8").splitlines():
            recorded = json.loads(line)
            if recorded["hook"] in HOOKS and isinstance(recorded.get("output"), dict):
                answer = await one.hook(recorded["hook"], recorded["input"], recorded["output"])
                if answer.edits or answer.refusal:
                    changed.append(line)
        return changed

    assert anyio.run(play) == []


@pytest.mark.parametrize("hook", HOOKS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_no_payload_is_an_error_and_none_changes(hook: str, data: st.DataObject) -> None:
    names = [
        "sessionID",
        "tool",
        "callID",
        "args",
        "messages",
        "parts",
        "message",
        "output",
        "system",
        "model",
        "info",
        "env",
        "text",
        "state",
        "type",
    ]
    value = st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(names), inner, max_size=4),
        max_leaves=12,
    )
    payload = st.dictionaries(st.sampled_from(names), value, max_size=6)
    inp, output = data.draw(payload), data.draw(payload)
    before = copy.deepcopy(output)
    answer = ask(adapter(), hook, inp, output)
    assert (answer.edits, answer.refusal, output) == ([], "", before)


def test_a_block_becomes_the_refusal_that_the_bridge_throws() -> None:
    @guard
    def tool_execute_before(call: ToolCall) -> Block:
        return Block("no", "yes")

    answer = ask(adapter(plugin("g", tool_execute_before)), "tool.execute.before", BEFORE, {"args": {"filePath": "a"}})
    assert answer.refusal.startswith("Blocked by Matrixx hook 'g': no\nInstead: yes\n") and answer.edits == []


def test_only_changed_arguments_go_back() -> None:
    @rewrite
    def tool_execute_before(call: ToolCall) -> ToolCall:
        return call.model_copy(update={"args": {"filePath": "b", "content": call.args["content"]}})

    output = {"args": {"filePath": "a", "content": "x" * 1_000, "gone": 1}}
    answer = ask(adapter(plugin("r", tool_execute_before)), "tool.execute.before", BEFORE, output)
    assert answer.edits == [(["args", "gone"], None), (["args", "filePath"], "b")]
    assert apply(output, answer.edits) == {"args": {"filePath": "b", "content": "x" * 1_000}}


@rewrite(spec="tool_execute_before")
def note(call: ToolCall) -> Inject:
    return Inject("mind this")


def test_text_beside_a_call_follows_its_output() -> None:
    one = adapter(plugin("n", note))
    assert ask(one, "tool.execute.before", BEFORE, {"args": {}}).follow
    answer = ask(one, "tool.execute.after", {**BEFORE, "args": {}}, {"title": "", "output": "done", "metadata": {}})
    assert answer.edits == [(["output"], "done\n\nmind this")]
    assert ask(one, "tool.execute.after", {**BEFORE, "args": {}}, {"output": "again"}).edits == []


def failed_part(error: str = "not found", call_id: str = "call_1") -> dict[str, Any]:
    state = {"status": "error", "input": {"filePath": "a"}, "error": error}
    return {"type": "tool", "tool": "edit", "callID": call_id, "sessionID": "ses_1", "state": state}


def request_with(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"info": {"id": "msg_1", "role": "assistant", "sessionID": "ses_1"}, "parts": list(parts)}]}


def test_text_beside_a_failed_call_stands_behind_its_error_in_every_later_request() -> None:
    one = adapter(plugin("n", note))
    ask(one, "tool.execute.before", BEFORE, {"args": {}})
    first = ask(one, "experimental.chat.messages.transform", {}, request_with(failed_part())).edits
    assert first == [(["messages", 0, "parts", 0, "state", "error"], "not found\n\nmind this")]
    assert ask(one, "experimental.chat.messages.transform", {}, request_with(failed_part())).edits == first


@pytest.mark.parametrize("through_event", [True, False])
def test_a_failed_call_is_told_once_however_it_is_seen(through_event: bool) -> None:
    seen: list[str] = []

    @guard
    def tool_execute_failed(failure: ToolFailure) -> Inject:
        seen.append(failure.call.call_id)
        return Inject("read the file first")

    one = adapter(plugin("f", tool_execute_failed))
    if through_event:
        outcome = tell(one, "message.part.updated", sessionID="ses_1", part=failed_part()).outcomes[0]
        assert [note.text for note in outcome.notes] == ["read the file first"]
    for _ in range(2):
        edits = ask(one, "experimental.chat.messages.transform", {}, request_with(failed_part())).edits
        assert edits == [(["messages", 0, "parts", 0, "state", "error"], "not found\n\nread the file first")]
    assert seen == ["call_1"]


def test_our_own_refusal_is_no_failure() -> None:
    @guard
    def tool_execute_before(call: ToolCall) -> Block:
        return Block("no")

    @guard
    def tool_execute_failed(failure: ToolFailure) -> Inject:
        return Inject("read the file first")

    one = adapter(plugin("g", tool_execute_before), plugin("f", tool_execute_failed))
    ask(one, "tool.execute.before", BEFORE, {"args": {}})
    assert ask(one, "experimental.chat.messages.transform", {}, request_with(failed_part("Blocked"))).edits == []


def test_the_raw_result_of_an_mcp_tool_is_changed_in_its_own_shape() -> None:
    @guard
    def tool_execute_after(result: ToolResult) -> Inject:
        return Inject(f"{len(result.output)} characters")

    image = {"type": "image", "data": "x"}
    output = {"content": [{"type": "text", "text": "ab"}, image, {"type": "text", "text": "c"}], "isError": False}
    answer = ask(adapter(plugin("a", tool_execute_after)), "tool.execute.after", {**BEFORE, "args": {}}, output)
    assert answer.edits == [(["content"], [{"type": "text", "text": "ab\nc\n\n4 characters"}, image])]


def test_the_files_of_a_result_can_be_replaced() -> None:
    @rewrite
    def tool_execute_after(result: ToolResult) -> ToolResult:
        return result.model_copy(update={"attachments": tuple({**one, "url": "data:,small"} for one in result.attachments)})

    output = {"output": "read", "attachments": [{"type": "file", "mime": "image/png", "url": "data:,large"}, "odd"]}
    answer = ask(adapter(plugin("r", tool_execute_after)), "tool.execute.after", {**BEFORE, "args": {}}, output)
    assert answer.edits == [(["attachments"], [{"type": "file", "mime": "image/png", "url": "data:,small"}])]


def test_a_part_of_a_prompt_gets_the_ids_that_opencode_needs() -> None:
    @rewrite
    def chat_message(message: ChatMessage) -> Inject:
        return Inject("added")

    output = {"message": {"id": "msg_1", "agent": "build"}, "parts": [{"id": "prt_5", "type": "text", "text": "hi"}]}
    [(path, parts)] = ask(adapter(plugin("c", chat_message)), "chat.message", {"sessionID": "ses_1"}, output).edits
    assert path == ["parts"] and parts[0] == output["parts"][0]
    assert parts[1]["id"] > "prt_5" and parts[1]["id"].startswith("prt_")
    assert (parts[1]["messageID"], parts[1]["sessionID"], parts[1]["synthetic"]) == ("msg_1", "ses_1", True)


@pytest.mark.parametrize(("hook", "output"), [("chat.message", {"message": {}, "parts": []}), ("command.execute.before", {"parts": []})])
def test_the_person_is_told_why_a_prompt_was_stopped(hook: str, output: dict[str, Any]) -> None:
    @guard
    def chat_message(message: ChatMessage) -> Block:
        return Block("no")

    @guard
    def command_execute_before(command: Command) -> Block:
        return Block("no")

    one = adapter(plugin("g", chat_message, command_execute_before))
    answer = ask(one, hook, {"sessionID": "ses_1"}, output)
    assert answer.refusal and requests(one) == [("toast", {"message": answer.refusal, "tone": "error", "title": "Matrixx"})]


@pytest.mark.parametrize(
    ("answer", "asked"),
    [(Block("no"), [("reject", "Blocked by")]), (Allow(), [("once", "")]), (None, [])],
)
def test_a_permission_is_answered_only_when_a_hook_says_so(answer: Block | Allow | None, asked: list[tuple[str, str]]) -> None:
    @guard
    def permission_asked(permission: PermissionAsked) -> Block | Allow | None:
        assert (permission.permission, permission.patterns) == ("bash", ("rm x",))
        return answer

    one = adapter(plugin("p", permission_asked))
    tell(one, "permission.asked", id="per_1", sessionID="ses_1", permission="bash", patterns=["rm x"])
    replies = [arguments for name, arguments in requests(one) if name == "reply_permission"]
    assert [(reply["reply"], reply["message"][: len(start)]) for reply, (_, start) in zip(replies, asked, strict=True)] == asked


def test_text_of_a_session_event_waits_for_the_next_prompt() -> None:
    from matrixx_builtin.essentials import context_injector

    @rewrite
    def session_event(event: SessionEvent) -> Inject | None:
        return Inject("results are in") if event.type == "session.idle" else None

    one = adapter(plugin("e", session_event), plugin("context-injector", context_injector.messages_transform))
    tell(one, "session.idle", sessionID="ses_1")
    prompt = {"messages": [{"info": {"id": "msg_1", "role": "user", "sessionID": "ses_1"}, "parts": [{"type": "text", "text": "go on"}]}]}
    for _ in range(2):
        [(path, parts)] = ask(one, "experimental.chat.messages.transform", {}, prompt).edits
        assert path == ["messages", 0, "parts"] and [part["text"] for part in parts] == ["go on", "results are in"]


def test_who_is_whose_child_and_which_agent_runs_is_known() -> None:
    one = adapter()
    tell(one, "session.created", sessionID="ses_2", info={"id": "ses_2", "parentID": "ses_1"})
    ask(one, "chat.message", {"sessionID": "ses_2"}, {"message": {"agent": "explore"}, "parts": []})
    assert (one.host.sessions["ses_2"].parent, one.host.sessions["ses_2"].agent) == ("ses_1", "explore")


def test_environment_and_compaction_are_extended() -> None:
    @rewrite
    def shell_env(env: ShellEnv) -> ShellEnv:
        return env.model_copy(update={"env": {**env.env, "CI": "true"}})

    @guard
    def session_compacting(compaction: Compaction) -> Inject:
        return Inject("keep this")

    one = adapter(plugin("x", shell_env, session_compacting))
    assert ask(one, "shell.env", {"cwd": "/", "sessionID": "s"}, {"env": {"A": "1"}}).edits == [(["env"], {"A": "1", "CI": "true"})]
    assert ask(one, "experimental.session.compacting", {"sessionID": "s"}, {"context": []}).edits == [(["context"], ["keep this"])]


def test_a_change_that_opencode_cannot_be_told_costs_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    class Odd(dict[str, str]):
        def __ne__(self, other: object) -> bool:
            raise ValueError("not to be compared")

    @rewrite
    def chat_headers(headers: ChatHeaders) -> ChatHeaders:
        return headers.model_copy(update={"headers": Odd(a="b")})

    one = adapter(plugin("x", chat_headers))
    assert ask(one, "chat.headers", {"sessionID": "s"}, {"headers": {"c": "d"}}).edits == []
    assert "cannot be given to OpenCode" in caplog.text


@pytest.mark.parametrize("parts", [None, "text", [{"type": "text"}], ({"type": "text"}, 7)])
def test_a_message_with_odd_parts_is_the_hooks_failure(parts: Any) -> None:
    @rewrite
    def messages_transform(transcript: Transcript) -> Transcript:
        (only,) = transcript.messages
        return transcript.model_copy(update={"messages": (only.model_copy(update={"parts": parts}),)})

    @guard
    def judge(transcript: Transcript) -> Inject:
        return Inject("a note")

    judge.__name__ = "messages_transform"
    one = adapter(plugin("x", messages_transform), plugin("y", judge))
    payload = {
        "messages": [{"info": {"id": "m1", "role": "user", "sessionID": "s"}, "parts": [{"id": "p1", "type": "text", "text": "hi"}]}]
    }
    answer = ask(one, "experimental.chat.messages.transform", {}, payload)
    assert [ran.plugin for ran in answer.outcomes[0].ran if ran.answer == "error"] == ["x"]
    assert "a note" in str(answer.edits)


def test_the_bridge_is_asked_only_for_what_a_hook_wants() -> None:
    @guard(tools={"write"})
    def tool_execute_before(call: ToolCall) -> None: ...

    interest = adapter(plugin("g", tool_execute_before)).interest
    assert interest["tool.execute.before"] == {"names": ["write"], "others": False}
    assert "tool.execute.after" not in interest and "chat.params" not in interest
    assert interest["event"] == {"names": ["session.created", "session.deleted"], "others": False}


@pytest.mark.parametrize(
    ("message", "variant"),
    [
        ({"model": {"variant": "max"}}, "max"),
        ({"variant": "low"}, "low"),
        ({"model": {"variant": 5}}, ""),
        ({"model": None}, ""),
        (None, ""),
    ],
)
def test_the_variant_of_a_request_is_that_of_its_prompt(message: Any, variant: str) -> None:
    seen: list[str] = []

    @rewrite
    def chat_params(params: ChatParams) -> None:
        seen.append(params.variant)

    inp = {"sessionID": "s", "model": {"id": "m", "providerID": "p"}, "message": message}
    anyio.run(adapter(plugin("v", chat_params)).hook, "chat.params", inp, {"options": {}})
    assert seen == [variant]
