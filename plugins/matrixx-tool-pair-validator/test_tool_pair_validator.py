from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import matrixx_tool_pair_validator as hook
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_core import Transcript
from matrixx_core.events import Message

Made = tuple[str, tuple[Mapping[str, Any], ...]]

IDS = ["toolu_01A", "toolu_vrtx_9", "call_1", "callabc", "functions.read:6", "call_main_1_2", "é\ud800"]


def transcript(*messages: Made) -> Transcript:
    made = tuple(
        Message(info={"id": f"msg_{place}", "role": role, "sessionID": "ses"}, parts=parts) for place, (role, parts) in enumerate(messages)
    )
    return Transcript(session_id="ses", messages=made)


def told(given: Transcript) -> Transcript:
    """What the model reads, told from a copy; the event itself must stay as it was."""
    before = deepcopy(given)
    answer = hook.messages_transform(given)
    assert given == before
    assert answer is None or answer != given
    return answer or given


def use(identity: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "read", "input": {}}


def result(identity: Any, content: Any = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def tool(identity: Any, output: Any = "done", status: str = "completed") -> dict[str, Any]:
    said = {"completed": "output", "error": "error"}.get(status, "raw")
    return {
        "type": "tool",
        "callID": identity,
        "tool": "read",
        "state": {"status": status, "input": {"a": 1}, said: output, "time": {"start": 1, "end": 2}},
    }


def shape(given: Transcript) -> list[tuple[str, list[str]]]:
    return [(message.role, [_shape(part) for part in message.parts]) for message in given.messages]


def _shape(part: Mapping[str, Any]) -> str:
    identity = part.get("id") or part.get("tool_use_id") or part.get("callID") or ""
    return f"{part['type']} {identity}{' missing' if part.get('content') == hook.INTERRUPTED else ''}".strip()


PLACEHOLDER_CASES: list[tuple[list[Made], list[tuple[str, list[str]]]]] = [
    ([("assistant", (use("a"),)), ("user", (text("hi"),))], [("assistant", ["tool_use a"]), ("user", ["tool_result a missing", "text"])]),
    ([("assistant", (use("a"),))], [("assistant", ["tool_use a"]), ("user", ["tool_result a missing"])]),
    (
        [("assistant", (use("a"),)), ("assistant", (text("x"),))],
        [("assistant", ["tool_use a"]), ("user", ["tool_result a missing"]), ("assistant", ["text"])],
    ),
    (
        [("assistant", (use("a"), use("b"))), ("user", (result("a"), text("hi")))],
        [("assistant", ["tool_use a", "tool_use b"]), ("user", ["tool_result a", "tool_result b missing", "text"])],
    ),
    (
        [("assistant", (use("a"), use("b"))), ("user", (result("b"), result("a")))],
        [("assistant", ["tool_use a", "tool_use b"]), ("user", ["tool_result a", "tool_result b"])],
    ),
    (
        [("assistant", (use("a"),)), ("user", (text("wait"),)), ("assistant", (text("ok"),)), ("user", (result("a"),))],
        [("assistant", ["tool_use a"]), ("user", ["tool_result a", "text"]), ("assistant", ["text"]), ("user", [])],
    ),
    ([("user", (result("gone", "what it said"), text("hi")))], [("user", ["text", "text"])]),
    (
        [("assistant", (use("a"),)), ("user", (result("a", "1"),)), ("assistant", (use("a"),)), ("user", (result("a", "2"),))],
        [("assistant", ["tool_use a"]), ("user", ["tool_result a"]), ("assistant", ["tool_use a_2"]), ("user", ["tool_result a_2"])],
    ),
]


@pytest.mark.parametrize(("messages", "wanted"), PLACEHOLDER_CASES)
def test_each_call_is_answered_at_once_and_in_order(messages: list[Made], wanted: list[tuple[str, list[str]]]) -> None:
    assert shape(told(transcript(*messages))) == wanted


def test_what_a_result_without_a_call_said_is_kept() -> None:
    (message,) = told(transcript(("user", (result("gone", ["what", "it said"]),)))).messages
    assert "it said" in message.parts[0]["text"]


@pytest.mark.parametrize("identity", IDS)
def test_what_is_in_order_is_left_alone_whatever_its_ids(identity: str) -> None:
    blocks = transcript(("user", (text("go"),)), ("assistant", (text("I read"), use(identity))), ("user", (result(identity), text("more"))))
    parts = transcript(("user", (text("go"),)), ("assistant", (tool(identity), tool(identity + "x", "no", "error"), text("read"))))
    assert hook.messages_transform(blocks) is None
    assert hook.messages_transform(parts) is None


@pytest.mark.parametrize("status", ["pending", "running"])
def test_calls_that_the_host_completes_itself_are_left_to_it(status: str) -> None:
    assert hook.messages_transform(transcript(("assistant", (tool("a", "", status),)))) is None


def test_a_second_call_under_the_same_id_gets_one_of_its_own() -> None:
    twice = transcript(("assistant", (tool("call_0", "1"),)), ("assistant", (tool("call_0", "2"), tool("call_0_2", "3"))))
    parts = [part for message in told(twice).messages for part in message.parts]
    assert [part["callID"] for part in parts] == ["call_0", "call_0_3", "call_0_2"]
    assert [part["state"]["output"] for part in parts] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "state",
    [
        None,
        "done",
        [],
        {},
        {"status": "gone"},
        {"status": []},
        {"status": "completed"},
        {"status": "completed", "output": 5},
        {"status": "error"},
    ],
)
def test_a_call_that_lost_its_result_is_an_interrupted_one(state: Any) -> None:
    (message,) = told(transcript(("assistant", ({"type": "tool", "callID": "a", "tool": "read", "state": state},)))).messages
    assert message.parts[0]["state"]["error"] == hook.INTERRUPTED
    assert message.parts[0]["state"]["input"] == {}


