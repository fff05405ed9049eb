"""``matrixx_builtin.hosts.claude_agent_sdk``: the hooks as callbacks; the real program is in tests/hosts/claude_code/test_agent_sdk.py."""

import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from claude_agent_sdk import ClaudeAgentOptions
from claude_agent_sdk.types import HookEvent

from matrixx_builtin.daemon.client import BLOCKABLE
from matrixx_builtin.hosts.claude_agent_sdk import hooks

Ask = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's user is read or written."""
    for name in ("HOME", "XDG_CONFIG_HOME", "MATRIXX_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


def playing(project: Path, scene: Callable[[Ask], Awaitable[None]]) -> None:
    """Play a scene with a function that reports an event as the SDK does."""

    async def play() -> None:
        async with hooks(project) as mapping:

            async def ask(event: HookEvent, **fields: Any) -> dict[str, Any]:
                payload: Any = {"session_id": "s", "transcript_path": "", "cwd": str(project), "hook_event_name": event, **fields}
                ((callback,),) = (one.hooks for one in mapping[event])
                return dict(await callback(payload, None, {"signal": None}))

            await scene(ask)

    anyio.run(play)


def test_the_mapping_has_a_callback_for_every_event_that_the_sdk_delivers(tmp_path: Path) -> None:
    async def look() -> None:
        async with hooks(tmp_path) as open_ones, hooks(str(tmp_path), fail_closed=True) as closed:
            delivered = {event for one in get_args(HookEvent) for event in get_args(one) or (one,)}
            assert set(ClaudeAgentOptions(hooks=open_ones).hooks or ()) == delivered
            assert {one.on_failure for (one,) in open_ones.values()} == {None}
            assert {event for event, (one,) in closed.items() if one.on_failure == "block"} == set(BLOCKABLE)

    anyio.run(look)


def test_a_guard_refuses_and_a_harmless_call_passes(tmp_path: Path) -> None:
    async def scene(ask: Ask) -> None:
        call = {"tool_name": "Bash", "tool_use_id": "t"}
        refused = await ask("PreToolUse", **call, tool_input={"command": "rm -rf .matrixx && matrixx uninstall claude-code"})
        assert refused["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert await ask("PreToolUse", **call, tool_input={"command": "echo hello"}) == {}

    playing(tmp_path, scene)


def test_what_a_sessions_start_adds_comes_with_its_first_prompt_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, str]] = []

    async def answer(_self: object, payload: dict[str, Any]) -> dict[str, Any]:
        name = payload["hook_event_name"]
        heard.append((payload["session_id"], name))
        return {"systemMessage": "m", "hookSpecificOutput": {"hookEventName": name, "additionalContext": f"from {name}"}}

    monkeypatch.setattr("matrixx_builtin.hosts.claude_code.adapter.ClaudeCode.answer", answer)

    async def scene(ask: Ask) -> None:
        first = await ask("UserPromptSubmit", prompt="x")
        assert first["hookSpecificOutput"] == {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": "from SessionStart\n\nfrom UserPromptSubmit",
        }
        assert first["systemMessage"] == "m"
        assert (await ask("UserPromptSubmit", prompt="y"))["hookSpecificOutput"]["additionalContext"] == "from UserPromptSubmit"
        await ask("Stop", session_id="other")

    playing(tmp_path, scene)
    assert heard == [("s", "SessionStart"), ("s", "UserPromptSubmit"), ("s", "UserPromptSubmit"), ("other", "Stop")]


@pytest.mark.parametrize("reply", [{"decision": "block", "reason": "no"}, {}, "plain"])
def test_a_refused_prompt_stays_refused_and_plain_text_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Any) -> None:
    async def answer(_self: object, payload: dict[str, Any]) -> Any:
        return {"hookSpecificOutput": {"additionalContext": "begin"}} if payload["hook_event_name"] == "SessionStart" else reply

    monkeypatch.setattr("matrixx_builtin.hosts.claude_code.adapter.ClaudeCode.answer", answer)

    async def scene(ask: Ask) -> None:
        said = await ask("UserPromptSubmit", prompt="x")
        begun = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "begin"}}
        assert said == (begun if reply == {} else reply if isinstance(reply, dict) else {})

    playing(tmp_path, scene)


@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit", "Stop", "PreCompact", "Notification", "SubagentStop"])
@pytest.mark.parametrize("odd", [{}, {"tool_input": 3, "prompt": None, "session_id": None, "tool_name": ["x"], "cwd": 1}])
def test_odd_payloads_get_an_answer(tmp_path: Path, event: HookEvent, odd: dict[str, Any]) -> None:
    async def scene(ask: Ask) -> None:
        assert "decision" not in await ask(event, **odd)

    playing(tmp_path, scene)


def test_it_works_beside_the_main_thread_and_puts_the_signal_back(tmp_path: Path) -> None:
    async def scene(ask: Ask) -> None:
        assert await ask("Notification", message="m") == {}

    former = signal.getsignal(signal.SIGALRM)

    async def beside() -> None:
        await anyio.to_thread.run_sync(playing, tmp_path, scene)

    anyio.run(beside)
    playing(tmp_path, scene)
    assert signal.getsignal(signal.SIGALRM) == former
