from typing import Any

import pytest

from matrixx_builtin.services import tokens
from matrixx_core.events import ChatParams, SessionEvent
from matrixx_core.testing import SESSION, session


def updated(**info: Any) -> SessionEvent:
    base = {
        "role": "assistant",
        "time": {"created": 1, "completed": 2},
        "tokens": {"input": 100, "output": 10, "cache": {"read": 40, "write": 50}},
    }
    return SessionEvent(session_id=SESSION, type="message.updated", properties={"info": {**base, **info}})


def test_a_finished_answer_tells_how_full_the_window_is() -> None:
    open_session = session()
    tokens.learn(open_session, updated())
    assert tokens.remaining(open_session, 1_000) == 800


@pytest.mark.parametrize(
    "event",
    [
        updated(role="user"),
        updated(time={"created": 1}),
        updated(time="yesterday"),
        updated(tokens=None),
        updated(tokens={"input": "many", "output": True, "cache": []}),
        updated(tokens={"input": -5, "output": float("nan"), "cache": {"read": float("inf")}}),
        SessionEvent(session_id=SESSION, type="message.updated", properties={}),
        SessionEvent(session_id=SESSION, type="message.updated", properties={"info": ["x"]}),
    ],
)
def test_anything_else_tells_nothing(event: SessionEvent) -> None:
    open_session = session()
    tokens.learn(open_session, event)
    assert tokens.remaining(open_session) is None


def test_a_later_answer_without_numbers_leaves_the_last_known_ones() -> None:
    open_session = session()
    tokens.learn(open_session, updated())
    tokens.learn(open_session, updated(tokens={}))
    assert tokens.remaining(open_session, 1_000) == 800


def test_more_than_the_window_means_that_the_window_is_not_known() -> None:
    open_session = session()
    tokens.learn(open_session, updated(tokens={"input": 300_000}))
    assert tokens.remaining(open_session) is None
    assert tokens.remaining(open_session, 400_000) == 100_000


@pytest.mark.parametrize("name", tokens.WIDE)
def test_the_environment_may_say_that_the_window_is_wide(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for one in tokens.WIDE:
        monkeypatch.delenv(one, raising=False)
    assert tokens.usual_window() == 200_000
    monkeypatch.setenv(name, "true")
    assert tokens.usual_window() == 1_000_000


def test_the_hosts_word_on_the_window_counts_unless_settings_say_another() -> None:
    open_session = session()
    tokens.learn(open_session, updated())
    tokens.learn_window(open_session, ChatParams(session_id="s", context_tokens=10_000))
    tokens.learn_window(open_session, ChatParams(session_id="s"))
    assert tokens.remaining(open_session) == 9_800
    assert tokens.remaining(open_session, 1_000) == 800