@pytest.mark.parametrize("identity", [None, "", 5, [], {}])
def test_a_call_without_an_id_gets_one(identity: Any) -> None:
    (message, answer) = told(transcript(("assistant", (use(identity), tool(identity))))).messages
    assert message.parts[0]["id"] == answer.parts[0]["tool_use_id"] != ""
    assert isinstance(message.parts[1]["callID"], str)
    assert message.parts[1]["callID"]


def test_what_is_added_is_the_same_at_every_further_turn() -> None:
    start: list[Made] = [("assistant", (use("a"), tool("x"))), ("assistant", (use("a"), tool("x"))), ("user", (text("go on"),))]
    longer = told(transcript(*start, ("assistant", (text("yes"),)), ("user", (text("and"),)))).messages
    assert longer[: len(told(transcript(*start)).messages)] == told(transcript(*start)).messages


some_id = st.sampled_from(["a", "b", "a_2", "toolu_1", "x:6", ""])
part = st.one_of(
    st.builds(use, some_id),
    st.builds(result, some_id, st.sampled_from(["one", "two", "three"])),
    st.builds(text, st.text(max_size=3)),
    st.builds(tool, some_id, st.sampled_from(["one", "two"]), st.sampled_from(["completed", "error", "pending"])),
)
conversation = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.lists(part, max_size=4).map(tuple)), max_size=6)


def problems(messages: Sequence[Message]) -> list[str]:
    """What a strict provider says of it."""
    found: list[str] = []
    due: list[str] = []
    every = [one["id"] for message in messages if message.role == "assistant" for one in message.parts if one.get("type") == "tool_use"]
    inline = [one["callID"] for message in messages for one in message.parts if one.get("type") == "tool"]
    found += ["an id twice"] * (len(set(every)) < len(every) or len(set(inline)) < len(inline))
    for message in messages:
        given = [one["tool_use_id"] for one in message.parts if one.get("type") == "tool_result"]
        first = [one["tool_use_id"] for one in message.parts[: len(given)] if one.get("type") == "tool_result"]
        found += [f"{given} for {due}"] * (given != due or first != given)
        due = [one["id"] for one in message.parts if one.get("type") == "tool_use"] if message.role == "assistant" else []
    return found + ["unanswered"] * bool(due)


@given(conversation)
def test_every_transcript_comes_out_in_order_and_stays_so(messages: list[Made]) -> None:
    given_one = transcript(*messages)
    after = told(given_one)
    assert problems(after.messages) == []
    assert hook.messages_transform(after) is None
    assert (
        problems(given_one.messages)
        or after is given_one
        or any(one.get("callID") == "" or one.get("id") == "" for _, parts in messages for one in parts)
    )


@given(conversation)
def test_no_real_result_is_lost_or_replaced(messages: list[Made]) -> None:
    said = sorted(str(one["content"]) for _, parts in messages for one in parts if one["type"] == "tool_result")
    after = [one for message in told(transcript(*messages)).messages for one in message.parts]
    kept = [str(one["content"]) for one in after if one["type"] == "tool_result" and one["content"] != hook.INTERRUPTED]
    kept += [one["text"].partition("\n")[2] for one in after if one["type"] == "text" and one["text"].startswith(hook.WITHOUT_CALL)]
    assert sorted(kept) == said
    states = [one["state"] for _, parts in messages for one in parts if one["type"] == "tool"]
    assert [one["state"] for one in after if one["type"] == "tool"] == states


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["type", "id", "tool_use_id", "callID", "state", "content"]),
            st.none() | st.integers() | st.sampled_from(["tool", "tool_use", "tool_result"]) | st.lists(st.none(), max_size=1),
            max_size=5,
        ),
        max_size=4,
    )
)
def test_no_part_is_too_odd(parts: list[dict[str, Any]]) -> None:
    told(transcript(("assistant", tuple(parts)), ("user", tuple(parts)), ("", tuple(parts))))
