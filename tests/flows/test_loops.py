"""Loops end, with every hook installed that would keep a session going, whatever their host does to them (C25, C26, C28)."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from matrixx_builtin.hosts.opencode.adapter import OpenCode
from matrixx_builtin.services import wake
from matrixx_builtin.services.mission import MissionFile
from matrixx_core.errors import ClientError
from matrixx_core.events import Message, added_part, is_added
from matrixx_core.host import Host
from matrixx_core.loading import Plugins, installed, load
from matrixx_core.testing import RecordingClient

SESSION = "ses_1"
LOOP, MISSION, TASKS = "[matrix loop", "[MISSION CONTINUATION]", "[task continuation]"
TODO = {"id": "1", "content": "Sew", "status": "pending", "priority": "high"}
MANY = 20
"""Idle times that a conversation is given: far more than it may use."""


@pytest.fixture(scope="module")
def fleet() -> Plugins:
    return load({name: found.entry.load() for name, found in installed().items()})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The arbiter's clock, which stands still unless told; the event loop has its own."""
    now = [time.monotonic()]
    monkeypatch.setattr(wake, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def text(what: str) -> dict[str, Any]:
    return {"type": "text", "text": what}


class Talk(RecordingClient):
    """OpenCode, as far as hooks see it: it keeps the conversation, and its agent answers each prompt."""

    def __init__(self, answers: Iterator[str | tuple[Any, ...]], refusing: int = 0) -> None:
        super().__init__()
        self.answers, self.refusing = answers, refusing
        self.conversation: list[Message] = []
        self.new: list[Mapping[str, Any]] = []
        self.gone = False

    async def messages(self, session_id: str) -> Sequence[Message]:
        if self.gone:
            raise ClientError(f"there is no session {session_id}")
        return self.conversation

    async def todo(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        if self.gone:
            raise ClientError(f"there is no session {session_id}")
        return self.answer_todo

    async def prompt(self, session_id: str, text: str, *, reply: bool = True, agent: str = "", model: str = "") -> None:
        self.refusing -= 1
        if self.gone or self.refusing >= 0:
            raise ClientError("the host refuses")
        self.new.append(added_part(text))
        self.conversation.append(Message(info={"role": "user"}, parts=(added_part(text),)))


class Story:
    """A session of one host, whose engine may be another one at any time."""

    def __init__(
        self, fleet: Plugins, clock: list[float], directory: Path, answers: Iterator[str | tuple[Any, ...]] | None = None, refusing: int = 0
    ) -> None:
        self.fleet, self.clock, self.directory = fleet, clock, directory
        self.client = Talk(answers or itertools.repeat("I cannot proceed."), refusing)
        self.heads: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Another engine; what the one before it knew is lost."""
        self.opencode = OpenCode(Host(self.fleet, directory=str(self.directory), client=self.client))

    def mission(self) -> None:
        plan = self.directory / ".matrixx" / "plans" / "flag.md"
        plan.parent.mkdir(parents=True)
        plan.write_text("# Flag\n\n- [ ] Sew\n")
        MissionFile(self.directory).start(plan, SESSION, "build")

    async def tell(self, kind: str, session: str = SESSION, **properties: Any) -> None:
        await self.opencode.event({"type": kind, "properties": {"sessionID": session, **properties}})

    async def say(self, *parts: Mapping[str, Any]) -> None:
        """A prompt, and the agent's whole turn for it; nothing of it has an id but its session."""
        output = {"message": {"role": "user", "agent": "build"}, "parts": [dict(part) for part in parts]}
        edits = (await self.opencode.hook("chat.message", {"sessionID": SESSION, "agent": "build"}, output)).edits
        added = [value for path, value in edits if path == ["parts"]]
        await self.tell("session.status", status={"type": "busy"})
        said = tuple(added[0]) if added else tuple(output["parts"])
        if not all(map(is_added, parts)):
            self.client.conversation.append(Message(info={"role": "user"}, parts=said))
        answer = next(self.client.answers)
        reply = (text(answer),) if isinstance(answer, str) else answer
        self.client.conversation.append(Message(info={"role": "assistant"}, parts=reply))

    async def idle(self, reports: int = 2, between: Callable[[], None] = lambda: None) -> bool:
        """The session falls idle, and the prompts that come of it are said; whether there was one, and never more."""
        self.clock[0] += 1.0
        await self.tell("session.status", status={"type": "idle"})
        for _ in range(reports - 1):
            self.clock[0] += 0.1
            between()
            await self.tell("session.idle")
        new, self.client.new = self.client.new, []
        assert len(new) <= 1
        for part in new:
            self.heads.append(next(head for head in (LOOP, MISSION, TASKS, "") if str(part["text"]).startswith(head)))
            await self.say(part)
        return bool(new)

    async def lasts(self, between: Callable[[], None] = lambda: None) -> list[str]:
        """Whose prompts were sent until the session is left alone: without work it does not fall idle again."""
        before = len(self.heads)
        for _ in range(MANY):
            between()
            if not await self.idle():
                return self.heads[before:]
        raise AssertionError(self.heads)

    @property
    def given_up(self) -> int:
        """How often the person was told that nothing changes."""
        return sum(name == "toast" and "Nothing changed" in arguments["message"] for name, arguments in self.client.requests)


Begun = Callable[..., Story]


@pytest.fixture
def begun(fleet: Plugins, clock: list[float], tmp_path: Path) -> Begun:
    return lambda **more: Story(fleet, clock, tmp_path, **more)


LOOPING = '/matrix-loop "Sew" --max-iterations=5'


@pytest.mark.parametrize(
    ("prompt", "mission", "todos", "sent"),
    [
        ("Begin.", False, [], []),
        ("Begin.", False, [TODO], [TASKS] * 3),
        ("Begin.", True, [], [MISSION] * 3),
        ("Begin.", True, [TODO], [MISSION] * 3),
        (LOOPING, False, [], [LOOP] * 3),
        (LOOPING, True, [TODO], [LOOP] * 3),
    ],
)
def test_without_progress_three_prompts_are_the_end(begun: Begun, prompt: str, mission: bool, todos: list[Any], sent: list[str]) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = todos
        if mission:
            story.mission()
        await story.say(text(prompt))
        assert await story.lasts() == sent
        assert story.given_up == bool(sent)

    anyio.run(play)


def test_a_loop_that_gets_on_has_all_of_its_prompts_and_then_the_next_in_line_has_its_turn(begun: Begun) -> None:
    async def play() -> None:
        story = begun(answers=map("Step {}.".format, itertools.count()))
        story.client.answer_todo = [TODO]
        story.mission()
        await story.say(text(LOOPING))
        assert await story.lasts() == [LOOP] * 5 + [MISSION] * 3

    anyio.run(play)


@pytest.mark.parametrize("parts", [(), (text(""),), ({"type": "text"},), ({"type": "step-start"}, {"type": "reasoning", "text": "Hm."})])
def test_an_agent_that_answers_nothing_is_asked_no_more_often(begun: Begun, parts: tuple[Any, ...]) -> None:
    async def play() -> None:
        story = begun(answers=itertools.repeat(parts))
        await story.say(text(LOOPING))
        assert await story.lasts() == [LOOP] * 3

    anyio.run(play)


@pytest.mark.parametrize("properties", [None, [], {}, {"sessionID": ""}, {"sessionID": 7}, {"sessionID": None, "status": {"type": "idle"}}])
@pytest.mark.parametrize("kind", ["session.idle", "session.status", "session.error"])
def test_an_event_that_names_no_session_wakes_none(begun: Begun, caplog: pytest.LogCaptureFixture, kind: str, properties: Any) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = [TODO]
        story.mission()
        await story.say(text(LOOPING))
        await story.opencode.event({"type": kind, "properties": properties})
        assert story.client.new == []

    anyio.run(play)
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize("reports", [1, 2, 3, 4])
def test_however_often_idleness_is_told_within_a_moment_one_prompt_is_sent(begun: Begun, reports: int) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = [TODO]
        await story.say(text("Begin."))
        assert await story.idle(reports)
        assert story.heads == [TASKS]

    anyio.run(play)


def test_prompts_that_the_host_refuses_are_none_without_progress_and_wait_their_time(begun: Begun, clock: list[float]) -> None:
    async def play() -> None:
        story = begun(refusing=4)
        story.client.answer_todo = [TODO]
        await story.say(text("Begin."))
        assert await story.lasts() == []
        assert story.client.refusing == 3
        for left in (2, 1, 0):
            clock[0] += wake.COOLDOWN
            assert not await story.idle()
            assert story.client.refusing == left
        clock[0] += wake.COOLDOWN
        assert await story.lasts() == [TASKS] * 3

    anyio.run(play)


def test_of_a_session_that_is_gone_nothing_is_wanted(begun: Begun, caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = [TODO]
        story.mission()
        await story.say(text(LOOPING))
        story.client.gone = True
        assert await story.lasts() == []
        await story.tell("session.deleted", info={"id": SESSION})
        assert await story.lasts() == []
        await story.tell("session.idle", session="")

    anyio.run(play)
    assert [record for record in caplog.records if record.exc_info] == []


STOPS = [
    lambda story: story.tell("session.error", error={"name": "MessageAbortedError"}),
    lambda story: story.say(text("/stop-continuation")),
]


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("stops", STOPS)
def test_after_an_abort_or_a_stop_nothing_goes_on_until_the_person_writes(
    begun: Begun, stops: Callable[[Story], Any], killed: bool
) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = [TODO]
        story.mission()
        await story.say(text(LOOPING))
        assert await story.idle()
        await stops(story)
        if stops is STOPS[0]:
            story.client.conversation[-1] = Message(info={"role": "assistant", "error": {"name": "MessageAbortedError"}}, parts=())
        if killed:
            story.begin()
        assert await story.lasts() == []
        await story.say(text("Go on."))
        assert await story.lasts() == ([TASKS] if stops is STOPS[1] else [MISSION]) * 3  # a stop ends the mission as well

    anyio.run(play)


@pytest.mark.parametrize("kind", ["question", "permission"])
def test_while_the_person_is_asked_nothing_goes_on(begun: Begun, kind: str) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = [TODO]
        await story.say(text(LOOPING))
        await story.tell(f"{kind}.asked", id="x", permission="unheard-of")
        assert await story.lasts() == []
        await story.tell(f"{kind}.replied", requestID="x")
        assert await story.lasts() == [LOOP] * 3

    anyio.run(play)


@pytest.mark.parametrize("todos", [[TODO], []])
def test_engines_that_do_not_live_long_send_no_prompt_more(begun: Begun, todos: list[Any]) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = todos
        if not todos:
            story.mission()
        await story.say(text("Begin."))
        assert await story.lasts(story.begin) == [TASKS if todos else MISSION] * 3

    anyio.run(play)


def test_an_engine_that_ends_between_two_reports_of_one_idleness_does_not_double_the_prompt(begun: Begun) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = [TODO]
        await story.say(text("Begin."))
        assert await story.idle(between=story.begin)
        assert await story.lasts() == [TASKS] * 2

    anyio.run(play)


def test_a_loop_whose_engines_do_not_live_long_has_no_more_than_its_prompts(begun: Begun, tmp_path: Path) -> None:
    async def play() -> None:
        story = begun()
        await story.say(text(LOOPING))
        assert await story.lasts(story.begin) == [LOOP] * 5

    anyio.run(play)
    assert [*tmp_path.glob(".matrixx/loops/*.json")] == []


def test_a_child_is_not_kept_going_and_keeps_its_parent_waiting(begun: Begun) -> None:
    async def play() -> None:
        story = begun()
        story.client.answer_todo = [TODO]
        await story.say(text("Begin."))
        await story.tell("session.created", session="ses_2", info={"id": "ses_2", "parentID": SESSION})
        assert await story.lasts() == []
        await story.tell("session.idle", session="ses_2")
        assert story.client.new == []
        assert await story.lasts() == [TASKS] * 3

    anyio.run(play)
