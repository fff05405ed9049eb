from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import matrixx_context_window_limit_recovery as hook
import pytest

from matrixx_builtin.essentials import wake_gates
from matrixx_builtin.services import wake
from matrixx_core import Transcript
from matrixx_core.client import NoClient
from matrixx_core.errors import ClientError
from matrixx_core.events import Message, added_part
from matrixx_core.testing import SESSION, RecordingClient, Rig

LIMIT = "prompt is too long: 250000 tokens > 200000 maximum"
WORDLESS = "Your input exceeds the context window of this model"
OVERFLOW = {"name": "ContextOverflowError", "data": {"message": LIMIT}}
"""How OpenCode tells of what it understands."""

ABORTED = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
NEEDED = (250_000 - 100_000) * hook.PER_TOKEN
"""Characters that must go to come down to half of 200,000 tokens."""


def api_error(message: str = LIMIT) -> dict[str, Any]:
    return {"name": "APIError", "data": {"message": message, "statusCode": 400, "isRetryable": False}}


def person(text: str = "go") -> Message:
    return Message(info={"role": "user"}, parts=({"type": "text", "text": text},))


def ours(text: str = hook.HEAD) -> Message:
    return Message(info={"role": "user"}, parts=(added_part(text),))


def host_says(**part: Any) -> Message:
    return Message(info={"role": "user"}, parts=(part,))


def model(*parts: Mapping[str, Any], error: Any = None, **info: Any) -> Message:
    return Message(
        info={"role": "assistant", "providerID": "p", "modelID": "m", **({"error": error} if error else {}), **info}, parts=parts
    )


def call(size: int, *, fill: str = "x") -> dict[str, Any]:
    return {"type": "tool", "tool": "read", "callID": "c", "state": {"status": "completed", "input": {}, "output": fill * size}}


def numbered(*messages: Message) -> list[Message]:
    return [one.model_copy(update={"info": {"id": f"msg_{place}", **one.info}}) for place, one in enumerate(messages)]


REFUSED = model(error=api_error())
SAID = {"type": "text", "text": "done"}


def rig(*messages: Message, client: Any = None) -> Rig:
    return Rig(wake_gates, hook, client=client or RecordingClient(answer_messages=numbered(*messages)))


def fail(one: Rig, error: Any) -> list[wake.Offer]:
    """What is offered when the session falls idle after an error."""
    one.event("session.error", error=error)
    one.event("session.idle")
    return one.host.sessions[SESSION].state(wake.Wake).offers


def asked(one: Rig, method: str) -> list[Mapping[str, Any]]:
    return [arguments for name, arguments in one.client.requests if name == method]  # type: ignore[attr-defined]


def sent(*messages: Message) -> tuple[Message, ...]:
    """What the model is sent of a conversation."""
    one = rig()
    outcome = anyio.run(one.host.messages_transform, Transcript(session_id=SESSION, messages=tuple(numbered(*messages))))
    return outcome.event.messages


def outputs(messages: Sequence[Message]) -> list[str]:
    return [part["state"]["output"] for message in messages for part in message.parts if part.get("type") == "tool"]


def test_long_outputs_are_left_out_and_the_agent_goes_on() -> None:
    one = rig(person(), model(call(NEEDED)), REFUSED)
    [offer] = fail(one, api_error())
    assert (offer.purpose, offer.source) == ("recovery", hook.NAME)
    assert "250,000 tokens, and the model takes 200,000" in offer.text and "left out from now on: 1." in offer.text
    assert asked(one, "summarize") == []
    assert "the agent goes on" in asked(one, "toast")[0]["message"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("input length and `max_tokens` exceed context limit: 199000 + 9000 > 200000", "208,000 tokens, and the model takes 200,000"),
        ("Your request exceeded model token limit: 262144 (requested: 300000)", "300,000 tokens, and the model takes 262,144"),
        (
            "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
            "140,000 tokens, and the model takes 131,072",
        ),
        (WORDLESS, "longer than the model's context"),
    ],
)
@pytest.mark.parametrize("wrapped", [api_error, lambda said: api_error("Bad Request") | {"data": {"responseBody": f"<html>{said}"}}, str])
def test_each_provider_is_understood_and_its_numbers_are_told(said: str, told: str, wrapped: Any) -> None:
    one = rig(person(), model(error=wrapped(said)))
    fail(one, wrapped(said))
    assert asked(one, "toast")[0]["message"].startswith(f"The conversation is {told}.")


def test_where_outputs_are_not_enough_the_conversation_is_summarised_and_gone_on_with() -> None:
    one = rig(person(), model(call(NEEDED - 1)), REFUSED)
    assert fail(one, api_error()) == []
    assert asked(one, "summarize") == [{"session_id": SESSION, "provider": "p", "model": "m", "go_on": True}]
    [note] = asked(one, "prompt")
    assert note["text"].startswith(hook.HEAD) and not note["reply"]


