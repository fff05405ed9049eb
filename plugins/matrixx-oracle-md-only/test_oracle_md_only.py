from pathlib import Path
from typing import Any

import anyio
import matrixx_oracle_md_only as hook
import pytest

from matrixx_builtin.essentials import agent_roles
from matrixx_builtin.services.agents import assign
from matrixx_builtin.services.mission import MissionFile
from matrixx_core import Block, Inject, Message, Session, ToolCall
from matrixx_core.testing import RecordingClient, Rig, call, plugin_name, session


def run_by(agent: str, directory: Path | str = "") -> Session:
    made = session()
    made.directory = str(directory)
    assign(made, agent)
    return made


def judged(tool: str, args: dict[str, Any], directory: Path | str, agent: str = "oracle", **settings: Any) -> Block | None:
    one = call(tool, directory=str(directory), **args)
    return anyio.run(hook.only_notes, one, run_by(agent), RecordingClient(), hook.Config(**settings))


def rewritten(tool: str, args: dict[str, Any], agent: str = "oracle", memory: Session | None = None) -> ToolCall | Inject | None:
    return anyio.run(hook.tool_execute_before, call(tool, directory="/project", **args), memory or run_by(agent), RecordingClient())


def patch(*lines: str) -> dict[str, str]:
    return {"patchText": "\n".join(("*** Begin Patch", *lines, "*** End Patch"))}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    here = tmp_path / "project"
    for name in (".matrixx/drafts/idea.md", ".matrixx/plans/ship.md", "src/a.py"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("x\n")
    (here / ".matrixx/escape.md").symlink_to("../src/a.py")
    (here / ".matrixx/away").symlink_to(tmp_path)
    return here


@pytest.mark.parametrize("agent", ["oracle", "Oracle (Planner)", "Oracle (Plan Builder)", "ORACLE", "prometheus"])
def test_a_planner_writes_no_code(project: Path, agent: str) -> None:
    block = judged("write", {"filePath": "src/a.py", "content": "x"}, project, agent)
    assert block is not None and "src/a.py" in block.reason and "/start-work" in block.instead


@pytest.mark.parametrize("agent", ["morpheus", "architect", "mouse", "build", "", "my-oracle-reviewer"])
def test_other_agents_write_what_they_want(project: Path, agent: str) -> None:
    assert judged("write", {"filePath": "src/a.py", "content": "x"}, project, agent) is None


@pytest.mark.parametrize("tool", ["write", "edit", "Write", "multiedit"])
@pytest.mark.parametrize("name", ["filePath", "file_path", "path"])
@pytest.mark.parametrize(
    ("path", "passes"),
    [
        (".matrixx/plans/x.md", True),
        ("{here}/.matrixx/drafts/x.md", True),
        (r".matrixx\plans\x.md", True),
        (r".matrixx/plans\x.MD", True),
        (".MATRIXX/x.md", True),
        ("src/.matrixx/plans/x.md", True),
        ("..w/.matrixx/x.md", True),
        (".matrixx/x.py", False),
        (".matrixx/x.md.py", False),
        ("README.md", False),
        ("/other/.matrixx/x.md", False),
        ("../other/.matrixx/x.md", False),
        (".matrixx/../secrets.md", False),
        (r"my-project\src\code.ts", False),
        ("src/evil.matrixx/a.md", False),
        ("a.matrixx/b.md", False),
        ("~/.matrixx/a.md", False),
        (".matrixx/escape.md", False),
        (".matrixx/away/x.md", False),
        (".matrixx.md", False),
    ],
)
def test_where_a_planner_writes(project: Path, tool: str, name: str, path: str, passes: bool) -> None:
    args = {name: path.replace("{here}", str(project)), "content": "x", "oldString": "a", "newString": "b"}
    assert (judged(tool, args, project) is None) is passes


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("apply_patch", patch("*** Update File: src/a.py", "@@", "-x", "+y")),
        ("apply_patch", patch("*** Add File: .matrixx/x.md", "+x", "*** Delete File: src/a.py")),
        ("apply_patch", patch("*** Update File: .matrixx/plans/ship.md", "*** Move to: ship.md", "@@", "-x", "+y")),
        ("notebookedit", {"notebook_path": "a.ipynb", "new_source": "x"}),
        ("hashline_edit", {"filePath": ".matrixx/drafts/idea.md", "rename": "idea.py"}),
        ("mcp__fs__write_file", {"path": "a.py", "content": "x"}),
        ("bash", {"command": "echo x > src/a.py"}),
        ("bash", {"command": "sed -i s/a/b/ src/a.py"}),
        ("bash", {"command": "rm -rf src"}),
        ("bash", {"command": "mv src/a.py src/b.py"}),
        ("bash", {"command": "mkdir lib"}),
    ],
)
def test_no_other_way_to_write_is_open(project: Path, tool: str, args: dict[str, Any]) -> None:
    assert judged(tool, args, project) is not None


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("bash", {"command": "echo hello"}),
        ("bash", {"command": "git log | head > /dev/null"}),
        ("bash", {"command": "mkdir -p .matrixx/drafts && echo x >> .matrixx/drafts/y.md"}),
        ("plan_create", {"name": "x", "content": "src/a.py"}),
        ("write", {"content": "x"}),
    ],
)
def test_looking_and_noting_is_free(project: Path, tool: str, args: dict[str, Any]) -> None:
    assert judged(tool, args, project) is None


