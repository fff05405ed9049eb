from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import matrixx_session_recovery as hook
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_builtin.essentials import wake_gates
from matrixx_builtin.services import wake
from matrixx_core import Transcript
from matrixx_core.client import NoClient
from matrixx_core.errors import ClientError
from matrixx_core.events import Message, added_part
from matrixx_core.testing import SESSION, RecordingClient, Rig

ORDER = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. See the pages on tool_use and tool_result."
DISABLED = "When thinking is disabled, an assistant message in the final position cannot contain `thinking`."
PAIR = "messages.5: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A."
PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
LOST = "The `reasoning_content` in the thinking mode must be passed back to the API."
SIGNED = "Function call is missing a thought_signature in functionCall parts."
LIMIT = "prompt is too long: 250000 tokens > 200000 maximum"
ABORTED = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}

THOUGHT = {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "s"}}}
TEXT = {"type": "text", "text": "said"}


def api_error(message: str) -> dict[str, Any]:
    body = f'{{"type": "error", "error": {{"type": "invalid_request_error", "message": "{message}"}}}}'
    return {"name": "APIError", "data": {"message": message, "statusCode": 400, "isRetryable": False, "responseBody": body}}


def person(text: str = "go") -> Message:
    return Message(info={"role": "user"}, parts=({"type": "text", "text": text},))


def model(*parts: Mapping[str, Any], error: Any = None) -> Message:
    return Message(info={"role": "assistant", **({"error": error} if error is not None else {})}, parts=parts)


def ours(kind: Any) -> Message:
    return Message(info={"role": "user"}, parts=(added_part(hook._prompt(kind, ())),))


def call(status: str, tool: str = "bash") -> dict[str, Any]:
    return {"type": "tool", "tool": tool, "callID": "c", "state": {"status": status, "input": {}}}


def conversation(*messages: Message) -> list[Message]:
    return [one.model_copy(update={"info": {"id": f"msg_{place}", **one.info}}) for place, one in enumerate(messages)]


def rig(*messages: Message, client: Any = None, **section: Any) -> Rig:
    told = client or RecordingClient(answer_messages=conversation(*messages))
    return Rig(wake_gates, hook, client=told, settings={hook.NAME: section})


def offers(one: Rig, error: Any) -> list[wake.Offer]:
    """What is offered when the session falls idle after an error."""
    one.event("session.error", error=error)
    one.event("session.idle")
    return one.host.sessions[SESSION].state(wake.Wake).offers


def toasts(one: Rig) -> list[str]:
    assert isinstance(one.client, RecordingClient)
    return [asked["message"] for name, asked in one.client.requests if name == "toast"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (ORDER, "Thinking from before is left out"),
        (DISABLED, "although thinking is switched off"),
        ("messages.3.content.0: Invalid `signature` in `thinking` block", "Thinking from before is left out"),
        ("The final block in an assistant message cannot be `thinking`.", "Thinking from before is left out"),
        (PAIR, "Some call may have had no result"),
    ],
)
def test_a_refused_conversation_is_gone_on_with_once(message: str, said: str) -> None:
    one = rig(person(), model(THOUGHT, TEXT), person(), model(error=api_error(message)))
    [offer] = offers(one, api_error(message))
    assert (offer.source, offer.purpose) == (hook.NAME, "recovery")
    assert said in offer.text
    assert len(toasts(one)) == 1
    one.host.sessions[SESSION].state(wake.Wake).offers.clear()
    one.event("session.idle")
    assert one.host.sessions[SESSION].state(wake.Wake).offers == []


def test_calls_that_did_not_finish_are_counted_and_named() -> None:
    error = api_error(PAIR)
    one = rig(person(), model(call("pending"), call("completed"), call("running", "x" * 99), {"type": "tool"}), model(error=error))
    [offer] = offers(one, error)
    assert f"did not finish: 2 (bash, {'x' * hook.LONGEST})" in offer.text
    many = rig(person(), model(*[call("running")] * 5_000), model(error=error))
    [offer] = offers(many, error)
    assert "did not finish: 5000 (" in offer.text
    assert len(offer.text) < 1_000


@pytest.mark.parametrize(
    "message", [PREFILL, LOST, SIGNED, "Item 'rs_1' of type 'reasoning' was provided without its required following item."]
)
def test_of_what_cannot_be_repaired_the_person_is_told(message: str) -> None:
    one = rig(person(), model(THOUGHT, TEXT), model(error=api_error(message)))
    assert offers(one, api_error(message)) == []
    assert ["cannot be repaired" in toast for toast in toasts(one)] == [True]


