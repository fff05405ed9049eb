from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import matrixx_preemptive_compaction as hook
import pytest

from matrixx_builtin.services.tokens import Usage
from matrixx_builtin.services.wake import Wake
from matrixx_core import ChatParams
from matrixx_core.errors import ClientError
from matrixx_core.events import added_part
from matrixx_core.testing import SESSION, RecordingClient, Rig, message

FULL = {"input": 100_000, "output": 1_000, "cache": {"read": 60_000}}


class Refusing(RecordingClient):
    async def summarize(self, session_id: str, provider: str, model: str, *, go_on: bool = False) -> None:
        await super().summarize(session_id, provider, model, go_on=go_on)
        raise ClientError("OpenCode did not answer")


def made(tmp_path: Path, client: RecordingClient | None = None, **settings: Any) -> Rig:
    settings = {"preemptive_compaction": True, **settings}
    return Rig(hook, settings={"preemptive-compaction": settings}, directory=str(tmp_path), client=client or RecordingClient())


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return made(tmp_path)


def answer(rig: Rig, tokens: Any = FULL, **info: Any) -> None:
    """The model has finished an answer."""
    usual = {"role": "assistant", "providerID": "p", "modelID": "m", "finish": "tool-calls", "time": {"completed": 1}}
    rig.event("message.updated", info={**usual, "tokens": tokens, **info})


def compacted(rig: Rig) -> list[Mapping[str, Any]]:
    assert isinstance(rig.client, RecordingClient)
    return [arguments for name, arguments in rig.client.requests if name == "summarize"]


def told(rig: Rig) -> list[str]:
    assert isinstance(rig.client, RecordingClient)
    return [arguments["message"] for name, arguments in rig.client.requests if name == "toast"]


def test_it_is_off_until_asked_for(tmp_path: Path) -> None:
    assert hook.off_because(hook.Config()) and not hook.off_because(hook.Config(preemptive_compaction=True))
    rig = made(tmp_path, preemptive_compaction=False)
    assert "experimental.preemptive_compaction is false" in rig.host.plugins.gates.values()
    answer(rig)
    assert compacted(rig) == []


@pytest.mark.parametrize(("finish", "go_on"), [("tool-calls", True), ("stop", False), ("length", False), (None, False)])
def test_a_full_window_is_summarised_and_work_in_hand_goes_on(rig: Rig, finish: Any, go_on: bool) -> None:
    answer(rig, finish=finish)
    assert compacted(rig) == [{"session_id": SESSION, "provider": "p", "model": "m", "go_on": go_on}]
    assert told(rig) == []


@pytest.mark.parametrize(
    ("tokens", "window", "count"),
    [
        ({"input": 55_000}, 200_000, 0),
        ({"input": 155_999}, 200_000, 0),
        ({"input": 156_000}, 200_000, 1),
        ({"input": 100_000, "output": 56_000}, 200_000, 1),
        ({"input": 6_000, "cache": {"read": 150_000}}, 200_000, 1),
        ({"input": 156_000}, 1_000_000, 0),
        ({"input": 810_000}, 1_000_000, 1),
        ({"input": 100_000}, 128_000, 1),
        ({"input": 300_000}, 200_000, 1),
        ({}, 200_000, 0),
        (None, 200_000, 0),
        ({"input": "many"}, 200_000, 0),
        ({"input": -5}, 200_000, 0),
    ],
)
def test_the_true_count_and_the_true_window_decide(rig: Rig, tokens: Any, window: int, count: int) -> None:
    anyio.run(rig.host.chat_params, ChatParams(session_id=SESSION, context_tokens=window))
    answer(rig, tokens)
    assert len(compacted(rig)) == count


@pytest.mark.parametrize(
    "info",
    [
        {"role": "user"},
        {"summary": True},
        {"time": {}},
        {"time": 5},
        {"error": {"name": "MessageAbortedError"}},
    ],
)
def test_what_is_no_finished_answer_is_left_alone(rig: Rig, info: dict[str, Any]) -> None:
    answer(rig, **info)
    assert compacted(rig) == []


