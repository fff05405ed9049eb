import json
from typing import Any

import anyio
import matrixx_phase_reminder as hook
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_core.events import Message, Transcript, added_part, is_added
from matrixx_core.testing import SESSION, Rig, plugin_name, session

CONFIG = hook.Config()


def user(number: int, *parts: Any, agent: Any = "orchestrator") -> Message:
    return Message(info={"id": f"msg_{number}", "role": "user", "agent": agent}, parts=parts or ({"type": "text", "text": f"do {number}"},))


def answer(number: int) -> Message:
    return Message(info={"id": f"msg_{number}", "role": "assistant", "agent": "orchestrator"}, parts=({"type": "text", "text": "done"},))


def transformed(*messages: Message, rig: Rig | None = None) -> tuple[Message, ...]:
    conversation = Transcript(session_id=SESSION, messages=messages)
    return anyio.run((rig or Rig(hook)).host.messages_transform, conversation).event.messages


def reminders(messages: tuple[Message, ...]) -> list[int]:
    """The messages that end with the reminder, by place."""
    return [
        place
        for place, message in enumerate(messages)
        if message.parts and message.parts[-1].get("text") == hook.TEXT and is_added(message.parts[-1])
    ]


def test_every_prompt_of_the_orchestrator_gets_one_behind_its_untouched_text() -> None:
    before = (user(0), answer(1), user(2), answer(3), user(4))
    after = transformed(*before)
    assert reminders(after) == [0, 2, 4]
    assert [message.parts[0] for message in after] == [message.parts[0] for message in before]


def test_twice_is_once() -> None:
    once = transformed(user(0), answer(1), user(2))
    assert transformed(*once) == once
    carried = tuple(Message(**json.loads(json.dumps(message.model_dump()))) for message in once)
    assert transformed(*carried) == carried


@pytest.mark.parametrize("agent", ["build", "Orchestrator", "", None, 5, ["orchestrator"]])
def test_the_prompts_of_other_agents_pass_as_they_are(agent: Any) -> None:
    before = (user(0), answer(1), user(2, agent=agent))
    assert transformed(*before) == before


def test_after_a_prompt_of_ours_or_of_the_host_the_old_reminders_stay() -> None:
    host = {"type": "text", "text": "continue", "synthetic": True, "metadata": {"compaction_continue": True}}
    for internal in (added_part("go on"), host):
        assert reminders(transformed(user(0), answer(1), user(2, internal))) == [0]


def test_what_reads_like_a_reminder_is_none() -> None:
    typed = {"type": "text", "text": hook.TEXT, "metadata": {hook.MARK: True, "matrixx": True}}
    assert reminders(transformed(user(0, typed))) == [0]


@pytest.mark.parametrize("parts", [({"type": "file", "url": "x"},), ({"type": 5},), ({},)])
def test_a_prompt_without_text_gets_none(parts: Any) -> None:
    assert transformed(user(0, *parts)) == (user(0, *parts),)


def test_a_delegated_session_and_one_without_a_name_get_none() -> None:
    delegated = session()
    delegated.parent = "ses_parent"
    assert hook.messages_transform(Transcript(session_id=SESSION, messages=(user(0),)), delegated, CONFIG) is None
    assert hook.messages_transform(Transcript(session_id="", messages=(user(0),)), session(), CONFIG) is None


def test_the_agents_are_a_setting() -> None:
    rig = Rig(hook, settings={plugin_name(hook): {"agents": ["build"]}})
    assert reminders(transformed(user(0, agent="build"), rig=rig)) == [0]
    assert reminders(transformed(user(0), rig=rig)) == []


@pytest.mark.parametrize("messages", [(), (answer(0),), (Message(info={}),), (Message(info={"role": "user", "agent": "orchestrator"}),)])
def test_odd_conversations_are_no_mistake(messages: Any) -> None:
    assert transformed(*messages) == messages


def test_the_text_is_as_it_was() -> None:
    for said in (
        "lightest way",
        "Small work: do it yourself, then verify",
        "in the background",
        "note their ids",
        "wait",
        "reconcile",
        "verify the whole",
    ):
        assert said in hook.TEXT
    assert len(hook.TEXT) < 600


STEP = st.tuples(st.sampled_from(["typed", "ours", "tool", "answer"]), st.text(max_size=20))


@settings(deadline=None, max_examples=30)
@given(st.lists(STEP, min_size=1, max_size=12))
def test_each_request_begins_with_the_bytes_of_the_one_before_even_after_a_restart(steps: list[tuple[str, str]]) -> None:
    messages: list[Message] = []
    before: list[str] = []
    for number, (kind, text) in enumerate([("typed", "begin"), *steps]):
        made = {"typed": user(number, {"type": "text", "text": text}), "ours": user(number, added_part(text)), "answer": answer(number)}
        tool = Message(info={"id": f"msg_{number}", "role": "assistant"}, parts=({"type": "tool", "state": {"output": text}},))
        messages.append(made.get(kind, tool))
        rendered = [json.dumps(message.model_dump(), sort_keys=True) for message in transformed(*messages)]
        assert rendered[: len(before)] == before
        before = rendered