@pytest.mark.parametrize("error", [None, "", {}, [], 5, "unknown", api_error(LIMIT), {"statusCode": 429}, ABORTED])
def test_other_errors_are_none_of_its_business(error: Any) -> None:
    one = rig(person(), model(error=error))
    assert offers(one, error) == []
    assert one.client.requests == []  # type: ignore[attr-defined]  # a RecordingClient


AGAIN = [
    ((ours("thinking"), model(error=api_error(ORDER))), True),
    ((ours("thinking"), model(THOUGHT, error=api_error(ORDER))), True),
    ((ours("thinking"), model(error=api_error(PAIR)), ours("tool_pair"), model(error=api_error(ORDER))), True),
    ((ours("thinking"), model(error=api_error(ORDER)), Message(info={"role": "user"}, parts=(added_part("[loop] on"),)), model(error=api_error(ORDER))), True),
    ((ours("thinking"), model(THOUGHT), model(error=api_error(ORDER))), True),
    ((ours("tool_pair"), model(error=api_error(ORDER))), False),
    ((ours("thinking"), model(TEXT), model(error=api_error(ORDER))), False),
    ((ours("thinking"), model(call("completed")), model(error=api_error(ORDER))), False),
    ((ours("thinking"), model(error=api_error(ORDER)), person(), model(error=api_error(ORDER))), False),
    ((person(hook._prompt("thinking", ())), model(error=api_error(ORDER))), False),
]  # fmt: skip


@pytest.mark.parametrize(("after", "in_vain"), AGAIN)
def test_a_second_refusal_for_the_same_reason_without_progress_is_the_end(after: tuple[Message, ...], in_vain: bool) -> None:
    one = rig(person(), model(error=api_error(ORDER)), *after)
    assert (offers(one, api_error(ORDER)) == []) is in_vain
    assert ["has not helped" in toast for toast in toasts(one)] == [in_vain]
    assert one.host.sessions[SESSION].state(wake.Wake).stopped is in_vain


def test_refusals_with_a_little_progress_between_them_end_too() -> None:
    one, sent = rig(person(), model(TEXT), model(error=api_error(ORDER))), 0
    session = one.host.sessions[SESSION]
    for _ in range(6):
        offers(one, api_error(ORDER))
        if wake.decide(session):
            sent += 1
            wake.settle(session, sent=True)
    assert sent == wake.UNCHANGED


@pytest.mark.parametrize(
    ("kind", "properties"),
    [("session.error", {"error": ABORTED}), ("question.asked", {"id": "q"}), ("permission.asked", {"id": "p"})],
)
def test_an_abort_or_an_open_question_ends_it(kind: str, properties: dict[str, Any]) -> None:
    error = api_error(ORDER)
    one = rig(person(), model(error=error))
    one.event("session.error", error=error)
    one.event(kind, **properties)
    one.event("session.idle")
    assert wake.decide(one.host.sessions[SESSION]) is None
    assert toasts(one) == []


def test_stopped_sessions_and_sub_agents_are_left_alone() -> None:
    error = api_error(ORDER)
    stopped, child = rig(person(), model(error=error)), rig(person(), model(error=error))
    wake.stop(stopped.host.sessions[SESSION])
    child.host.sessions[SESSION].parent = "ses_main"
    for one in (stopped, child):
        assert offers(one, error) == []
        assert toasts(one) == []


def test_the_person_may_want_to_go_on_themselves() -> None:
    one = rig(person(), model(error=api_error(ORDER)), auto_resume=False)
    assert offers(one, api_error(ORDER)) == []
    assert ["for your next message" in toast for toast in toasts(one)] == [True]


def test_what_came_after_the_error_counts() -> None:
    one = rig(person(), model(error=api_error(ORDER)), person(), model(TEXT))
    assert offers(one, api_error(ORDER)) == []
    assert offers(rig(), api_error(ORDER)) == []
    assert offers(rig(person()), api_error(ORDER)) == []


class Broken(RecordingClient):
    async def messages(self, session_id: str) -> Sequence[Message]:
        raise ClientError("no such session")


