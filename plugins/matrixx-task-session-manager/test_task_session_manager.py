from collections.abc import Sequence
from typing import Any

import anyio
import matrixx_task_session_manager as hook
import pytest

from matrixx_core import SessionEvent, Transcript
from matrixx_core.events import Message
from matrixx_core.testing import SESSION, RecordingClient, Rig, result

CHILD, OTHER = "ses_child", "ses_other"


@pytest.fixture
def rig() -> Rig:
    return Rig(hook, client=RecordingClient(), directory="/p")


def tell(rig: Rig, session_id: str, kind: str, **properties: Any) -> None:
    anyio.run(rig.host.session_event, SessionEvent(session_id=session_id, type=kind, properties=properties))


def begin(rig: Rig, child: str = CHILD, title: str = "Count the files (@explore subagent)") -> None:
    rig.host.sessions[child].parent = SESSION
    tell(rig, child, "session.created", info={"id": child, "parentID": SESSION, "title": title})


def end(rig: Rig, child: str = CHILD) -> None:
    tell(rig, child, "session.idle")


def reads(rig: Rig, child: str, *paths: Any) -> None:
    for path in paths:
        anyio.run(rig.host.tool_execute_after, result("read", "text", filePath=path).model_copy(update={"session_id": child}))


def listed(rig: Rig, *ids: str, parts: Sequence[dict[str, Any]] = ()) -> str:
    """What stands behind the newest message of the person."""
    messages = [
        Message(info={"id": one, "role": "user", "sessionID": SESSION}, parts=({"type": "text", "text": "go"},)) for one in ids or ("m1",)
    ]
    if parts:
        messages.insert(0, Message(info={"id": "a", "role": "assistant", "sessionID": SESSION}, parts=tuple(parts)))
    event = anyio.run(rig.host.messages_transform, Transcript(session_id=SESSION, messages=tuple(messages))).event
    return "\n".join(str(part.get("text")) for part in event.messages[-1].parts[1:])


def resume(rig: Rig, **args: Any) -> Any:
    return rig.before("task", **{"prompt": "go on", "subagent_type": "explore", **args})


def test_a_sub_agent_that_has_ended_is_told_with_what_it_knows(rig: Rig) -> None:
    begin(rig)
    reads(rig, CHILD, "/p/a.py", "/p/b.py", "/p/a.py")
    assert listed(rig, "m0") == ""
    end(rig)
    assert f"- {CHILD} (explore): Count the files; it has read a.py, b.py" in listed(rig)


def test_it_is_told_anew_only_when_it_has_changed(rig: Rig) -> None:
    begin(rig)
    end(rig)
    first = listed(rig, "m1")
    assert first and listed(rig, "m1", "m2") == ""
    begin(rig, OTHER, "Look (@general subagent)")
    end(rig, OTHER)
    assert listed(rig, "m1", "m2") == "", "the model has read this message already"
    assert OTHER in listed(rig, "m1", "m2", "m3")
    assert listed(rig, "m1") == first, "the same bytes in each request"


def test_of_each_agent_the_newest_are_told(rig: Rig) -> None:
    for number in range(4):
        begin(rig, f"ses_{number}", f"Task {number} (@explore subagent)")
        end(rig, f"ses_{number}")
    begin(rig, OTHER, "Look (@general subagent)")
    end(rig, OTHER)
    assert [line.split()[1] for line in listed(rig).splitlines()[1:]] == [OTHER, "ses_3", "ses_2"]


def test_many_files_are_counted(rig: Rig) -> None:
    begin(rig)
    reads(rig, CHILD, *(f"/p/{number}.py" for number in range(10)), 5, None)
    end(rig)
    assert "it has read 2.py, 3.py, 4.py, 5.py, 6.py, 7.py, 8.py, 9.py and 2 more" in listed(rig)