@pytest.mark.parametrize("properties", [{}, {"info": None}, {"info": 5}, {"info": []}, {"info": {}}])
def test_odd_events_are_nothing(rig: Rig, properties: dict[str, Any]) -> None:
    rig.event("message.updated", **properties)
    assert compacted(rig) == []


def test_settings_say_when_with_which_model_and_how_large_the_window_is(tmp_path: Path) -> None:
    rig = made(tmp_path, preemptive_threshold=0.5, preemptive_model="q/large/v2", context_tokens=10_000)
    answer(rig, {"input": 4_999})
    assert compacted(rig) == []
    answer(rig, {"input": 5_000})
    assert [(one["provider"], one["model"]) for one in compacted(rig)] == [("q", "large/v2")]


def test_where_a_summary_saves_nothing_there_is_one_attempt(tmp_path: Path) -> None:
    rig = made(tmp_path, preemptive_cooldown_ms=0)
    for _ in range(5):
        answer(rig)
        rig.event("session.compacted")
    assert len(compacted(rig)) == 1
    assert told(rig) == [
        "161,000 of 200,000 tokens are used, although the conversation was summarised: it is not tried again before you write."
    ]
    for part in (added_part("ours"), {"type": "text", "text": "the host's", "synthetic": True}):
        anyio.run(rig.host.chat_message, message("").model_copy(update={"parts": (part,)}))
        answer(rig)
        assert len(compacted(rig)) == 1, "this is not the person"
    rig.chat("go on")
    answer(rig)
    assert len(compacted(rig)) == 2, "the person has written"


def test_a_window_that_was_emptied_and_is_full_once_more_is_summarised_again(tmp_path: Path) -> None:
    rig = made(tmp_path, preemptive_cooldown_ms=0)
    for _ in range(2):
        answer(rig)
        answer(rig, {"input": 10_000})
    assert len(compacted(rig)) == 2


def test_an_answer_without_a_count_says_nothing_about_a_summary(tmp_path: Path) -> None:
    rig = made(tmp_path, preemptive_cooldown_ms=0)
    answer(rig)
    rig.event("session.compacted")
    answer(rig, None)
    answer(rig)
    assert len(compacted(rig)) == 1
    assert len(told(rig)) == 1


def test_a_summary_that_nobody_of_ours_asked_for_is_no_attempt(rig: Rig) -> None:
    rig.event("session.compacted")
    answer(rig)
    assert len(compacted(rig)) == 1
    assert told(rig) == []


@pytest.mark.parametrize(("finish", "count"), [("tool-calls", 1), ("stop", 0), (None, 0)])
def test_a_sub_agent_is_summarised_in_its_work_but_not_when_it_has_answered(rig: Rig, finish: Any, count: int) -> None:
    rig.event("session.compacted")
    rig.host.sessions[SESSION].parent = "ses_parent"
    answer(rig, finish=finish)
    assert len(compacted(rig)) == count


def test_between_two_attempts_time_must_pass(rig: Rig) -> None:
    answer(rig)
    answer(rig, {"input": 10_000})
    answer(rig)
    assert len(compacted(rig)) == 1
    rig.host.sessions[SESSION].state(hook.Memory).began -= 60
    answer(rig)
    assert len(compacted(rig)) == 2


def test_a_session_that_its_person_stopped_is_not_made_to_go_on(rig: Rig) -> None:
    rig.host.sessions[SESSION].state(Wake).stopped = True
    answer(rig)
    assert compacted(rig) == []


def test_what_cannot_be_summarised_is_told_with_the_count(tmp_path: Path) -> None:
    rig = made(tmp_path, Refusing())
    answer(rig)
    assert told(rig) == ["161,000 of 200,000 tokens are used, and the conversation could not be summarised: OpenCode did not answer"]


def test_a_late_answer_to_what_was_done_is_no_failure(tmp_path: Path) -> None:
    class Late(Refusing):
        async def summarize(self, session_id: str, provider: str, model: str, *, go_on: bool = False) -> None:
            rig.host.sessions[SESSION].state(Usage).tokens = 0  # as session.compacted says
            await super().summarize(session_id, provider, model, go_on=go_on)

    rig = made(tmp_path, Late())
    answer(rig)
    assert len(compacted(rig)) == 1
    assert told(rig) == []
