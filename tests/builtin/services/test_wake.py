"""At most one prompt for each time a session falls idle, and none once nothing changes (C25, C26, C28)."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import anyio
import pytest

from matrixx_builtin.essentials import wake_gates
from matrixx_builtin.hosts.opencode.adapter import OpenCode
from matrixx_builtin.services import wake
from matrixx_builtin.services.wake import Offer, Purpose
from matrixx_core import Session, SessionEvent, rewrite
from matrixx_core.errors import ClientError
from matrixx_core.events import Message, added_part
from matrixx_core.host import Host
from matrixx_core.loading import load
from matrixx_core.testing import RecordingClient


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def offering(name: str, purpose: Purpose, fingerprints: Iterator[str]) -> ModuleType:
    @rewrite(types={"session.idle"})
    def session_event(event: SessionEvent, session: Session) -> None:
        wake.offer(session, Offer(name, purpose, f"{name} says go on", next(fingerprints)))

    module = ModuleType(name)
    vars(module)["session_event"] = session_event
    return module


def same() -> Iterator[str]:
    while True:
        yield "same"


class Story:
    """An OpenCode instance with hooks that offer prompts, and a clock that stands still unless told."""

    def __init__(self, clock: list[float], *plugins: ModuleType, one_shot: bool = False) -> None:
        self.clock, self.client = clock, RecordingClient()
        modules: dict[str, Any] = {one.__name__: one for one in plugins} | {"wake-gates": wake_gates}
        self.opencode = OpenCode(Host(load(modules), client=self.client), one_shot=one_shot)

    def tell(self, kind: str, session: str = "ses_1", **properties: Any) -> None:
        self.clock[0] += 1
        anyio.run(self.opencode.event, {"type": kind, "properties": {"sessionID": session, **properties}})

    def idle(self) -> None:
        self.tell("session.status", status={"type": "idle"})
        self.clock[0] -= 1
        self.tell("session.idle")

    def user_writes(self, **part: Any) -> None:
        self.clock[0] += 1
        output = {"message": {"id": "msg_1"}, "parts": [{"type": "text", "text": "hello", "id": "prt_1", **part}]}
        anyio.run(self.opencode.hook, "chat.message", {"sessionID": "ses_1"}, output)

    @property
    def prompts(self) -> list[str]:
        return [arguments["text"] for name, arguments in self.client.requests if name == "prompt"]

    @property
    def toasts(self) -> list[str]:
        return [arguments["message"] for name, arguments in self.client.requests if name == "toast"]


def test_an_offer_is_sent_once_although_idleness_is_told_twice(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    story.idle()
    assert story.prompts == ["todos says go on"]


def test_of_several_offers_only_the_most_urgent_is_sent(clock: list[float]) -> None:
    story = Story(
        clock, offering("todos", "tasks", same()), offering("repair", "recovery", same()), offering("sitter", "babysitter", same())
    )
    story.idle()
    assert story.prompts == ["repair says go on"]


def test_without_progress_three_prompts_are_the_end_and_the_person_is_told_once(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    for _ in range(10):
        story.idle()
    assert len(story.prompts) == 3
    assert story.toasts == ["Nothing changed after three prompts: this session waits for you."]


def test_the_person_or_progress_starts_the_count_again(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    for _ in range(5):
        story.idle()
    story.user_writes()
    story.idle()
    assert len(story.prompts) == 4
    moving = Story(clock, offering("todos", "tasks", iter(map(str, range(100)))))
    for _ in range(10):
        moving.idle()
    assert len(moving.prompts) == 10


def test_our_own_prompt_is_not_the_person(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    for _ in range(5):
        story.idle()
        story.user_writes(synthetic=True, metadata={"matrixx": True})
    assert len(story.prompts) == 3


@pytest.mark.parametrize(
    ("closing", "opening"),
    [
        (("session.error", {"error": {"name": "MessageAbortedError"}}), None),
        (("question.asked", {"id": "que_1"}), ("question.replied", {"requestID": "que_1"})),
        (("question.asked", {"id": "que_1"}), ("question.rejected", {"requestID": "que_1"})),
        (("permission.asked", {"id": "per_1"}), ("permission.replied", {"requestID": "per_1"})),
    ],
)
def test_a_closed_gate_lets_nothing_through(clock: list[float], closing: tuple[str, Any], opening: tuple[str, Any] | None) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    story.tell(closing[0], **closing[1])
    story.idle()
    assert story.prompts == []
    if opening:
        story.tell(opening[0], **opening[1])
    else:
        story.user_writes()
    story.idle()
    assert len(story.prompts) == 1


def test_an_abort_of_our_own_is_told_to_no_hook_and_the_persons_next_one_is(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    session = story.opencode.host.sessions["ses_1"]
    anyio.run(wake.interrupt, session, story.client)
    story.tell("session.error", error={"name": "APIError"})
    story.tell("session.error", error={"name": "MessageAbortedError"})
    assert not session.state(wake.Wake).stopped
    story.tell("session.error", error={"name": "MessageAbortedError"})
    assert session.state(wake.Wake).stopped


def test_a_running_child_keeps_its_parent_asleep(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    story.tell("session.created", session="ses_2", info={"id": "ses_2", "parentID": "ses_1"})
    story.idle()
    assert story.prompts == []
    story.tell("session.deleted", session="ses_2")
    story.idle()
    assert len(story.prompts) == 1


def test_a_child_that_works_again_keeps_its_parent_asleep_again(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))

    def prompted() -> bool:
        before = len(story.prompts)
        story.idle()
        return len(story.prompts) > before

    story.tell("session.created", session="ses_2", info={"id": "ses_2", "parentID": "ses_1"})
    story.tell("session.idle", session="ses_2")
    story.tell("session.status", session="ses_2", status={"type": "busy"})
    assert not prompted()
    story.tell("session.idle", session="ses_2")
    assert prompted()


def test_an_engine_that_begins_in_the_middle_asks_once_whose_child_a_session_is(clock: list[float]) -> None:
    story = Story(clock)
    story.client.answer_sessions = [{"id": "ses_1"}, {"id": "ses_2", "parentID": "ses_1"}]
    for _ in range(2):
        story.tell("session.idle", session="ses_2")
    assert story.opencode.host.sessions["ses_2"].parent == "ses_1"
    assert story.client.requests == [("sessions", {"parent": ""})]


def test_stopping_drops_what_was_offered(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    wake.stop(story.opencode.host.sessions["ses_1"])
    story.idle()
    assert story.prompts == []


def test_a_refused_prompt_starts_a_cool_down(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(clock, offering("todos", "tasks", iter(map(str, range(100)))))
    tries: list[str] = []

    async def refuses(session_id: str, text: str, **more: Any) -> None:
        tries.append(text)
        raise ClientError("no")

    monkeypatch.setattr(story.client, "prompt", refuses)
    story.idle()
    story.idle()
    assert len(tries) == 1
    clock[0] += wake.COOLDOWN
    story.idle()
    assert len(tries) == 2


def test_while_a_prompt_is_under_way_no_other_is_decided(clock: list[float]) -> None:
    session = Session("s")
    wake.offer(session, Offer("a", "loop", "x"))
    assert wake.decide(session) is not None
    wake.offer(session, Offer("b", "recovery", "y"))
    assert (wake.decide(session), wake.closed_gate(session)) == (None, "a prompt is under way")


def test_a_one_shot_run_ends_when_it_is_idle_so_nothing_is_sent_to_it(clock: list[float]) -> None:
    fingerprints = iter("ab")
    story = Story(clock, offering("todos", "tasks", fingerprints), one_shot=True)
    story.idle()
    assert next(fingerprints) == "b"  # its hooks were told
    assert story.client.requests == []


def test_a_short_piece_of_work_between_two_reports_of_idleness_makes_them_two(clock: list[float]) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    for _ in range(2):
        story.idle()
        clock[0] -= 1
        story.tell("session.status", status={"type": "busy"})
        clock[0] -= 1
    assert len(story.prompts) == 2


def said(role: str, *texts: str, ours: bool = False, error: str = "") -> Message:
    parts = [added_part(text) if ours else {"type": "text", "text": text} for text in texts]
    return Message(info={"role": role, **({"error": {"name": error}} if error else {})}, parts=tuple(parts))


PERSON, ANSWER = said("user", "begin"), said("assistant", "no")
OURS = said("user", "todos says go on", ours=True)
ANOTHER = said("user", "another text", ours=True)
STOP = Message(info={"role": "user"}, parts=({"type": "text", "text": "/stop-continuation"}, added_part(f"{wake.STOPPED} The user ...")))


@pytest.mark.parametrize(
    ("before", "prompts"),
    [
        ([], 3),
        ([PERSON, ANSWER], 3),
        ([PERSON, ANSWER, OURS, ANSWER], 2),
        ([PERSON, ANSWER, OURS, ANSWER, OURS, ANSWER, OURS, ANSWER], 0),
        ([PERSON, ANSWER, OURS, ANSWER, OURS, ANSWER, OURS, ANSWER, PERSON, ANSWER], 3),
        ([PERSON, ANSWER, OURS, ANSWER, ANOTHER, ANSWER], 3),
        ([PERSON, said("assistant", error="MessageAbortedError")], 0),
        ([PERSON, said("assistant", error="MessageAbortedError"), PERSON, ANSWER], 3),
        ([PERSON, said("assistant", error="MessageAbortedError"), OURS, ANSWER], 2),
        ([PERSON, said("assistant", error="APIError")], 3),
        ([STOP, ANSWER], 0),
        ([STOP, ANSWER, PERSON, ANSWER], 3),
    ],
)
def test_an_engine_that_begins_in_the_middle_knows_what_was_sent_and_what_was_stopped(
    clock: list[float], before: list[Message], prompts: int
) -> None:
    story = Story(clock, offering("todos", "tasks", same()))
    story.client.answer_messages = before
    for _ in range(6):
        story.idle()
    assert len(story.prompts) == prompts


def test_a_refused_prompt_is_none_without_progress(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(clock, offering("todos", "tasks", same()))

    async def refuses(session_id: str, text: str, **more: Any) -> None:
        raise ClientError("no")

    with monkeypatch.context() as patch:
        patch.setattr(story.client, "prompt", refuses)
        for _ in range(5):
            story.idle()
            clock[0] += wake.COOLDOWN
    for _ in range(5):
        story.idle()
    assert len(story.prompts) == 3