def test_a_summary_that_fails_ends_it_and_is_told() -> None:
    class Refusing(RecordingClient):
        async def summarize(self, session_id: str, provider: str, model: str, *, go_on: bool = False) -> None:
            raise ClientError("no")

    one = rig(client=Refusing(answer_messages=numbered(person(), REFUSED)))
    fail(one, api_error())
    assert "could not be summarised (no): begin a new session" in asked(one, "toast")[-1]["message"]
    assert one.host.sessions[SESSION].state(wake.Wake).stopped


@pytest.mark.parametrize(
    "since",
    [
        [ours()],
        [ours(), model()],
        [ours(), model(error=api_error())],
        [
            ours(),
            host_says(type="compaction", auto=True),
            model(SAID, summary=True),
            host_says(type="text", text="Continue", synthetic=True),
        ],
    ],
)
def test_what_was_tried_in_vain_is_not_tried_again(since: list[Message]) -> None:
    one = rig(person(), model(call(NEEDED)), REFUSED, *since, REFUSED)
    assert fail(one, api_error()) == []
    assert asked(one, "summarize") == []
    assert "has not helped" in asked(one, "toast")[0]["message"] and "250,000" in asked(one, "toast")[0]["message"]
    assert one.host.sessions[SESSION].state(wake.Wake).stopped


@pytest.mark.parametrize("since", [[ours(), person()], [ours(), model(SAID)], [ours(), model(call(5))]])
def test_after_the_person_or_the_model_has_spoken_it_may_be_tried_again(since: list[Message]) -> None:
    one = rig(person(), model(call(NEEDED)), REFUSED, *since, model(call(NEEDED)), REFUSED)
    assert len(fail(one, api_error())) == 1


@pytest.mark.parametrize(
    "error",
    [
        None,
        5,
        "internal server error",
        {"message": "internal server error"},
        ABORTED,
        api_error("messages.1.content.0.type: Expected `thinking`, but found `tool_use`. must start with a thinking block"),
        api_error("max_tokens: 9000 > 8192"),
        api_error("Rate limit reached: 30000 tokens per min"),
        api_error("tool_use ids were found without tool_result blocks immediately after"),
        api_error("image exceeds 5 MB maximum: 6 MB > 5 MB"),
        {
            "name": "APIError",
            "data": {"message": "request_too_large: Request exceeds the maximum allowed number of bytes", "statusCode": 413},
        },
    ],
)
def test_other_errors_are_not_for_this(error: Any) -> None:
    one = rig(person(), model(call(NEEDED)), REFUSED)
    assert fail(one, error) == []
    assert asked(one, "toast") == []


@pytest.mark.parametrize("error", [OVERFLOW, {"name": "ContextOverflowError", "data": {"message": "Session too large to compact"}}])
def test_a_host_that_understood_but_could_not_summarise_is_helped_too(error: Any) -> None:
    one = rig(person(), model(call(NEEDED), call(NEEDED)), host_says(type="compaction", auto=True), model(error=error, summary=True))
    assert len(fail(one, error)) == 1


def test_what_a_summary_stands_for_is_not_counted_as_left_out() -> None:
    summary = (host_says(type="compaction", auto=False), model(SAID, summary=True))
    user = Message(info={"role": "user", "summary": {"diffs": []}}, parts=({"type": "text", "text": "next"},))
    one = rig(person(), model(call(NEEDED)), *summary, user, REFUSED)
    assert fail(one, api_error()) == []
    assert len(asked(one, "summarize")) == 1


def test_what_was_tried_in_vain_before_a_summary_is_remembered_after_it() -> None:
    one = rig(
        person(),
        REFUSED,
        ours(),
        model(SAID, summary=True),
        host_says(type="text", synthetic=True),
        model(call(NEEDED), error="x"),
        REFUSED,
    )
    assert fail(one, api_error()) == []
    assert "has not helped" in asked(one, "toast")[0]["message"]


def refuse(one: Rig, *between: tuple[str, Any], error: Any = OVERFLOW) -> list[str]:
    """What the person is told when a host goes from a refusal to the next by itself."""
    one.event("session.error", error=error)
    for kind, properties in between:
        one.event(kind, **properties)
    one.event("session.error", error=error)
    return [toast["message"] for toast in asked(one, "toast")]


COMPACTED = ("session.compacted", {})
ANSWER = {"role": "assistant", "finish": "tool-calls"}


