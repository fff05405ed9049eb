import subprocess
from pathlib import Path
from typing import Any

import anyio
import matrixx_architect as hook
import pytest

from matrixx_builtin.services import wake
from matrixx_builtin.services.agents import assign
from matrixx_builtin.services.background import Order, manager
from matrixx_builtin.services.mission import MissionFile
from matrixx_core import Inject, Session, SessionEvent, ToolCall, ToolFailure
from matrixx_core.testing import RecordingClient, Rig, call, message, result, session

REPORT = '<task id="ses_worker-1" state="completed">\n<task_result>\nAll sewn.\n</task_result>\n</task>'


def run_by(agent: str = "architect", directory: Path | str = "") -> Session:
    made = session()
    made.directory = str(directory)
    assign(made, agent)
    return made


def before(tool: str, args: dict[str, Any], memory: Session, call_id: str = "call_test", **settings: Any) -> ToolCall | Inject | None:
    one = call(tool, directory=memory.directory, **args).model_copy(update={"call_id": call_id})
    return anyio.run(hook.tool_execute_before, one, memory, RecordingClient(), hook.Config(**settings))


def after(memory: Session, output: str = REPORT, tool: str = "task", **metadata: Any) -> Inject | None:
    one = result(tool, output, prompt="Sew.", directory=memory.directory).model_copy(update={"metadata": metadata})
    return anyio.run(hook.tool_execute_after, one, memory, RecordingClient())


def wrote(args: dict[str, Any], memory: Session, call_id: str = "call_other") -> Inject | None:
    one = result("write", "Wrote it.", directory=memory.directory, **args)
    one = one.model_copy(update={"call": one.call.model_copy(update={"call_id": call_id})})
    return anyio.run(hook.written, one, memory, RecordingClient())


def event(memory: Session, kind: str = "session.idle", client: RecordingClient | None = None, **settings: Any) -> None:
    one = SessionEvent(session_id=memory.id, type=kind)
    anyio.run(hook.session_event, one, memory, client or RecordingClient(), hook.Config(**settings))


def decided(memory: Session) -> wake.Offer | None:
    """What the arbiter sends, which the host then takes; the session is idle again."""
    chosen = wake.decide(memory)
    wake.settle(memory, sent=True)
    memory.state(wake.Wake).busy = False
    return chosen


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    made = tmp_path / ".matrixx/plans/flag.md"
    made.parent.mkdir(parents=True)
    made.write_text("- [x] buy cloth\n- [ ] sew it\n- [ ] hoist it\n")
    return made


@pytest.fixture
def mission(tmp_path: Path, plan: Path) -> MissionFile:
    made = MissionFile(tmp_path)
    made.start(plan, "ses_first")
    return made


@pytest.mark.parametrize("tool", ["write", "edit", "multiedit"])
@pytest.mark.parametrize("name", ["filePath", "file_path", "path"])
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("src/code.ts", True),
        (r"C:\work\src\code.ts", True),
        ("my.matrixx/a.md", True),
        (".matrixx", True),
        (".matrixx/plans/x.md", False),
        (r".matrixx\notepads\x.md", False),
        (r"C:\work\.matrixx/x.md", False),
        ("/elsewhere/.matrixx/x.md", False),
    ],
)
def test_an_orchestrator_that_writes_itself_is_told_to_delegate(tmp_path: Path, tool: str, name: str, path: str, told: bool) -> None:
    answer = before(tool, {name: path, "content": "x"}, run_by(directory=tmp_path))
    assert (isinstance(answer, Inject) and "task tool" in answer.text) if told else answer is None


def test_it_is_told_strongly_once_and_mildly_from_then_on(tmp_path: Path) -> None:
    memory, args = run_by(directory=tmp_path), {"filePath": "a.py", "content": "x"}
    assert before("write", args, memory, "call_1") is not None
    assert wrote(args, memory, "call_1") is None
    assert before("write", args, memory, "call_2") is None
    mild = wrote(args, memory, "call_2")
    assert mild is not None and mild.priority == "low"
    event(memory, "session.compacted")
    assert before("write", args, memory, "call_3") is not None