def test_the_shell_may_be_left_to_planners(project: Path) -> None:
    assert judged("bash", {"command": "rm -rf src"}, project, shell=False) is None
    assert judged("write", {"filePath": "a.py", "content": "x"}, project, shell=False) is not None


@pytest.mark.parametrize(("in_mission", "in_messages", "blocked"), [("architect", "oracle", False), ("oracle", "architect", True)])
def test_the_mission_says_who_runs_a_session_before_the_messages_do(
    project: Path, in_mission: str, in_messages: str, blocked: bool
) -> None:
    memory = session()
    memory.directory = str(project)
    MissionFile(project).start(project / ".matrixx/plans/ship.md", memory.id, in_mission)
    client = RecordingClient(answer_messages=[Message(info={"role": "user", "agent": in_messages})])
    one = call("write", directory=str(project), filePath="a.py", content="x")
    assert (anyio.run(hook.only_notes, one, memory, client, hook.Config()) is not None) is blocked


@pytest.mark.parametrize("tool", ["task", "delegate_agent"])
def test_whom_a_planner_consults_reads_that_nothing_is_to_be_changed(tool: str) -> None:
    answer = rewritten(tool, {"prompt": "Where are the sails?", "description": "Ask", "subagent_type": "explore"})
    assert isinstance(answer, ToolCall)
    assert answer.args["prompt"] == f"{hook.NOTICE}\n\nWhere are the sails?"
    assert answer.args["subagent_type"] == "explore"
    assert rewritten(tool, dict(answer.args)) is None


@pytest.mark.parametrize(
    ("agent", "args"), [("build", {"prompt": "x"}), ("oracle", {"prompt": ""}), ("oracle", {}), ("oracle", {"prompt": 7})]
)
def test_other_tasks_are_handed_on_as_they_are(agent: str, args: dict[str, Any]) -> None:
    assert rewritten("task", args, agent) is None


@pytest.mark.parametrize(("tool", "args"), [("plan_create", {"name": "x"}), ("write", {"filePath": ".matrixx/plans/x.md", "content": "x"})])
def test_a_planner_that_writes_a_plan_is_told_once_how_plans_are_made(tool: str, args: dict[str, Any]) -> None:
    memory = run_by("oracle")
    assert isinstance(rewritten(tool, args, memory=memory), Inject)
    assert rewritten(tool, args, memory=memory) is None
    assert rewritten("write", {"filePath": ".matrixx/drafts/x.md", "content": "x"}) is None
    assert rewritten(tool, args, "build") is None


def test_a_whole_host_knows_the_planner_by_its_role(project: Path) -> None:
    settings = {plugin_name(agent_roles): {"roles": {"thinker": "planner"}}}
    rig = Rig(hook, agent_roles, settings=settings, directory=str(project))
    rig.chat("Plan it.", agent="thinker")
    assert rig.before("write", filePath="a.py", content="x").blocked_by == "oracle-md-only"
    assert rig.before("write", filePath=".matrixx/drafts/x.md", content="x").block is None
    assert rig.before("task", prompt="Look.").event.args["prompt"].startswith(hook.NOTICE)
    rig.chat("Do it.", agent="build")
    assert rig.before("write", filePath="a.py", content="x").block is None


@pytest.mark.parametrize(
    "args",
    [
        {}, {"filePath": None}, {"filePath": 7}, {"filePath": ["a", 3, None]}, {"filePath": "a\0b"}, {"filePath": "\ud800.txt"}, {"filePath": ""},
        {"filePath": "x" * 100_000}, {"patchText": "*** Add File: "}, {"command": "((((" * 500}, {"prompt": "\ud800\0"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["write", "apply_patch", "bash", "task", "", "\ud800"])
def test_odd_arguments_are_judged_without_an_error(tmp_path: Path, tool: str, args: dict[str, Any]) -> None:
    one = call(tool, directory=str(tmp_path), **args)
    for agent in ("oracle", "build"):
        block = anyio.run(hook.only_notes, one, run_by(agent), RecordingClient(), hook.Config())
        assert block is None or (agent == "oracle" and isinstance(block, Block))
        anyio.run(hook.tool_execute_before, one, run_by(agent), RecordingClient())
