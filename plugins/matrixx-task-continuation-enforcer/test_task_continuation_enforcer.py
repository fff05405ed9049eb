from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import matrixx_task_continuation_enforcer as hook
import pytest

from matrixx_builtin.essentials import wake_gates
from matrixx_builtin.services import wake
from matrixx_builtin.services.agents import assign
from matrixx_builtin.services.tasks import TaskStore
from matrixx_core.client import NoClient
from matrixx_core.errors import ClientError
from matrixx_core.testing import SESSION, RecordingClient, Rig

TODO = {"content": "Sew the flag", "status": "pending"}


class Broken(RecordingClient):
    async def todo(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        raise ClientError("no such session")


def rig(directory: Path | str, *plugins: ModuleType, client: Any = None, **settings: Any) -> Rig:
    return Rig(hook, *plugins, directory=str(directory), client=client, settings={hook.NAME: settings})


def offered(one: Rig) -> str:
    """What is offered when the session falls idle."""
    one.host.sessions[SESSION].state(wake.Wake).offers.clear()
    one.event("session.idle")
    return "".join(offer.text for offer in one.host.sessions[SESSION].state(wake.Wake).offers)


def test_open_tasks_of_this_session_are_offered(tmp_path: Path) -> None:
    store = TaskStore(tmp_path)
    mine, _ = store.create("Sew the flag", SESSION)
    done, _ = store.create("Buy cloth", SESSION)
    store.create("Of another", "ses_other")
    store.update(done.id, status="completed")
    text = offered(rig(tmp_path))
    assert f"- [pending] Sew the flag ({mine.id})" in text
    assert "Buy cloth" not in text
    assert "Of another" not in text


@pytest.mark.parametrize(
    ("todos", "lines"),
    [
        ([TODO], ["- [pending] Sew the flag"]),
        ([{"content": "x", "status": status} for status in sorted(hook.CLOSED)], []),
        ([{}, {"content": 5}, {"content": " "}], []),
        ([{"content": "a\nb" * 1_000, "status": "in_progress"}], ["- [in_progress] a ba ba b"]),
    ],
)
def test_the_hosts_todo_list_counts_too(tmp_path: Path, todos: list[Any], lines: list[str]) -> None:
    text = offered(rig(tmp_path, client=RecordingClient(answer_todo=todos)))
    assert bool(text) == bool(lines)
    assert all(line in text for line in lines)
    assert len(text) < 2_000


def test_it_does_not_where_the_person_says_so(tmp_path: Path) -> None:
    assert offered(rig(tmp_path, client=RecordingClient(answer_todo=[TODO]), todos=False)) == ""


@pytest.mark.parametrize("client", [NoClient(), Broken()])
def test_a_host_without_a_list_or_session_is_no_error(tmp_path: Path, client: Any) -> None:
    assert offered(rig(tmp_path, client=client)) == ""


def test_sub_agents_and_planners_are_not_made_to_go_on(tmp_path: Path) -> None:
    one = rig(tmp_path, client=RecordingClient(answer_todo=[TODO]))
    session = one.host.sessions[SESSION]
    assign(session, "oracle")
    assert offered(one) == ""
    assign(session, "build")
    assert offered(one)
    session.parent = "ses_main"
    assert offered(one) == ""


def prompts(one: Rig, idles: int) -> int:
    """How many prompts the arbiter sends for so many idles."""
    session, sent = one.host.sessions[SESSION], 0
    for _ in range(idles):
        one.event("session.idle")
        if wake.decide(session) is not None:
            sent += 1
            wake.settle(session, sent=True)
    return sent


def test_it_ends_after_three_without_progress_and_goes_on_when_something_changed(tmp_path: Path) -> None:
    client = RecordingClient(answer_todo=[TODO, {"content": "Hoist it", "status": "pending"}])
    one = rig(tmp_path, wake_gates, client=client)
    assert prompts(one, 10) == wake.UNCHANGED
    client.answer_todo = [{"content": "Hoist it", "status": "pending"}]
    assert prompts(one, 10) == wake.UNCHANGED
    one.chat("what is it?")
    assert prompts(one, 10) == wake.UNCHANGED


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        ("session.error", {"error": {"name": "MessageAbortedError"}}),
        ("question.asked", {"id": "q"}),
        ("permission.asked", {"id": "p"}),
    ],
)
def test_an_abort_or_an_open_question_stops_it(tmp_path: Path, kind: str, properties: dict[str, Any]) -> None:
    one = rig(tmp_path, wake_gates, client=RecordingClient(answer_todo=[TODO]))
    one.event(kind, **properties)
    assert prompts(one, 3) == 0


def test_a_broken_task_file_is_no_task(tmp_path: Path) -> None:
    folder = tmp_path / ".matrixx/tasks"
    folder.mkdir(parents=True)
    (folder / "T-00000000-0000-4000-8000-000000000000.json").write_text("{broken")
    assert offered(rig(tmp_path)) == ""
    assert offered(rig("\0")) == ""