@pytest.mark.parametrize("client", [NoClient(), Broken()])
def test_a_host_that_does_not_tell_is_no_error(client: Any) -> None:
    assert offers(rig(client=client), api_error(ORDER)) == []


def reads(one: Rig, *messages: Message) -> list[list[str]]:
    """The kinds of part in each message that the model reads."""
    outcome = anyio.run(one.host.messages_transform, Transcript(session_id=SESSION, messages=tuple(conversation(*messages))))
    assert not any(ran.error for ran in outcome.ran)
    return [[str(part["type"]) for part in message.parts] for message in outcome.event.messages]


R, T = "reasoning", "text"


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (api_error(ORDER), [[T], [T], [], [], [T], [R, T]]),
        (api_error(DISABLED), [[T], [T], [], [], [T], [R, T]]),
        (api_error(PAIR), None),
        (api_error(PREFILL), None),
        (api_error(LOST), None),
        (api_error(LIMIT), None),
        (ABORTED, None),
        ("odd", None),
        (5, None),
    ],
)
def test_only_thinking_from_before_its_refusal_is_left_out(error: Any, wanted: list[list[str]] | None) -> None:
    thinking_user = Message(info={"role": "user"}, parts=(TEXT,))
    messages = (thinking_user, model(THOUGHT, TEXT), model(THOUGHT), model(THOUGHT, error=error), person(), model(THOUGHT, TEXT))
    assert reads(rig(), *messages) == (wanted or [[T], [R, T], [R], [R], [T], [R, T]])


def test_what_the_model_reads_stays_the_same_from_then_on_whichever_engine_tells() -> None:
    start = (person(), model(THOUGHT, TEXT), person(), model(error=api_error(ORDER)), ours("thinking"))
    one = rig()
    first = reads(one, *start)
    longer = (*start, model(THOUGHT, TEXT), person(), model(error={"statusCode": 429}), person())
    assert reads(one, *longer)[: len(first)] == first
    assert reads(rig(), *longer) == reads(one, *longer)


def test_a_conversation_without_such_an_error_is_not_touched() -> None:
    outcome = anyio.run(
        rig().host.messages_transform, given_one := Transcript(session_id=SESSION, messages=(person(), model(THOUGHT, TEXT)))
    )
    assert outcome.event is given_one


def circular() -> dict[str, Any]:
    error = api_error(ORDER)
    error["data"]["cause"] = error
    return error


class Odd:
    """Whatever is asked of it fails."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __bool__(self) -> bool:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError


ODD_ERRORS = {"circular": circular(), "fails": Odd(), "fails inside": {"data": Odd()}, "bytes": b"\xff", "huge": "\ud800\0" * 99_999}


@pytest.mark.parametrize("name", ODD_ERRORS)
def test_no_error_is_too_odd(name: str) -> None:
    error, offered = ODD_ERRORS[name], int(name == "circular")
    one = rig(person(), model(error=error))
    assert not any(ran.error for ran in one.event("session.error", error=error).ran)
    assert not any(ran.error for ran in one.event("session.idle").ran)
    assert len(one.host.sessions[SESSION].state(wake.Wake).offers) == offered
    reads(one, model(THOUGHT, error=error))


odd = (
    st.none() | st.integers() | st.sampled_from(["text", "tool", "reasoning", "assistant", "user", ORDER]) | st.lists(st.none(), max_size=1)
)
part = st.dictionaries(st.sampled_from(["type", "text", "state", "tool", "metadata", "synthetic"]), odd, max_size=4)
info = st.dictionaries(st.sampled_from(["id", "role", "error"]), odd | st.just(api_error(PAIR)), max_size=3)


@settings(max_examples=30)
@given(st.lists(st.tuples(info, st.lists(part, max_size=3)), max_size=4))
def test_no_conversation_is_too_odd(messages: list[tuple[dict[str, Any], list[dict[str, Any]]]]) -> None:
    told = [Message.model_construct(info={"role": "assistant", **info}, parts=tuple(parts)) for info, parts in messages]
    one = rig(client=RecordingClient(answer_messages=told))
    for error in (api_error(ORDER), api_error(PAIR)):
        assert not any(ran.error for ran in one.event("session.error", error=error).ran)
        assert not any(ran.error for ran in one.event("session.idle").ran)
    outcome = anyio.run(one.host.messages_transform, Transcript.model_construct(session_id=SESSION, messages=tuple(told)))
    assert not any(ran.error for ran in outcome.ran)
