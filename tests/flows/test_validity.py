"""What a provider demands of a transcript, with every hook on: calls and results in pairs, thinking that is nobody's invention (C31, C32)."""

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_builtin.hosts.opencode.adapter import OpenCode
from matrixx_builtin.hosts.opencode.translate import apply
from matrixx_core import Transcript
from matrixx_core.events import Message, is_added
from matrixx_core.host import Host
from matrixx_core.loading import installed, load
from matrixx_core.settings import Settings
from matrixx_core.testing import RecordingClient

from .conversation import EVERYTHING, MODEL, Raw

Spoken = tuple[str, Sequence[Raw]]
"""Who says it, and its parts."""

THINKING = {"reasoning", "thinking", "redacted_thinking"}

numbers = itertools.count()
ids = st.sampled_from(["toolu_01A", "toolu_vrtx_9", "call_1", "callabc", "functions.read:6", "é"]) | st.text(
    st.characters(exclude_characters="_"), max_size=4
)
"""None that ends as a second call's new id does (``call_1_2``): when one comes later, that id is given anew."""
words = st.text(max_size=5)


def tool(identity: Any, state: Any) -> Raw:
    return {"type": "tool", "tool": "read", "callID": identity, "state": state}


def completed(output: str) -> Raw:
    return {
        "status": "completed",
        "input": {"filePath": "a"},
        "output": output,
        "title": "",
        "metadata": {},
        "time": {"start": 1, "end": 2},
    }


def failed(error: str) -> Raw:
    return {"status": "error", "input": {"filePath": "a"}, "error": error, "time": {"start": 1, "end": 2}}


real = st.builds(completed, words) | st.builds(failed, words)
thought = st.builds(lambda text, by: {"type": "reasoning", "text": text, "metadata": {"anthropic": {"signature": by}}}, words, words)
said = st.builds(lambda text: {"type": "text", "text": text}, words)
lost = st.sampled_from([None, {}, "done", {"status": "completed"}, {"status": "error"}, {"status": ["odd"]}])
part = said | thought | st.builds(tool, ids | st.sampled_from([None, 5]), real | lost) | st.just({"type": "step-start"})


@st.composite
def valid(draw: st.DrawFn) -> list[Raw]:
    """A transcript that a strict provider takes: no id twice, every call has its result, thinking comes first and never last."""
    own = iter(draw(st.lists(ids.filter(bool), min_size=8, max_size=8, unique=True)))
    messages: list[Spoken] = []
    for prompt in draw(st.lists(words, min_size=1, max_size=4)):
        thoughts, calls = draw(st.lists(thought, max_size=2)), [tool(next(own), draw(real)) for _ in range(draw(st.integers(0, 2)))]
        parts = [{"type": "step-start"}, *thoughts, {"type": "text", "text": "said"}, *calls, {"type": "step-finish"}]
        messages += [("user", [{"type": "text", "text": prompt}]), ("assistant", parts)]
    return sent(*messages, ("user", [{"type": "text", "text": "go on"}]))


def sent(*messages: Spoken) -> list[Raw]:
    """These messages as OpenCode keeps them."""
    return [
        {
            "info": {"id": (name := f"msg_{place}"), "role": role, "sessionID": "", "model": MODEL},
            "parts": [{**one, "id": f"prt_{place}_{at}", "sessionID": "", "messageID": name} for at, one in enumerate(parts)],
        }
        for place, (role, parts) in enumerate(messages)
    ]


broken = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.lists(part, max_size=4)), max_size=5)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    given = Settings.of(EVERYTHING)
    plugins = load({name: found.entry.load() for name, found in installed().items()}, given)
    return Host(plugins, settings=given, directory=str(tmp_path_factory.mktemp("project")), client=RecordingClient())


def told(host: Host, *requests: list[Raw]) -> list[list[Raw]]:
    """What the provider is sent for these requests of one session, which no other has been in."""
    session = f"ses_{next(numbers)}"

    async def ask() -> list[list[Raw]]:
        answers: list[list[Raw]] = []
        for messages in requests:
            payload = json.loads(json.dumps({"messages": messages}).replace('"sessionID": ""', f'"sessionID": "{session}"'))
            answer = await OpenCode(host).hook("experimental.chat.messages.transform", {}, payload)
            assert [ran for outcome in answer.outcomes for ran in outcome.ran if ran.answer == "error"] == []
            answers.append(json.loads(json.dumps(apply(payload, answer.edits)["messages"]).replace(session, "")))
        return answers

    return anyio.run(ask)