def test_what_was_deleted_is_gone(rig: Rig) -> None:
    begin(rig)
    end(rig)
    tell(rig, CHILD, "session.deleted")
    assert listed(rig) == ""


def test_one_that_still_works_gets_no_second_task(rig: Rig) -> None:
    begin(rig)
    assert f"the sub-agent {CHILD} still works on 'Count the files'" in resume(rig, task_id=CHILD).refusal
    end(rig)
    assert resume(rig, task_id=CHILD).block is None
    tell(rig, CHILD, "session.status", status={"type": "busy"})
    assert resume(rig, session_id=CHILD).block
    tell(rig, CHILD, "session.error", error={"name": "MessageAbortedError"})
    assert resume(rig, task_id=CHILD).block is None


@pytest.mark.parametrize("name", ["task_id", "session_id"])
@pytest.mark.parametrize(
    ("given", "kept"), [(CHILD, True), ("ses_unknown1", True), ("exp-1", False), ("", False), (5, False), ("ses_/../x", False)]
)
def test_an_id_that_is_none_begins_a_new_one(rig: Rig, name: str, given: Any, kept: bool) -> None:
    assert (name in resume(rig, **{name: given}).event.args) == kept


def test_the_result_tells_what_no_event_has_told(rig: Rig) -> None:
    output = f'<task id="{CHILD}" state="completed">\n<task_result>\n42\n</task_result>\n</task>'
    rig.after("task", output, description="Count", subagent_type="explore")
    assert f"- {CHILD} (explore): Count" in listed(rig)


def test_two_side_by_side_are_kept_apart(rig: Rig) -> None:
    begin(rig, CHILD, "One (@explore subagent)")
    begin(rig, OTHER, "Two (@general subagent)")
    end(rig, OTHER)
    assert OTHER in listed(rig) and CHILD not in listed(rig)
    assert resume(rig, task_id=CHILD).block and not resume(rig, task_id=OTHER).block


def test_a_session_that_the_host_does_not_find_is_dropped(rig: Rig) -> None:
    begin(rig)
    end(rig)
    rig.after("task", f"Error: session {CHILD} not found", task_id=CHILD)
    assert listed(rig) == ""


def test_after_a_restart_the_conversation_tells(rig: Rig) -> None:
    state = {"status": "completed", "input": {"description": "Count", "subagent_type": "explore"}, "metadata": {"sessionId": CHILD}}
    odd = [{"type": "tool", "tool": "task", "state": one} for one in (None, {}, {"status": "completed", "metadata": {"sessionId": 5}})]
    parts = [*odd, {"type": "tool", "tool": "task", "state": state}, {"type": "tool", "tool": "bash", "state": state}]
    assert f"- {CHILD} (explore): Count" in listed(rig, parts=parts)


def test_sub_agents_and_other_sessions_are_told_nothing(rig: Rig) -> None:
    begin(rig)
    end(rig)
    rig.host.sessions[SESSION].parent = "ses_above"
    assert listed(rig) == ""


def test_what_a_label_says_closes_nothing(rig: Rig) -> None:
    begin(rig, title="</task>\n" * 500 + " (@explore subagent)")
    end(rig)
    text = listed(rig)
    assert "</task>" not in text and len(text) < 600


@pytest.mark.parametrize("properties", [{}, {"info": None}, {"info": {"parentID": 5}}, {"info": {"parentID": SESSION}}, {"status": 5}])
@pytest.mark.parametrize("kind", ["session.created", "session.status", "session.idle", "session.error", "session.deleted"])
def test_odd_events_are_harmless(rig: Rig, kind: str, properties: dict[str, Any]) -> None:
    tell(rig, CHILD, kind, **properties)
    listed(rig)
    assert len(hook._of(rig.client)) <= 1


def test_no_more_are_remembered_than_a_few_hundred(rig: Rig) -> None:
    for number in range(hook.MOST + 50):
        begin(rig, f"ses_{number}")
    assert len(hook._of(rig.client)) == hook.MOST
