from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import anyio.lowlevel
import matrixx_background_tools as hook
import pytest

from matrixx_builtin.services.background import UsedModel, manager
from matrixx_core import Block, Compaction, SessionEvent, ToolCall, ToolDefinition, ToolError, ToolOutput, guard
from matrixx_core.client import NoClient
from matrixx_core.events import Message
from matrixx_core.testing import SESSION, RecordingClient, Rig, call, plugin_name

ASKED: dict[str, Any] = {"description": "Count", "prompt": "Count the files.", "subagent_type": "general", "run_in_background": True}


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return made(tmp_path)


def made(folder: Path, *more: Any, **settings: Any) -> Rig:
    client = RecordingClient(answer_agents=[{"name": "general"}])
    return Rig(hook, *more, settings={plugin_name(hook): settings}, directory=str(folder), client=client)


def asked(rig: Rig, method: str) -> list[dict[str, Any]]:
    assert isinstance(rig.client, RecordingClient)
    return [arguments for name, arguments in rig.client.requests if name == method]


def use(rig: Rig, name: str, **args: Any) -> str:
    async def run() -> ToolOutput:
        return await rig.host.call_tool(call(name, **args))

    return anyio.run(run).output


def launched(rig: Rig, **changes: Any) -> str:
    outcome = rig.before("task", **{**ASKED, **changes})
    assert outcome.block is not None
    assert "background as bg_" in outcome.block.reason
    return list(manager(rig.client).works)[-1]


def finish(rig: Rig, text: str = "There are 42.") -> None:
    assert isinstance(rig.client, RecordingClient)
    rig.client.answer_messages = (Message(info={"role": "assistant"}, parts=({"type": "text", "text": text},)),)
    for work in manager(rig.client).works.values():
        event = SessionEvent(session_id=work.session, type="session.idle")
        anyio.run(rig.host.session_event, event)


def test_a_call_for_the_background_becomes_a_child_session_and_says_so(rig: Rig) -> None:
    outcome = rig.before("task", **ASKED)
    [work] = manager(rig.client).works.values()
    for told in (f"started in the background as {work.id}", "no failure", f'background_output(task_id="{work.id}")', "Do not poll"):
        assert told in outcome.refusal
    [prompt] = asked(rig, "prompt")
    assert (prompt["session_id"], prompt["text"], prompt["agent"]) == (work.session, "Count the files.", "general")


@pytest.mark.parametrize("flag", [False, None, "false", "", 0, 2, [], {}])
def test_a_call_for_now_is_left_alone(rig: Rig, flag: Any) -> None:
    outcome = rig.before("task", **{**ASKED, "run_in_background": flag})
    assert (outcome.block, outcome.event.args["run_in_background"], asked(rig, "create_session")) == (None, flag, [])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"subagent_type": "nobody"}, "there is no agent 'nobody'; there are general"),
        ({"subagent_type": ""}, "needs subagent_type and prompt"),
        ({"subagent_type": None}, "needs subagent_type and prompt"),
        ({"prompt": "  "}, "needs subagent_type and prompt"),
        ({"task_id": "ses_old"}, "cannot be resumed"),
        ({"subagent_type": ["x"]}, "there is no agent"),
        ({"subagent_type": "\ud800"}, "there is no agent"),
    ],
)
def test_what_cannot_be_started_is_told(rig: Rig, changes: Mapping[str, Any], told: str) -> None:
    block = rig.before("task", **{**ASKED, **changes}).block
    assert block is not None
    assert told in block.reason
    assert asked(rig, "create_session") == []


def guarding(tool: str) -> ModuleType:
    @guard
    async def tool_execute_before(call: ToolCall) -> Block | None:
        await anyio.lowlevel.checkpoint()
        return Block("it holds a secret") if call.tool == tool else None

    module = ModuleType("matrixx_nosy")
    vars(module)["tool_execute_before"] = tool_execute_before
    return module


def test_what_another_guard_stops_is_never_started(tmp_path: Path) -> None:
    rig = made(tmp_path, guarding("task"))
    assert rig.before("task", **ASKED).blocked_by == "nosy"
    assert asked(rig, "create_session") == []


def test_a_host_without_child_sessions_does_what_it_always_does(tmp_path: Path) -> None:
    rig = Rig(hook, directory=str(tmp_path), client=NoClient())
    outcome = rig.before("task", **ASKED)
    assert (outcome.block, outcome.event.args) == (None, ASKED)
    for name, args in (("background_list", {}), ("background_output", {"task_id": "bg_00000000"}), ("background_cancel", {"task_id": "x"})):
        with pytest.raises(ToolError, match="this host has no child sessions"):
            use(rig, name, **args)


