"""Where notes land, what fits, and that a sent byte never changes."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_core import Inject, Transcript, rewrite
from matrixx_core.answers import Priority
from matrixx_core.dispatch import dispatch
from matrixx_core.notes import Note, estimate_tokens, within_budget
from matrixx_core.plan import Plan
from matrixx_core.testing import Rig, session, transcript


def injector(name: str, text: Callable[[], str], **answer: Any) -> ModuleType:
    module = ModuleType(name)

    @rewrite
    def messages_transform(transcript: Transcript) -> Inject:
        return Inject(text(), **answer)

    vars(module)["messages_transform"] = messages_transform
    return module


def rendered(result: Transcript) -> list[list[str]]:
    return [[str(part["text"]) for part in message.parts] for message in result.messages]


def test_the_first_bytes_for_a_message_stay_whatever_the_hook_says_later() -> None:
    ticks = iter(range(100))
    rig = Rig(injector("clock", lambda: f"tick {next(ticks)}"))
    first = rendered(rig.transform("one").event)
    assert first == [["one", "tick 0"]]
    assert rendered(rig.transform("one", "answer").event)[:1] == first
    third = rendered(rig.transform("one", "answer", "two").event)
    assert third == [*first, ["answer"], ["two", "tick 2"]]
    assert rendered(rig.transform("one", "answer", "two").event) == third


@given(st.lists(st.integers(min_value=1, max_value=3), min_size=1, max_size=12))
def test_every_request_begins_with_the_bytes_of_the_one_before(steps: list[int]) -> None:
    ticks = iter(range(1_000))
    rig = Rig(injector("a", lambda: f"a{next(ticks)}"), injector("b", lambda: f"b{next(ticks)}"))
    texts: list[str] = ["user"]
    before: list[list[str]] = []
    for step in steps:
        now = rendered(rig.transform(*texts).event)
        assert now[: len(before)] == before
        before = now
        texts += [f"message {len(texts)}-{index}" for index in range(2 * step)]


def test_a_transcript_without_a_user_message_is_left_as_it_is() -> None:
    rig = Rig(injector("a", lambda: "text"))
    empty = Transcript(session_id="ses_test")
    assert anyio.run(rig.host.messages_transform, empty).event.messages == ()


@pytest.mark.parametrize(
    ("priorities", "budget", "kept"),
    [
        (["normal", "normal"], 100, [0, 1]),
        (["low", "critical"], 2, [1]),
        (["normal", "high", "low"], 4, [0, 1]),
        (["normal"], 0, []),
    ],
)
def test_the_least_important_notes_are_dropped_first(priorities: list[Priority], budget: int, kept: list[int]) -> None:
    notes = [Note(f"p{index}", Inject("123456", priority=priority)) for index, priority in enumerate(priorities)]
    assert within_budget(notes, budget) == [notes[index] for index in kept]


def test_a_dropped_note_is_counted() -> None:
    rig = Rig(injector("a", lambda: "x" * 30_000))
    outcome = rig.transform("one")
    assert (outcome.dropped, outcome.notes) == (1, ())
    assert rendered(outcome.event) == [["one"]]


@given(st.text())
def test_tokens_are_never_counted_below_a_third_of_the_bytes(text: str) -> None:
    assert estimate_tokens(text) * 3 >= len(text.encode("utf-8", "surrogatepass"))


def test_a_user_part_is_never_touched() -> None:
    before = transcript("one", "two", "three")
    after = anyio.run(dispatch, Plan(), before, session()).event
    assert after is before