@pytest.mark.parametrize("args", [{}, {"filePath": ".matrixx/x.md"}, {"filePath": None}])
def test_writing_notes_is_its_own_work(tmp_path: Path, args: dict[str, Any]) -> None:
    assert before("write", args, run_by(directory=tmp_path)) is None
    assert wrote(args, run_by(directory=tmp_path)) is None


@pytest.mark.parametrize("path", ["\ud800\0" * 9, "x" * 100_000, "", ["a", 3], 7, "~", "/"])
def test_odd_paths_are_looked_at_without_an_error(tmp_path: Path, path: Any) -> None:
    answer = before("write", {"filePath": path}, run_by(directory=tmp_path))
    assert answer is None or (isinstance(answer, Inject) and len(answer.text) < 1_000)


def test_a_patch_is_looked_at_whole(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: .matrixx/a.md\n+x\n*** Delete File: src/a.py\n*** End Patch"
    answer = before("apply_patch", {"patchText": patch}, run_by(directory=tmp_path))
    assert isinstance(answer, Inject) and "src/a.py" in answer.text


@pytest.mark.parametrize("tool", ["task", "delegate_agent"])
def test_what_it_hands_out_is_to_be_one_task(tmp_path: Path, tool: str) -> None:
    answer = before(tool, {"prompt": "Sew it.", "subagent_type": "mouse"}, run_by(directory=tmp_path))
    assert isinstance(answer, ToolCall)
    assert answer.args == {"prompt": f"{hook.SINGLE}\nSew it.", "subagent_type": "mouse"}
    assert before(tool, dict(answer.args), run_by()) is None


@pytest.mark.parametrize("args", [{}, {"prompt": ""}, {"prompt": None}, {"prompt": ["x"]}])
def test_a_task_without_words_is_left_alone(tmp_path: Path, args: dict[str, Any]) -> None:
    assert before("task", args, run_by(directory=tmp_path)) is None


@pytest.mark.parametrize("agent", ["build", "oracle", "mouse", ""])
def test_other_agents_are_left_alone(tmp_path: Path, mission: MissionFile, agent: str) -> None:
    memory, there = run_by(agent, tmp_path), mission.read()
    assert before("write", {"filePath": "a.py", "content": "x"}, memory) is None
    assert before("task", {"prompt": "Sew."}, memory) is None
    assert wrote({"filePath": "a.py"}, memory) is None
    assert after(memory) is None
    assert mission.read() == there


def test_a_report_comes_back_with_the_mission_under_it(tmp_path: Path, mission: MissionFile) -> None:
    answer = after(run_by(directory=tmp_path))
    assert answer is not None
    assert "'flag', 1/3 boxes done, 2 remaining" in answer.text
    assert 'task(task_id="ses_worker-1", prompt="...")' in answer.text
    assert all(word in answer.text for word in ("Do not trust", "tests", "plan_update", "notepads/flag"))


def test_the_session_is_added_to_the_mission_once(tmp_path: Path, mission: MissionFile) -> None:
    memory = run_by(directory=tmp_path)
    for _ in range(2):
        after(memory)
    there = mission.read()
    assert there is not None and there.session_ids == ("ses_first", memory.id)


def test_without_a_mission_how_to_check_follows(tmp_path: Path) -> None:
    answer = after(run_by(directory=tmp_path), "Done.\n<task_metadata>\nsession_id: ses_a\n</task_metadata>")
    assert answer is not None
    assert "Do not trust" in answer.text and 'task(session_id="ses_a"' in answer.text
    assert not (tmp_path / ".matrixx/mission.json").exists()


@pytest.mark.parametrize("text", ["- [x] all\n", "no boxes\n", None])
def test_a_mission_with_nothing_left_changes_no_report(tmp_path: Path, plan: Path, mission: MissionFile, text: str | None) -> None:
    plan.unlink() if text is None else plan.write_text(text)
    assert after(run_by(directory=tmp_path)) is None


@pytest.mark.parametrize(
    "output", ["Background task launched\nTask ID: bg_1", "Error: no such agent", '<task id="ses_a" state="running">\n</task>']
)
def test_what_is_no_report_stays_as_it_is(tmp_path: Path, mission: MissionFile, output: str) -> None:
    assert after(run_by(directory=tmp_path), output) is None


@pytest.mark.parametrize("broken", ["{broken", "[]", '{"active_plan": "\\u0000"}', '{"active_plan": ["x"]}'])
def test_a_broken_mission_loses_no_report(tmp_path: Path, broken: str) -> None:
    (tmp_path / ".matrixx").mkdir()
    (tmp_path / ".matrixx/mission.json").write_text(broken)
    rig = Rig(hook, directory=str(tmp_path))
    assign(rig.host.sessions["ses_test"], "architect")
    assert rig.after("task", "\ud800\0", prompt="Sew.").event.output.startswith("\ud800\0")


def git(project: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=project, check=True, timeout=10, capture_output=True)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_report_names_the_files_that_were_changed_meanwhile(tmp_path: Path, wanted: bool) -> None:
    (tmp_path / "a.py").write_text("one\n")
    (tmp_path / "stale.py").write_text("one\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "begin")
    (tmp_path / "stale.py").write_text("changed before\n")
    memory = run_by(directory=tmp_path)
    before("task", {"prompt": "Sew."}, memory, changes=wanted)
    (tmp_path / "a.py").write_text("one\ntwo\n")
    (tmp_path / ".matrixx/notepads").mkdir(parents=True)
    (tmp_path / ".matrixx/notepads/x.md").write_text("x\n")
    answer = after(memory)
    assert answer is not None and ("- modified 'a.py' +1/-0\n" in answer.text) is wanted
    assert "stale.py" not in answer.text and "x.md" not in answer.text
    assert not memory.state(hook.Memory).trees


def test_many_changed_files_are_cut_short(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "begin")
    memory = run_by(directory=tmp_path)
    before("task", {"prompt": "Sew."}, memory)
    for number in range(hook.LISTED + 7):
        (tmp_path / f"f{number}").write_text("x\n")
    answer = after(memory)
    assert answer is not None and answer.text.count("\n- created") == hook.LISTED and "and 7 more" in answer.text


def test_a_task_that_failed_or_never_ends_leaves_nothing_behind(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "begin")
    memory = run_by(directory=tmp_path)
    before("task", {"prompt": "Sew."}, memory)
    assert memory.state(hook.Memory).trees
    hook.tool_execute_failed(ToolFailure(session_id=memory.id, call=call("task", prompt="x"), error="no"), memory)
    assert not memory.state(hook.Memory).trees


def in_mission(mission: MissionFile, directory: Path, agent: str = "architect", mission_agent: str = "") -> Session:
    memory = run_by(agent, directory)
    mission.start(directory / ".matrixx/plans/flag.md", memory.id, mission_agent)
    return memory


def test_a_session_of_the_mission_is_offered_to_go_on(tmp_path: Path, mission: MissionFile) -> None:
    memory, client = in_mission(mission, tmp_path), RecordingClient()
    event(memory, client=client)
    chosen = decided(memory)
    assert chosen is not None and client.requests == []
    assert (chosen.source, chosen.purpose, chosen.agent) == ("architect", "mission", "architect")
    assert "MISSION CONTINUATION" in chosen.text and "2 of 3 boxes" in chosen.text and "'flag'" in chosen.text


def test_it_can_be_told_to_let_sessions_rest(tmp_path: Path, mission: MissionFile) -> None:
    memory = in_mission(mission, tmp_path)
    event(memory, continues=False)
    assert decided(memory) is None


def test_a_session_of_no_mission_is_left_alone(tmp_path: Path, mission: MissionFile) -> None:
    memory = run_by(directory=tmp_path)
    event(memory)
    event(run_by())
    assert decided(memory) is None


def test_a_mission_whose_plan_is_done_ends(tmp_path: Path, plan: Path, mission: MissionFile) -> None:
    memory, client = in_mission(mission, tmp_path), RecordingClient()
    plan.write_text("- [x] sew it\n")
    event(memory, client=client)
    assert decided(memory) is None and mission.read() is None
    assert [name for name, _ in client.requests] == ["toast"]


@pytest.mark.parametrize("text", ["no boxes\n", None])
def test_a_plan_that_is_gone_or_empty_ends_nothing(tmp_path: Path, plan: Path, mission: MissionFile, text: str | None) -> None:
    memory = in_mission(mission, tmp_path)
    plan.unlink() if text is None else plan.write_text(text)
    event(memory)
    assert decided(memory) is None and mission.read() is not None


@pytest.mark.parametrize(
    ("agents", "goes_on"),
    [
        (("architect", ""), True),
        (("Architect (Plan Execution Orchestrator)", "architect"), True),
        (("morpheus", ""), True),
        (("oracle", "oracle"), True),
        (("build", ""), False),
        (("morpheus", "architect"), False),
        (("architect", "oracle"), False),
    ],
)
def test_only_the_missions_agent_goes_on(tmp_path: Path, mission: MissionFile, agents: tuple[str, str], goes_on: bool) -> None:
    memory = in_mission(mission, tmp_path, *agents)
    event(memory)
    assert (decided(memory) is not None) is goes_on


def test_work_in_the_background_is_waited_for(tmp_path: Path, mission: MissionFile) -> None:
    memory, client = in_mission(mission, tmp_path), RecordingClient(answer_agents=[{"name": "general"}])
    anyio.run(manager(client).launch, memory, client, Order("general", "Sew.", "Sew"))
    event(memory, client=client)
    assert not memory.state(wake.Wake).offers


def refuse(memory: Session) -> None:
    """The host refuses what the arbiter sends; its cool-down passes."""
    event(memory)
    assert wake.decide(memory) is not None
    wake.settle(memory, sent=False)
    memory.state(hook.Memory).offered_at -= 2 * wake.COOLDOWN
    memory.state(wake.Wake).not_before -= wake.COOLDOWN


@pytest.mark.parametrize("again", ["session.compacted", "person"])
def test_two_refusals_in_a_row_end_it_until_something_happens(tmp_path: Path, mission: MissionFile, again: str) -> None:
    memory = in_mission(mission, tmp_path)
    refuse(memory)
    refuse(memory)
    event(memory)
    assert wake.decide(memory) is None
    if again == "person":
        hook.chat_message(message("Go on."), memory)
        wake.rearm(memory)
    else:
        event(memory, again)
    event(memory)
    assert wake.decide(memory) is not None


def test_what_was_taken_between_two_refusals_counts(tmp_path: Path, plan: Path, mission: MissionFile) -> None:
    memory = in_mission(mission, tmp_path)
    refuse(memory)
    event(memory)
    assert decided(memory) is not None
    plan.write_text("- [x] buy cloth\n- [x] sew it\n- [ ] hoist it\n")
    refuse(memory)
    event(memory)
    assert wake.decide(memory) is not None


def test_it_stops_where_nothing_changes_and_goes_on_where_something_does(tmp_path: Path, plan: Path, mission: MissionFile) -> None:
    memory = in_mission(mission, tmp_path)
    sent = 0
    for _ in range(wake.UNCHANGED + 3):
        event(memory)
        sent += decided(memory) is not None
    assert sent == wake.UNCHANGED
    plan.write_text("- [x] buy cloth\n- [x] sew it\n- [ ] hoist it\n")
    event(memory)
    assert decided(memory) is not None


@pytest.mark.parametrize("broken", ["{broken", "[]", '{"session_ids": ["ses_test"], "active_plan": 7}', '{"session_ids": ["ses_test"]}'])
def test_a_broken_mission_wakes_nobody(tmp_path: Path, broken: str) -> None:
    (tmp_path / ".matrixx").mkdir()
    (tmp_path / ".matrixx/mission.json").write_text(broken)
    memory = run_by(directory=tmp_path)
    event(memory)
    assert decided(memory) is None


def test_a_whole_host_does_all_of_it(tmp_path: Path, mission: MissionFile) -> None:
    rig = Rig(hook, directory=str(tmp_path))
    assign(rig.host.sessions["ses_test"], "architect")
    assert rig.before("task", prompt="Sew.").event.args["prompt"].startswith(hook.SINGLE)
    report = rig.after("task", REPORT, prompt="Sew.").event.output
    assert report.startswith(REPORT) and "Mission: 'flag'" in report
    rig.event("session.idle")
    assert decided(rig.host.sessions["ses_test"]) is not None
    assert not rig.before("bash", command="true").ran
