import os
from pathlib import Path
from typing import Any

import anyio
import matrixx_start_work as hook
import pytest

from matrixx_builtin.services.agents import Caller
from matrixx_builtin.services.mission import MissionFile
from matrixx_core import ChatMessage, Command
from matrixx_core.errors import ClientError
from matrixx_core.testing import SESSION, RecordingClient, Rig, message, session

OPEN, DONE, PLAIN = "- [x] one\n- [ ] two\n", "- [x] one\n- [x] two\n", "only text\n"

ARCHITECT = RecordingClient(answer_agents=({"name": "build"}, {"name": "Architect (Plan Execution)"}))


def put(project: Path, **plans: str) -> None:
    """Plans of these names; the last one is the newest."""
    folder = project / ".matrixx" / "plans"
    folder.mkdir(parents=True, exist_ok=True)
    for age, (name, text) in enumerate(reversed(plans.items())):
        path = folder / f"{name.replace('_', '-')}.md"
        path.write_text(text)
        os.utime(path, (1_700_000_000 - age * 60,) * 2)


def rig(project: Path, client: RecordingClient | None = None) -> Rig:
    return Rig(hook, directory=str(project), client=client)


def told(project: Path, text: str, under_test: Rig | None = None) -> str:
    """What follows behind the typed text."""
    parts = (under_test or rig(project)).chat(text).event.parts
    assert parts[0]["text"] == text
    return "".join(str(part["text"]) for part in parts[1:])


def active(project: Path) -> str:
    mission = MissionFile(project).read()
    return mission.plan_name if mission else ""


@pytest.mark.parametrize(
    ("typed", "plans", "says", "mission"),
    [
        ("", {}, "There is no plan with check boxes", ""),
        ("", {"notes": PLAIN}, "There is no plan with check boxes", ""),
        ("", {"a": DONE, "b": DONE}, "All 2 plans are complete", ""),
        ("", {"a": OPEN, "b": DONE, "notes": PLAIN}, "Plan: a (SELECTED, the only plan", "a"),
        ("", {"a": OPEN, "b": OPEN}, "1. b (changed", ""),
        ("a", {"a": OPEN, "b": OPEN}, "Plan: a (SELECTED)", "a"),
        ("A.md", {"a": OPEN, "ab": OPEN}, "Plan: a (SELECTED)", "a"),
        ("my-plan ultrawork", {"my_plan": OPEN}, "Plan: my-plan (SELECTED)", "my-plan"),
        ("ULW my-plan", {"my_plan": OPEN}, "Plan: my-plan (SELECTED)", "my-plan"),
        ('"my plan"', {"my plan": OPEN}, "Plan: my plan (SELECTED)", "my plan"),
        ("feature", {"x2026_feature_x": OPEN, "other": OPEN}, "Plan: x2026-feature-x (SELECTED)", "x2026-feature-x"),
        ("feature", {"feature_a": OPEN, "feature_b": OPEN}, "'feature' fits several plans", ""),
        ("feature", {"feature_a": OPEN, "feature_b": DONE}, "Plan: feature-a (SELECTED)", "feature-a"),
        ("a", {"a": DONE, "b": OPEN}, "The plan 'a' is complete: 2/2 done", ""),
        ("gone", {"a": OPEN, "b": DONE}, "There is no plan 'gone'.", ""),
        ("gone", {"b": DONE}, "none that is not done", ""),
        ("notes", {"notes": PLAIN}, "has no check boxes", ""),
    ],
)
def test_the_plan_is_chosen_or_asked_for(tmp_path: Path, typed: str, plans: dict[str, str], says: str, mission: str) -> None:
    put(tmp_path, **plans)
    text = told(tmp_path, f"/start-work {typed}")
    assert says in text
    assert ("Ask the user which one" in text) is ("1. " in text)
    assert active(tmp_path) == mission


def test_what_is_begun_is_told_with_its_path_progress_and_rules(tmp_path: Path) -> None:
    put(tmp_path, ship=OPEN)
    text = told(tmp_path, "/start-work")
    for said in (
        str(tmp_path / ".matrixx/plans/ship.md"),
        "Progress: 1/2",
        "Sessions: 1",
        "Started: 20",
        ".matrixx/notepads/ship/",
        "Tick a box",
    ):
        assert said in text


def test_without_a_name_the_mission_is_resumed_by_one_more_session(tmp_path: Path) -> None:
    put(tmp_path, a=OPEN, b=OPEN)
    started = MissionFile(tmp_path).start(tmp_path / ".matrixx/plans/a.md", "ses_first")
    text = told(tmp_path, "/start-work")
    assert "Plan: a (RESUMING)" in text
    assert "Sessions: 2" in text
    mission = MissionFile(tmp_path).read()
    assert mission is not None and mission.session_ids == ("ses_first", SESSION)
    assert mission.started_at == started.started_at
    assert "Sessions: 2" in told(tmp_path, "/start-work")


def test_a_name_beats_the_mission_and_that_of_the_mission_keeps_its_sessions(tmp_path: Path) -> None:
    put(tmp_path, a=OPEN, b=OPEN)
    MissionFile(tmp_path).start(tmp_path / ".matrixx/plans/a.md", "ses_first")
    assert "Sessions: 2" in told(tmp_path, "/start-work a")
    assert "Sessions: 1" in told(tmp_path, "/start-work b")
    assert active(tmp_path) == "b"


