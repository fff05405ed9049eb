from copy import deepcopy
from typing import Any

import matrixx_thinking_block_validator as hook
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_core import Transcript
from matrixx_core.events import Message
from matrixx_core.testing import Rig

CONFIG = hook.Config(enabled=True)
CLAUDE = {"providerID": "anthropic", "modelID": "Claude-Sonnet-4"}
PARTS: dict[str, dict[str, Any]] = {
    "R": {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "s"}}},
    "r": {"type": "redacted_thinking", "data": "x"},
    "T": {"type": "text", "text": "said"},
    "_": {"type": "text", "text": " \n"},
    "C": {"type": "tool", "callID": "a", "state": {"status": "completed", "output": "x"}},
    "|": {"type": "step-start"},
    ".": {"type": "step-finish"},
    "?": {"type": ["odd"], "text": 5},
}


def transcript(shape: str, *, role: str = "assistant", model: Any = CLAUDE) -> Transcript:
    person = Message(info={"id": "msg_0", "role": "user", "model": model}, parts=(PARTS["T"],))
    answer = Message(
        info={"id": "msg_1", "role": role, "model": model}, parts=tuple({**PARTS[one], "n": place} for place, one in enumerate(shape))
    )
    return Transcript(session_id="ses", messages=(person, answer))


def told(given_one: Transcript) -> Transcript:
    before = deepcopy(given_one)
    answer = hook.messages_transform(given_one, CONFIG)
    assert given_one == before
    return answer or given_one


def shape(given_one: Transcript) -> str:
    names = [(part.get("type"), part.get("text"), name) for name, part in PARTS.items()]
    return "".join(
        next(name for kind, text, name in names if (kind, text) == (part.get("type"), part.get("text")))
        for part in given_one.messages[1].parts
    )


@pytest.mark.parametrize("same", ["", "T", "RT", "RC", "rRTC", "|RT.", "|RTRC.|RT.", "C", "|C.|T.", "_RT", "RTC_", "|_RC.", "?T", "RT?"])
def test_what_is_in_order_is_left_alone(same: str) -> None:
    assert hook.messages_transform(transcript(same), CONFIG) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("R", ""),
        ("|R.", "|."),
        ("RTR", "RT"),
        ("|RT.|RrR.", "|RT.|."),
        ("RTR_", "RT_"),
        ("TRC", "RTC"),
        ("|TRC.|RT.", "|RTC.|RT."),
        ("|RT.|TCRT.", "|RT.|RTCT."),
        ("_TRC", "_RTC"),
        ("TR", "T"),
    ],
)
def test_thinking_at_the_end_goes_and_thinking_after_the_first_word_moves_before_it(before: str, after: str) -> None:
    assert shape(told(transcript(before))) == after


@pytest.mark.parametrize("model", [None, "claude", {}, {"providerID": "openai", "modelID": "gpt-5"}, {"modelID": 5}])
def test_other_models_are_not_touched(model: Any) -> None:
    assert hook.messages_transform(transcript("TRC", model=model), CONFIG) is None


def test_what_the_person_said_is_not_touched() -> None:
    assert hook.messages_transform(transcript("TRC", role="user"), CONFIG) is None
    assert hook.messages_transform(Transcript(session_id="ses"), CONFIG) is None


def test_it_is_off_unless_switched_on() -> None:
    assert hook.off_because(hook.Config())
    assert not hook.off_because(CONFIG)
    assert "messages_transform" not in Rig(hook).host.plans or not Rig(hook).host.plans["messages_transform"].steps


def needs_order(shape_: str) -> bool:
    """Whether a step ends with thinking, or thinks but not first; blank text is nothing."""
    steps = ["".join(one for one in step if one in "RrTC") for step in shape_.split("|")]
    return any(step and (step[-1] in "Rr" or (step[0] not in "Rr" and ("R" in step or "r" in step))) for step in steps)


@given(st.text("RrTC_|.?", max_size=12))
def test_afterwards_all_is_in_order_and_nothing_is_made_up(before: str) -> None:
    given_one = transcript(before)
    after = told(given_one)
    assert not needs_order(shape(after))
    assert needs_order(before) == (after is not given_one)
    assert told(after) is after
    parts = list(given_one.messages[1].parts)
    assert all(part in parts for part in after.messages[1].parts)
    assert len({part["n"] for part in after.messages[1].parts}) == len(after.messages[1].parts)
    words = [part for part in parts if part["type"] not in ("reasoning", "redacted_thinking")]
    assert [part for part in after.messages[1].parts if part["type"] not in ("reasoning", "redacted_thinking")] == words
