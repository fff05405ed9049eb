"""Who goes on when a session falls idle, with every hook on: one of them, once, and none after a stop (spec session-hooks J and K, C32)."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from matrixx_builtin.hosts.opencode.adapter import OpenCode
from matrixx_builtin.hosts.opencode.translate import apply
from matrixx_builtin.services import wake
from matrixx_builtin.services.background import Order, manager
from matrixx_builtin.services.mission import MissionFile
from matrixx_core.events import Message, Part, added_part
from matrixx_core.host import Host
from matrixx_core.loading import installed, load
from matrixx_core.settings import Settings
from matrixx_core.testing import RecordingClient

from .conversation import EVERYTHING, SESSION

ORDER = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
BODY = f'{{"type":"error","error":{{"type":"invalid_request_error","message":"{ORDER}"}}}}'
ABORTED = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
DOWN = {"name": "APIError", "data": {"message": "Service Unavailable", "statusCode": 503}}
REFUSED = {"name": "APIError", "data": {"message": ORDER, "statusCode": 400}}
FULL = {"name": "APIError", "data": {"message": "prompt is too long: 250000 tokens > 200000 maximum", "statusCode": 400}}


class Stage:
    """A main session in OpenCode, idle, with a task that is open."""

    def __init__(self, project: Path) -> None:
        given = Settings.of(EVERYTHING)
        self.client = RecordingClient(
            answer_todo=[{"content": "Sew the flag", "status": "pending"}],
            answer_agents=[{"name": "build"}, {"name": "architect"}, {"name": "general"}],
            answer_sessions=[{"id": SESSION}],
        )
        plugins = load({name: found.entry.load() for name, found in installed().items()}, given)
        self.host = Host(plugins, settings=given, directory=str(project), client=self.client)
        self.opencode = OpenCode(self.host)

    async def says(self, text: str) -> list[Part]:
        """The person writes; what is sent of it."""
        return await self._prompted({"type": "text", "text": text})

    async def is_woken(self) -> list[Part]:
        """The host takes the prompt that was sent; what the model reads of it."""
        return await self._prompted(added_part(self.woken()[-1]))

    async def tell(self, kind: str, session: str = SESSION, **properties: Any) -> None:
        await self.opencode.event({"type": kind, "properties": {"sessionID": session, **properties}})

    async def fails(self, error: dict[str, Any]) -> None:
        self.client.answer_messages = (
            Message(info={"id": "msg_1", "role": "user"}, parts=({"type": "text", "text": "go"},)),
            Message(info={"id": "msg_2", "role": "assistant", "error": error, "providerID": "anthropic", "modelID": "claude"}),
        )
        await self.tell("session.error", error=error)

    async def idle(self) -> list[str]:
        """It has worked and falls idle, which OpenCode tells in two ways; the prompts that are sent then."""
        before = len(self.woken())
        await self.tell("session.status", status={"type": "busy"})
        await self.falls_idle()
        return self.woken()[before:]

    async def falls_idle(self) -> None:
        await self.tell("session.status", status={"type": "idle"})
        await self.tell("session.idle")

    def woken(self) -> list[str]:
        """Every prompt that the session was sent."""
        return [one["text"] for one in self.asked("prompt") if one["session_id"] == SESSION]

    def asked(self, method: str) -> list[dict[str, Any]]:
        return [arguments for name, arguments in self.client.requests if name == method]

    async def _prompted(self, part: Part) -> list[Part]:
        info = {"id": "msg_1", "role": "user", "sessionID": SESSION, "agent": self.host.sessions[SESSION].agent or "build"}
        sent = {"message": info, "parts": [{"id": "prt_1", "sessionID": SESSION, "messageID": "msg_1", **part}]}
        sent = apply(sent, (await self.opencode.hook("chat.message", {"sessionID": SESSION}, sent)).edits)
        request = {"messages": [{"info": sent["message"], "parts": sent["parts"]}]}
        await self.opencode.hook("experimental.chat.messages.transform", {}, request)
        return list(sent["parts"])


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(wake, "SAME_IDLE", 600.0)  # a slow machine tells the same idleness twice as well
    project = tmp_path / "project"
    (project / "lore").mkdir(parents=True)
    (project / ".matrixx/plans").mkdir(parents=True)
    (project / ".matrixx/plans/flag.md").write_text("- [x] Buy cloth\n- [ ] Sew it\n")
    return Stage(project)


def play(stage: Stage, story: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        try:
            await story()
        finally:
            await stage.host.sessions.close()

    anyio.run(whole)


@pytest.mark.parametrize(
    ("error", "begins"), [({}, "[matrix loop"), (DOWN, "[runtime fallback]"), (REFUSED, "[session recovery]"), (ABORTED, "")]
)
def test_of_all_that_would_go_on_the_most_urgent_does_and_once(
    stage: Stage, error: dict[str, Any], begins: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: set[str] = set()
    offer = wake.offer

    def noted(session: Any, one: wake.Offer) -> None:
        offered.add(one.source)
        offer(session, one)

    async def story() -> None:
        await stage.says("/start-work flag")
        await stage.says("/matrix-loop Sew it.")
        if error:
            await stage.fails(error)
        prompts = await stage.idle()
        assert [text.startswith(begins) for text in prompts] == [True] * bool(begins), prompts
        await stage.falls_idle()
        assert stage.woken() == prompts

    monkeypatch.setattr(wake, "offer", noted)
    play(stage, story)
    assert len(offered) >= (3 if begins else 0), offered


def test_a_prompt_of_ours_ends_no_stop_of_the_persons(stage: Stage) -> None:
    async def story() -> None:
        await stage.says("Sew the flag.")
        assert len(await stage.idle()) == 1
        await stage.says("/stop-continuation")
        assert await stage.idle() == []
        await stage.is_woken()
        assert await stage.idle() == []
        await stage.says("Go on.")
        assert len(await stage.idle()) == 1

    play(stage, story)


def test_an_abort_of_our_own_for_another_model_stops_nobody_else(stage: Stage) -> None:
    async def story() -> None:
        await stage.says("Sew the flag.")
        await stage.tell("session.status", status={"type": "retry", "attempt": 9, "message": "Service Unavailable", "next": 0})
        await stage.host.sessions[SESSION].settled()
        assert stage.asked("abort") == [{"session_id": SESSION}]
        await stage.tell("session.error", error=ABORTED)
        await stage.falls_idle()
        [fallback] = stage.asked("prompt")
        assert fallback["model"] == "scripted/spare"
        await stage.is_woken()
        assert [text.startswith("[task continuation]") for text in await stage.idle()] == [True]

    play(stage, story)


@pytest.mark.parametrize("parent_works", [True, False])
def test_work_that_ends_in_the_background_wakes_its_session_once(stage: Stage, parent_works: bool) -> None:
    async def story() -> None:
        await stage.says("Have it sewn.")
        work = await manager(stage.client).launch(stage.host.sessions[SESSION], stage.client, Order("general", "Sew.", "Sew"))
        await stage.tell("session.created", work.session, info={"id": work.session, "parentID": SESSION})
        await stage.tell("session.status", status={"type": "busy"})
        if not parent_works:
            await stage.falls_idle()
        assert stage.woken() == []
        stage.client.answer_messages = (Message(info={"role": "assistant"}, parts=({"type": "text", "text": "sewn"},)),)
        await stage.tell("session.idle", work.session)
        if parent_works:
            await stage.falls_idle()
        assert len(stage.woken()) == 1
        said = await stage.is_woken()
        assert ["Background work is over" in part["text"] for part in said].count(True) == 1
        assert [text.startswith("[task continuation]") for text in await stage.idle()] == [True]

    play(stage, story)


def test_work_is_begun_although_the_prompt_asks_for_more(stage: Stage, tmp_path: Path) -> None:
    async def story() -> None:
        parts = await stage.says("/start-work flag ultrawork")
        assert parts[0]["text"] == "/start-work flag ultrawork"
        assert any("Plan: flag (SELECTED" in part["text"] for part in parts)
        assert stage.host.sessions[SESSION].agent == "architect"

    play(stage, story)
    mission = MissionFile(tmp_path / "project").read()
    assert mission is not None and mission.plan_name == "flag"


@pytest.mark.parametrize(
    "said",
    [
        ORDER,
        f"litellm.BadRequestError: AnthropicException - {BODY}",
        f"An error occurred (ValidationException) when calling the InvokeModelWithResponseStream operation: {ORDER}",
        f'{{"error":{{"code":400,"message":{BODY!r},"status":"INVALID_ARGUMENT"}}}}',
    ],
)
def test_misplaced_thinking_is_repaired_and_never_summarised_away(stage: Stage, said: str) -> None:
    async def story() -> None:
        await stage.says("Sew the flag.")
        await stage.fails({"name": "APIError", "data": {"message": said, "statusCode": 400}})
        assert [text.startswith("[session recovery]") for text in await stage.idle()] == [True]
        assert stage.asked("summarize") == []

    play(stage, story)


def test_a_full_window_is_what_a_summary_is_for(stage: Stage) -> None:
    """Without it the test above proves nothing."""

    async def story() -> None:
        await stage.says("Sew the flag.")
        await stage.fails(FULL)
        await stage.idle()
        await stage.host.sessions[SESSION].settled()
        assert len(stage.asked("summarize")) == 1

    play(stage, story)