def test_a_plan_that_the_mission_knows_by_another_path_is_the_same(tmp_path: Path) -> None:
    put(tmp_path, a=OPEN, b=OPEN)
    (tmp_path / "link").symlink_to(tmp_path)
    MissionFile(tmp_path).start(tmp_path / "link/.matrixx/plans/a.md", "ses_first")
    for typed in ("/start-work", "/start-work a"):
        assert "Sessions: 2" in told(tmp_path, typed)


@pytest.mark.parametrize(("plan", "says"), [("done", "'done', is complete."), ("gone", "'gone', is not there any more")])
def test_a_mission_that_is_over_is_told_and_the_plans_are_looked_at(tmp_path: Path, plan: str, says: str) -> None:
    put(tmp_path, next=OPEN, done=DONE)
    MissionFile(tmp_path).start(tmp_path / f".matrixx/plans/{plan}.md", "ses_first")
    text = told(tmp_path, "/start-work")
    assert says in text
    assert "Plan: next (SELECTED" in text


def test_a_mission_elsewhere_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, a=OPEN)
    (tmp_path / "outside.md").write_text(OPEN)
    MissionFile(tmp_path).start(tmp_path / "outside.md", "ses_first")
    assert "Plan: a (SELECTED" in told(tmp_path, "/start-work")


def test_where_the_host_has_an_architect_it_takes_over(tmp_path: Path) -> None:
    put(tmp_path, a=OPEN)
    under_test = rig(tmp_path, ARCHITECT)
    outcome = under_test.chat("/start-work", agent="build")
    assert outcome.event.agent == "Architect (Plan Execution)"
    assert under_test.host.sessions[SESSION].state(Caller).agent == "Architect (Plan Execution)"
    mission = MissionFile(tmp_path).read()
    assert mission is not None and mission.agent == "Architect (Plan Execution)"


class Deaf(RecordingClient):
    async def agents(self) -> Any:
        raise ClientError("nobody there")


@pytest.mark.parametrize("client", [RecordingClient(), Deaf()])
def test_without_one_the_agent_stays_and_the_mission_names_it(tmp_path: Path, client: RecordingClient) -> None:
    put(tmp_path, a=OPEN)
    under_test = rig(tmp_path, client)
    under_test.host.sessions[SESSION].state(Caller).agent = "build"
    assert under_test.chat("/start-work", agent="build").event.agent == "build"
    mission = MissionFile(tmp_path).read()
    assert mission is not None and mission.agent == "build"


def test_as_a_command_of_the_host_it_is_answered_once_and_its_template_is_filled(tmp_path: Path) -> None:
    put(tmp_path, a=OPEN)
    under_test = rig(tmp_path, ARCHITECT)
    parts = ({"type": "text", "text": "Start: $SESSION_ID"}, {"type": "file", "url": "x"})
    command = Command(session_id=SESSION, name="start-work", arguments="a", parts=parts)
    template, file, added = anyio.run(under_test.host.command_execute_before, command).event.parts
    assert (template["text"], file) == (f"Start: {SESSION}", parts[1])
    assert "Plan: a (SELECTED)" in added["text"]
    prompt = under_test.chat(f"Start: {SESSION}", agent="build").event
    assert len(prompt.parts) == 1
    assert prompt.agent == "Architect (Plan Execution)"


@pytest.mark.parametrize(
    "text", ["start-work", "/handoff <session-context>", "<session-context>x</session-context>", "/start", "please /start-work", ""]
)
def test_other_prompts_start_nothing(tmp_path: Path, text: str) -> None:
    put(tmp_path, a=OPEN)
    under_test = rig(tmp_path, ARCHITECT)
    assert under_test.chat(text, agent="build").event == message(text, agent="build")
    assert active(tmp_path) == ""


def test_a_delegated_session_or_one_without_a_directory_starts_nothing(tmp_path: Path) -> None:
    put(tmp_path, a=OPEN)
    nowhere, delegated = session(), session()
    delegated.directory, delegated.parent = str(tmp_path), "ses_parent"
    for open_session in (nowhere, delegated):
        assert anyio.run(hook.chat_message, message("/start-work"), open_session, ARCHITECT, hook.Config()) is None


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    put(tmp_path, **{f"plan{number}": OPEN for number in range(25)})
    text = told(tmp_path, "/start-work")
    assert "20. plan" in text and "... and 5 more" in text


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    put(tmp_path, a=OPEN)
    (tmp_path / ".matrixx" / "mission.json").mkdir()
    assert "The work cannot be started" in told(tmp_path, "/start-work a")


@pytest.mark.parametrize("name", ["../../etc/passwd", "\0", "\ud800", "x" * 5_000, "a/b", "*", "."])
def test_no_name_is_too_odd(tmp_path: Path, name: str) -> None:
    put(tmp_path, a=OPEN)
    told(tmp_path, f"/start-work {name}")


@pytest.mark.parametrize("content", [b"", b"\xff\0- [ ] x", b"- [ ] " * 30_000])
def test_odd_plans_are_no_mistake(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, a=OPEN)
    (tmp_path / ".matrixx/plans/odd.md").write_bytes(content)
    assert told(tmp_path, "/start-work")


@pytest.mark.parametrize("parts", [(), ({},), ({"type": "text", "text": 5},)])
def test_odd_prompts_are_no_mistake(tmp_path: Path, parts: Any) -> None:
    under_test = rig(tmp_path)
    anyio.run(under_test.host.chat_message, ChatMessage(session_id=SESSION, parts=parts))
    command = Command(session_id=SESSION, name="start-work", parts=parts)
    anyio.run(under_test.host.command_execute_before, command)