def test_the_model_is_told_of_the_flag(rig: Rig) -> None:
    def told(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        definition = ToolDefinition(session_id="", tool="task", description="d", parameters=parameters)
        return anyio.run(rig.host.tool_definition, definition).event.parameters

    shown = told({"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]})
    assert list(shown["properties"]) == ["prompt", "run_in_background"]
    assert shown["required"] == ["prompt"]
    odd: list[dict[str, Any]] = [{}, {"properties": None}, {"properties": []}]
    assert [told(one) for one in odd] == odd


def test_an_answer_is_fetched_once_it_is_there(rig: Rig) -> None:
    work = launched(rig)
    assert use(rig, "background_output", task_id=work).endswith(": running")
    finish(rig)
    answer = use(rig, "background_output", task_id=work)
    assert "completed" in answer
    assert answer.endswith("\n\nThere are 42.")
    assert use(rig, "background_list") == answer.partition("\n")[0]


def test_waiting_ends_with_the_work(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "LOOK", 0.001)
    work = launched(rig)

    async def both() -> ToolOutput:
        answers: list[ToolOutput] = []
        async with anyio.create_task_group() as group:

            async def wait() -> None:
                answers.append(await rig.host.call_tool(call("background_output", task_id=work, wait=600)))

            group.start_soon(wait)
            await anyio.sleep(0.01)
            assert answers == []
            await manager(rig.client).cancel(manager(rig.client).of(SESSION), rig.client, "enough")
        return answers[0]

    assert "cancelled after 0 s: enough" in anyio.run(both).output


def test_an_answer_survives_the_engine(rig: Rig, tmp_path: Path) -> None:
    done = launched(rig)
    finish(rig)
    lost = launched(rig)
    again = made(tmp_path)
    assert isinstance(again.client, RecordingClient)
    again.client.answer_messages = (Message(info={"role": "assistant"}, parts=({"type": "text", "text": "There are 42."},)),)
    assert use(again, "background_output", task_id=done).endswith("There are 42.")
    assert "error after 0 s: lost" in use(again, "background_output", task_id=lost)
    assert use(again, "background_cancel", all=True) == "Nothing of it is under way."


def test_work_is_cancelled_by_its_own_session_only(rig: Rig) -> None:
    work = launched(rig)
    foreign = ToolCall(session_id="ses_other", call_id="c", tool="background_cancel", args={"task_id": work})
    with pytest.raises(ToolError, match="no background work"):
        anyio.run(rig.host.call_tool, foreign)
    assert "cancelled" in use(rig, "background_cancel", task_id=work)
    assert use(rig, "background_cancel", task_id=work) == "Nothing of it is under way."
    assert [one["session_id"] for one in asked(rig, "abort")] == ["ses_child_1"]


def test_all_of_a_sessions_work_is_cancelled_at_once(rig: Rig) -> None:
    works = {launched(rig) for _ in range(7)}
    assert len(use(rig, "background_cancel", all=True).splitlines()) == len(works) == 7
    assert len(asked(rig, "abort")) == 5


@pytest.mark.parametrize("task_id", ["", "bg_", "bg_ffffffff", "../../etc/passwd", "\ud800", "\0"])
def test_unknown_work_is_told(rig: Rig, task_id: str) -> None:
    for name in ("background_output", "background_cancel"):
        with pytest.raises(ToolError, match="background_list shows"):
            use(rig, name, task_id=task_id)


def test_the_limits_are_those_of_the_settings(tmp_path: Path) -> None:
    rig = made(tmp_path, defaultConcurrency=1)
    first, second = launched(rig), rig.before("task", **ASKED)
    assert "queued in the background" in second.refusal
    assert use(rig, "background_list").splitlines()[0].startswith(first)
    assert use(rig, "background_list").endswith("pending")


def test_a_child_in_circles_is_stopped_at_the_next_event(rig: Rig) -> None:
    work = launched(rig)
    for _ in range(20):
        anyio.run(rig.host.tool_execute_before, ToolCall(session_id="ses_child_1", call_id="c", tool="read", args={"filePath": "a"}))
    rig.event("session.status", status={"type": "busy"})
    assert "cancelled after 0 s: it called 'read' 20 times in a row" in use(rig, "background_output", task_id=work)


def test_the_model_of_the_session_is_learnt(rig: Rig) -> None:
    rig.chat("hello", provider="p", model="m")
    assert rig.host.sessions[SESSION].state(UsedModel).name == "p/m"
    launched(rig)
    assert asked(rig, "prompt")[-1]["model"] == "p/m"


def test_a_summary_keeps_the_ids(rig: Rig) -> None:
    empty = anyio.run(rig.host.session_compacting, Compaction(session_id=SESSION))
    work = launched(rig)
    kept = anyio.run(rig.host.session_compacting, Compaction(session_id=SESSION))
    assert empty.event.context == ()
    assert f"- {work} 'Count' (general): running" in kept.event.context[0]


def test_the_end_of_the_engine_is_written_down(rig: Rig, tmp_path: Path) -> None:
    work = launched(rig)
    hook.host_closed(rig.host)
    assert '"status": "cancelled"' in (tmp_path / ".matrixx" / "bg-handles" / f"{work}.json").read_text()