def test_a_host_whose_own_summary_does_not_help_is_ended() -> None:
    one = rig()
    [told] = refuse(one, COMPACTED)
    assert told == "The conversation is 250,000 tokens, and the model takes 200,000. Summarising it has not helped: begin a new session."
    assert asked(one, "abort") == [{"session_id": SESSION}]
    assert one.host.sessions[SESSION].state(wake.Wake).stopped


@pytest.mark.parametrize(
    "between",
    [
        [],
        [("message.updated", {"info": ANSWER})],
        [COMPACTED, ("message.updated", {"info": ANSWER})],
        [COMPACTED, ("session.idle", {})],
        [("session.idle", {}), COMPACTED],
        [("session.error", {"error": ABORTED}), COMPACTED],
    ],
)
def test_a_host_that_has_got_on_is_left_to_itself(between: list[tuple[str, Any]]) -> None:
    one = rig()
    assert refuse(one, *between) == []
    assert asked(one, "abort") == []


@pytest.mark.parametrize(
    "info", [{**ANSWER, "summary": True}, {**ANSWER, "error": OVERFLOW}, {"role": "assistant"}, {"role": "user"}, None, 5]
)
def test_only_an_answer_is_getting_on(info: Any) -> None:
    assert len(refuse(rig(), COMPACTED, ("message.updated", {"info": info}))) == 1


def test_a_host_that_cannot_be_ended_has_told_its_person_at_least() -> None:
    class Deaf(RecordingClient):
        async def abort(self, session_id: str) -> None:
            raise ClientError("no")

    assert len(refuse(rig(client=Deaf()), COMPACTED)) == 1


def test_the_persons_abort_after_a_refusal_ends_it() -> None:
    one = rig(person(), model(call(NEEDED)), REFUSED)
    one.event("session.error", error=api_error())
    assert fail(one, ABORTED) == []


def test_sub_agents_are_left_to_their_parents() -> None:
    one = rig(person(), model(call(NEEDED)), REFUSED)
    one.host.sessions[SESSION].parent = "ses_parent"
    assert fail(one, api_error()) == []


@pytest.mark.parametrize("messages", [[], [person()], [person(), REFUSED, person(), model(SAID)]])
def test_a_conversation_that_was_not_refused_is_left_alone(messages: list[Message]) -> None:
    one = rig(*messages)
    assert fail(one, api_error()) == []
    assert asked(one, "toast") == []


def test_a_host_that_tells_no_messages_is_left_alone() -> None:
    one = rig(client=NoClient())
    assert fail(one, api_error()) == []


def test_the_largest_go_first_and_no_more_than_needed() -> None:
    small, large, larger = call(5_000), call(NEEDED // 2), call(NEEDED // 2 + 10)
    told = outputs(sent(person(), model(small, large, larger), REFUSED, ours()))
    assert told[0] == small["state"]["output"]
    assert f"[{NEEDED // 2:,} characters are left out" in told[1] and f"[{NEEDED // 2 + 10:,} characters" in told[2]
    assert "Make the call again" in told[1]


def test_what_is_short_unfinished_or_later_stays() -> None:
    short, later = call(hook.LEAST_SIZE - 1), call(NEEDED)
    running = {"type": "tool", "state": {"status": "running", "input": {}}}
    before = (person(), model(short, running), REFUSED, person(), model(later))
    assert sent(*before) == tuple(numbered(*before))


def test_every_further_request_has_the_same_bytes() -> None:
    begun = [person(), model(call(NEEDED), call(NEEDED, fill="y")), REFUSED, ours()]
    further = [*begun, model(call(NEEDED * 2)), person("and now?")]
    assert sent(*further)[: len(begun)] == sent(*begun)


def test_after_a_second_refusal_what_was_left_out_stays_so_and_more_goes() -> None:
    first = (person(), model(call(NEEDED)), REFUSED, person())
    told = outputs(sent(*first, model(call(NEEDED, fill="y")), REFUSED, person()))
    assert all("left out here" in one for one in told) and len(told) == 2


def test_without_numbers_half_of_the_usual_window_is_aimed_at() -> None:
    error = api_error(WORDLESS)
    sizes = [300_000, 300_000, 300_000]
    told = outputs(sent(person(), model(*map(call, sizes)), model(error=error), ours()))
    assert sum("left out here" in one for one in told) == 2


@pytest.mark.parametrize("error", [5, [], {}, {"name": 5}, {"data": None}, "x" * 1_000_000])
@pytest.mark.parametrize(
    "part", [{}, {"type": "tool"}, {"type": "tool", "state": 5}, {"type": "tool", "state": {"output": 5}}, {"type": 5}]
)
def test_odd_messages_pass_as_they_are(error: Any, part: dict[str, Any]) -> None:
    before = (person(), model(part, error=error), Message(info={}, parts=(part,)), REFUSED)
    assert sent(*before) == tuple(numbered(*before))