def without_ours(messages: Sequence[Raw]) -> list[Raw]:
    return [{**message, "parts": [one for one in message["parts"] if not is_added(one)]} for message in messages]


def parts_of(messages: Sequence[Raw], *kinds: str) -> list[Raw]:
    return [one for message in messages for one in message["parts"] if one.get("type") in kinds]


@settings(max_examples=25)
@given(valid())
def test_what_is_in_order_goes_out_byte_for_byte(host: Host, messages: list[Raw]) -> None:
    [request] = told(host, messages)
    assert json.dumps(without_ours(request)) == json.dumps(messages)


@settings(max_examples=25)
@given(broken.map(lambda them: sent(*them)))
def test_every_call_goes_out_once_with_its_own_result(host: Host, messages: list[Raw]) -> None:
    [request] = told(host, messages)
    assert [message["info"] for message in request] == [message["info"] for message in messages]
    before, after = parts_of(messages, "tool"), parts_of(request, "tool")
    names = [one["callID"] for one in after]
    assert len(before) == len(after) == len({*names}) and all(isinstance(name, str) and name for name in names)
    for old, new in zip(before, after, strict=True):
        if is_real(old["state"]):
            assert new["state"] == old["state"]
        else:
            assert new["state"]["status"] == "error" and "interrupted" in new["state"]["error"]


def is_real(state: Any) -> bool:
    return isinstance(state, dict) and ("output" in state or "error" in state)


@settings(max_examples=25)
@given(broken.map(lambda them: sent(*them)))
def test_no_thinking_is_invented_and_no_word_is_lost(host: Host, messages: list[Raw]) -> None:
    [request] = told(host, messages)
    before, after = (Counter(json.dumps(one) for one in parts_of(them, *THINKING)) for them in (messages, request))
    assert after <= before
    assert parts_of(without_ours(request), "text", "step-start") == parts_of(messages, "text", "step-start")


@settings(max_examples=25)
@given(broken, broken)
def test_what_was_put_in_order_once_stays_so_as_the_conversation_goes_on(host: Host, messages: list[Spoken], more: list[Spoken]) -> None:
    begun: list[Spoken] = [("user", [{"type": "text", "text": "Begin."}]), *messages]
    first, second = told(host, sent(*begun), sent(*begun, *more))
    assert second[: len(first)] == first


def use(identity: str) -> Raw:
    return {"type": "tool_use", "id": identity, "name": "read", "input": {}}


def result(identity: str, content: str) -> Raw:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


blocks = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]), st.lists(said | st.builds(use, ids) | st.builds(result, ids, words), max_size=3).map(tuple)
    ),
    max_size=5,
)


@settings(max_examples=25)
@given(blocks)
def test_calls_and_results_that_are_blocks_of_their_own_go_out_in_pairs(host: Host, messages: list[tuple[str, tuple[Raw, ...]]]) -> None:
    session = f"ses_{next(numbers)}"
    made = tuple(
        Message(info={"id": f"msg_{place}", "role": role, "sessionID": session}, parts=parts)
        for place, (role, parts) in enumerate(messages)
    )
    transcript = Transcript(session_id=session, messages=made)
    after = anyio.run(host.messages_transform, transcript).event.messages
    due: list[str] = []
    for message in after:
        answered = [one["tool_use_id"] for one in message.parts if one.get("type") == "tool_result"]
        assert answered == due and [one.get("type") for one in message.parts[: len(due)]] == ["tool_result"] * len(due)
        due = [one["id"] for one in message.parts if one.get("type") == "tool_use"] if message.role == "assistant" else []
    assert due == []
    everything = json.dumps([[*message.parts] for message in after])
    assert all(json.dumps(one["content"])[1:-1] in everything for _, parts in messages for one in parts if one["type"] == "tool_result")
