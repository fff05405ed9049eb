"""Who is calling: known from the newest prompt, asked for once where none was seen, never guessed from a look-alike."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services import agents
from matrixx_builtin.services.agents import Caller, Role, agent_of, assign, canonical, role_named, role_of
from matrixx_builtin.services.mission import MissionFile
from matrixx_core import Message, Session
from matrixx_core.errors import ClientError
from matrixx_core.testing import RecordingClient


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session("ses_1", str(tmp_path))


def said(*agents_of_users: Any, role: str = "user") -> list[Message]:
    return [Message(info={"role": role, "agent": agent}) for agent in agents_of_users]


class Deaf(RecordingClient):
    """A host that cannot be asked."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error

    async def messages(self, session_id: str) -> Sequence[Message]:
        await super().messages(session_id)
        if self.error:
            raise self.error
        await anyio.sleep_forever()
        raise AssertionError


def role(session: Session, client: RecordingClient | None = None) -> Role:
    return anyio.run(role_of, session, client or RecordingClient())


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("oracle", "oracle"),
        ("ORACLE", "oracle"),
        ("Oracle (Planner)", "oracle"),
        ("Oracle (Plan Builder)", "oracle"),
        ("Prometheus (Planner)", "oracle"),
        ("Planner-Sisyphus", "oracle"),
        ("Architect (Plan Execution Orchestrator)", "architect"),
        ("atlas", "architect"),
        ("Orchestrator-Sisyphus", "architect"),
        ("Sisyphus-Junior", "mouse"),
        ("sisyphus", "morpheus"),
        ("metis", "seraph"),
        ("momus", "smith"),
        ("hephaestus", "keymaker"),
        ("multimodal-looker", "construct"),
        ("My Own Agent", "my-own-agent"),
        ("", ""),
    ],
)
def test_an_agent_has_one_name_however_it_is_shown(name: str, key: str) -> None:
    assert canonical(name) == key


@pytest.mark.parametrize(
    ("name", "as_main", "as_child"),
    [
        ("oracle", "planner", "planner"),
        ("Oracle (Planner)", "planner", "planner"),
        ("architect", "orchestrator", "orchestrator"),
        ("mouse", "worker", "worker"),
        ("morpheus", "other", "worker"),
        ("trinity", "other", "worker"),
        ("build", "other", "worker"),
        ("my-oracle-reviewer", "other", "worker"),
        ("", "other", "worker"),
        ("\ud800\0", "other", "worker"),
    ],
)
def test_a_name_has_its_role(session: Session, name: str, as_main: str, as_child: str) -> None:
    assert role_named(name, session) == as_main
    session.parent = "ses_0"
    assert role_named(name, session) == as_child


def test_the_persons_own_agents_have_the_roles_that_were_given(session: Session) -> None:
    session.state(Caller).roles = {"my-planner": "planner", "Big Boss": "orchestrator", "helper": "other", "oracle": "other"}
    session.parent = "ses_0"
    names = ("my-planner", "My-Planner", "big-boss", "helper", "oracle")
    assert [role_named(name, session) for name in names] == ["planner", "planner", "orchestrator", "other", "planner"]


def test_the_host_is_asked_once(session: Session) -> None:
    client = RecordingClient(answer_messages=[*said("build", "oracle", "compaction", None, ""), *said("architect", role="assistant")])
    assert [role(session, client) for _ in range(3)] == ["planner"] * 3
    assert client.requests == [("messages", {"session_id": "ses_1"})]


def test_two_hooks_at_once_ask_once(session: Session) -> None:
    client = RecordingClient(answer_messages=said("oracle"))

    async def both() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(role_of, session, client)

    anyio.run(both)
    assert len(client.requests) == 1 and role(session, client) == "planner"


def test_what_the_host_has_told_is_not_asked_for(session: Session) -> None:
    session.agent = "oracle"
    client = RecordingClient()
    assert role(session, client) == "planner" and client.requests == []


def test_the_hosts_own_agents_are_nobodys(session: Session) -> None:
    session.agent = "compaction"
    assert anyio.run(agent_of, session, RecordingClient(answer_messages=said("oracle", "compaction"))) == "oracle"
    assign(session, "compaction")
    assign(session, "")
    assert anyio.run(agent_of, session, RecordingClient()) == "oracle"


def test_who_was_assigned_is_it_until_somebody_else_is(session: Session) -> None:
    assert role(session, RecordingClient(answer_messages=said("oracle"))) == "planner"
    assign(session, "architect")
    session.agent = "oracle"  # what the message that started the work still says
    assert role(session) == "orchestrator"
    assign(session, "oracle")
    assert role(session) == "planner"


def test_the_mission_says_it_where_no_prompt_was_seen(session: Session, tmp_path: Path) -> None:
    MissionFile(tmp_path).start(Path("/p/x.md"), "ses_1", "architect")
    session.agent = "oracle"
    assert role(session) == "orchestrator"
    stranger = Session("ses_2", str(tmp_path))
    stranger.agent = "oracle"
    assert role(stranger) == "planner"
    prompted = Session("ses_1", str(tmp_path))
    assign(prompted, "oracle")
    assert role(prompted) == "planner"


def test_a_broken_mission_file_says_nothing(session: Session, tmp_path: Path) -> None:
    (tmp_path / ".matrixx").mkdir()
    (tmp_path / ".matrixx" / "mission.json").write_text("{")
    assert role(session, RecordingClient(answer_messages=said("oracle"))) == "planner"


def test_a_new_session_of_the_same_id_is_looked_up_anew(session: Session, tmp_path: Path) -> None:
    assign(session, "oracle")
    assert role(Session("ses_1", str(tmp_path))) == "other"


@pytest.mark.parametrize("error", [ClientError("gone"), None], ids=["an error", "silence"])
def test_a_host_that_does_not_answer_is_not_asked_again_at_once(
    session: Session, error: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "LOOKUP_SECONDS", 0.05)
    client = Deaf(error)
    assert [role(session, client), role(session, client)] == ["other", "other"]
    assert len(client.requests) == 1
    monkeypatch.setattr(agents, "RETRY_SECONDS", 0.0)
    session.state(Caller).not_before = 0.0
    assert role(session, RecordingClient(answer_messages=said("oracle"))) == "planner"


@pytest.mark.parametrize("agent", [7, None, [], {}, "\ud800", "x" * 1_000_000, "(" * 100_000])
def test_odd_messages_are_no_failure(session: Session, agent: Any) -> None:
    assert role(session, RecordingClient(answer_messages=said(agent))) == "other"


@given(st.text())
def test_a_canonical_name_is_its_own(name: str) -> None:
    assert canonical(canonical(name)) in {canonical(name), canonical(canonical(name))}
    assert role_named(name, Session("ses_1")) in {"planner", "orchestrator", "worker", "other"}
