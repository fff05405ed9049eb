from pathlib import Path
from typing import Any

import matrixx_task_edit_guard as hook
import pytest

from matrixx_core import Block
from matrixx_core.testing import Rig, call

PLAN = ".matrixx/plans/ship.md"
TASK = ".matrixx/tasks/T-1a.json"


def judged(tool: str, args: dict[str, Any], directory: Path | str = "", **settings: Any) -> Block | None:
    return hook.tool_execute_before(call(tool, directory=str(directory), **args), hook.Config(**settings))


def patch(*lines: str) -> dict[str, str]:
    return {"patchText": "\n".join(("*** Begin Patch", *lines, "*** End Patch"))}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (PLAN, TASK, ".matrixx/tasks/other.json", ".matrixx/drafts/idea.md", ".matrixx/notepads/ship/learnings.md", "src/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("- [ ] there\n")
    (tmp_path / "link.md").symlink_to(PLAN)
    (tmp_path / "plans").symlink_to(".matrixx/plans")
    return tmp_path


@pytest.mark.parametrize("name", ["filePath", "file_path", "path"])
@pytest.mark.parametrize("tool", ["write", "Write", "edit", "mcp__fs__write_file"])
@pytest.mark.parametrize(
    "path",
    [PLAN, f"./{PLAN}", "{here}/.matrixx/plans/new.md", r".matrixx\plans\ship.md", ".MATRIXX/Plans/SHIP.MD", ".matrixx//plans/ship.md",
     "src/../.matrixx/plans/ship.md", "link.md", "plans/new.md", "sub/.matrixx/plans/x.md", ".matrixx/plans/_archive/old.md"],
)  # fmt: skip
def test_a_plan_is_not_written_by_a_file_tool(project: Path, tool: str, name: str, path: str) -> None:
    block = judged(tool, {name: path.replace("{here}", str(project)), "content": "x", "oldString": "a", "newString": "b"}, project)
    assert block is not None and "is a plan" in block.reason and "plan_update" in block.instead


@pytest.mark.parametrize("tool", ["write", "edit", "multiedit"])
@pytest.mark.parametrize("path", [TASK, "{here}/.matrixx/tasks/T-new.json", r".matrixx\tasks\T-1a.json"])
def test_a_tasks_record_is_not_written_by_a_file_tool(project: Path, tool: str, path: str) -> None:
    block = judged(tool, {"filePath": path.replace("{here}", str(project)), "content": "x"}, project)
    assert block is not None and "task_update" in block.instead


@pytest.mark.parametrize(
    "args",
    [
        patch(f"*** Update File: {PLAN}", "@@", "-a", "+b"),
        patch("*** Add File: .matrixx/plans/new.md", "+x"),
        patch(f"*** Delete File: {PLAN}"),
        patch("*** Update File: src/a.py", f"*** Move to: {PLAN}", "@@", "-a", "+b"),
        patch("*** Update File: src/a.py", "@@", "-a", "+b", f"*** Update File: {TASK}", "@@", "-a", "+b"),
    ],
)
def test_a_patch_is_held_to_it_too(project: Path, args: dict[str, str]) -> None:
    assert judged("apply_patch", args, project) is not None


def test_an_edit_that_renames_onto_a_plan_is_stopped(project: Path) -> None:
    assert judged("hashline_edit", {"filePath": "src/a.py", "rename": PLAN}, project) is not None


@pytest.mark.parametrize(
    "command",
    [
        f"sed -i s/a/b/ {PLAN}", f"echo x > {PLAN}", f"echo x >> {PLAN}", f"cat > {PLAN} <<'EOF'\nx\nEOF", f"printf x | tee {PLAN}",
        f"rm {PLAN}", f"mv {PLAN} /tmp/x", f"cp src/a.py {PLAN}", f"touch {PLAN}", f"truncate -s 0 {PLAN}", f"perl -i -pe s/a/b/ {PLAN}",
        f"dd if=src/a.py of={PLAN}", f"ln -sf ../../src/a.py {PLAN}", "cd .matrixx && rm plans/ship.md", f"> {PLAN}",
        f"python3 -c \"open('{PLAN}', 'w').write('x')\"", f"grep -l x {PLAN} && sed -i s/a/b/ {PLAN}", f"git checkout {PLAN}",
        "rm -rf .matrixx", "rm -rf .matrixx/plans", "rm -rf .matrixx/tasks", "rm -rf .", "find .matrixx -delete", "mv .matrixx old",
        f"rm {TASK}", "rm .matrixx/tasks/T-*.json", f"sed -i s/a/b/ {TASK}", f"cp x {TASK}", f"echo x | tee {TASK}",
        f"bash -c 'rm {PLAN}'", f"echo '{{}}' > {TASK}",
    ],
)  # fmt: skip
def test_the_shell_does_not_write_move_or_delete_them(project: Path, command: str) -> None:
    assert judged("bash", {"command": command}, project) is not None


@pytest.mark.parametrize(
    "command",
    [
        f"echo see {PLAN}", f"grep -n x {PLAN}", f"cat {PLAN}", f"head -3 {PLAN}", f"cp {PLAN} /tmp/copy.md", f"sed -n 1,5p {PLAN}",
        f"git commit -m 'confirm {PLAN} and rm'", "sed -i s/a/b/ src/a.py", "ls .matrixx/plans", "rm .matrixx/tasks/other.json",
        "mkdir -p .matrixx/plans", "rm -rf src", "echo x >> .matrixx/notepads/ship/learnings.md", f"git add {PLAN}", f"wc -l {PLAN}",
    ],
)  # fmt: skip
def test_the_shell_may_read_and_mention_them(project: Path, command: str) -> None:
    assert judged("bash", {"command": command}, project) is None


def test_a_folder_without_any_plan_or_task_may_be_deleted(tmp_path: Path) -> None:
    (tmp_path / ".matrixx/plans").mkdir(parents=True)
    assert judged("bash", {"command": "rm -rf .matrixx"}, tmp_path) is None


@pytest.mark.parametrize("path", [PLAN, "{here}/.matrixx/plans/ship.md", r".matrixx\plans\ship.md", "link.md", ".MATRIXX/PLANS/SHIP.MD"])
@pytest.mark.parametrize("name", ["filePath", "file_path", "path"])
def test_plans_are_read_with_plan_read(project: Path, path: str, name: str) -> None:
    args = {name: path.replace("{here}", str(project))}
    block = judged("read", args, project)
    assert block is not None and "plan_read" in block.instead
    assert judged("read", args, project, allow_read=True) is None


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write", {"filePath": ".matrixx/drafts/idea.md", "content": "x"}),
        ("write", {"filePath": ".matrixx/tasks/other.json", "content": "x"}),
        ("write", {"filePath": "plans.md", "content": f"see {PLAN}"}),
        ("write", {"filePath": "docs/my.matrixx/plans.md", "content": "x"}),
        ("edit", {"filePath": "src/a.py", "oldString": PLAN, "newString": "x"}),
        ("read", {"filePath": TASK}),
        ("read", {"filePath": ".matrixx/plans"}),
        ("read", {"filePath": ".matrixx/drafts/idea.md"}),
        ("plan_read", {"name": "ship"}),
        ("plan_update", {"name": "ship", "edits": [{"op": "append", "lines": [PLAN]}]}),
        ("task_update", {"id": "T-1a", "status": "completed"}),
    ],
)
def test_other_files_and_the_tools_that_own_them_pass(project: Path, tool: str, args: dict[str, Any]) -> None:
    assert judged(tool, args, project) is None


def test_a_whole_host_refuses_it(project: Path) -> None:
    rig = Rig(hook, directory=str(project))
    assert rig.before("write", filePath=PLAN, content="x").blocked_by == "task-edit-guard"
    assert not rig.before("grep", pattern="x", path=PLAN).ran


@pytest.mark.parametrize(
    "args",
    [
        {}, {"filePath": None}, {"filePath": 7}, {"filePath": ["a", 3, None]}, {"filePath": "a\0b"}, {"filePath": "\ud800.txt"}, {"filePath": ""},
        {"filePath": "x" * 1_000_000}, {"patchText": "*** Add File: "}, {"command": "((((" * 500}, {"command": b"\0"}, {"command": "rm \ud800"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["write", "apply_patch", "bash", "read", "", "\ud800"])
def test_odd_arguments_are_judged_without_an_error(tmp_path: Path, tool: str, args: dict[str, Any]) -> None:
    assert judged(tool, args, tmp_path) is None


def test_a_directory_that_is_none_raises_nothing() -> None:
    assert judged("bash", {"command": "rm -rf ."}, "/nowhere\0") is None
