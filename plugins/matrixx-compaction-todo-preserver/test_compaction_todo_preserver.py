from typing import Any

import anyio
import matrixx_compaction_todo_preserver as hook
import pytest

from matrixx_builtin.services.context import Context
from matrixx_core import Compaction, Session
from matrixx_core.client import NoClient
from matrixx_core.testing import SESSION, RecordingClient, Rig

OPEN = {"content": "Sew the flag", "status": "in_progress"}
DONE = {"content": "Buy cloth", "status": "completed"}


def asked(*todos: Any) -> tuple[str, ...]:
    """What the summary is asked to keep."""
    rig = Rig(hook, client=RecordingClient(answer_todo=todos))
    return anyio.run(rig.host.session_compacting, Compaction(session_id=SESSION)).event.context


def asked_again(before: Any, after: Any) -> str:
    """What the model is told after the summary."""
    client = RecordingClient(answer_todo=before)
    session = Session(SESSION)
    rig = Rig(hook, client=client)
    anyio.run(rig.host.session_compacting, Compaction(session_id=SESSION))
    client.answer_todo = after
    rig.event("session.compacted")
    session = rig.host.sessions[SESSION]
    return session.state(Context).take()


def test_open_todos_are_named_with_their_state() -> None:
    assert asked(OPEN, DONE, {"content": "Hoist it", "status": "pending"})[0].splitlines()[1:] == [
        "- [in_progress] Sew the flag",
        "- [pending] Hoist it",
    ]


@pytest.mark.parametrize(
    "todos",
    [(), (DONE,), ({"content": "x", "status": "cancelled"},), ({},), ({"content": 5},), ({"content": "  "},)],
)
def test_nothing_is_said_where_nothing_is_open(todos: Any) -> None:
    assert asked(*todos) == ()


def test_a_list_that_was_lost_is_asked_for_again_once() -> None:
    assert "- [in_progress] Sew the flag" in asked_again([OPEN], [])


@pytest.mark.parametrize(
    ("before", "after"), [([OPEN], [OPEN]), ([OPEN], [{"content": "another", "status": "pending"}]), ([], []), ([DONE], [])]
)
def test_a_list_that_is_there_needs_no_help(before: Any, after: Any) -> None:
    assert asked_again(before, after) == ""


def test_a_host_without_a_todo_list_is_left_alone() -> None:
    rig = Rig(hook, client=NoClient())
    assert anyio.run(rig.host.session_compacting, Compaction(session_id=SESSION)).event.context == ()
    rig.event("session.compacted")
    assert rig.host.sessions[SESSION].state(Context).take() == ""


def test_a_huge_list_and_huge_todos_are_cut() -> None:
    text = asked(*({"content": f"{number} " + "x\n" * 10_000, "status": "pending"} for number in range(1_000)))[0]
    assert len(text) < (hook.MOST + 1) * (hook.LONGEST + 50)
