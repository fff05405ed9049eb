from pathlib import Path
from typing import Any

import matrixx_write_existing_file_guard as hook
import pytest

from matrixx_core import Block, Session
from matrixx_core.testing import Rig, call, result, session


def judged(tool: str, args: dict[str, Any], directory: Path | str = "", memory: Session | None = None, **settings: Any) -> Block | None:
    return hook.tool_execute_before(call(tool, directory=str(directory), **args), memory or session(), hook.Config(**settings))


def patch(*lines: str) -> dict[str, str]:
    return {"patchText": "\n".join(("*** Begin Patch", *lines, "*** End Patch"))}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (
        "a.py",
        "regular.md",
        "sub/b.py",
        ".matrixx/notes.md",
        ".matrixx/file.txt",
        ".matrixx/plans/plan.md",
        "outside/.matrixx/x.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("there\n")
    (tmp_path / "empty.py").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "link").symlink_to("a.py")
    (tmp_path / "folder").symlink_to("sub")
    (tmp_path / ".matrixx/escape.md").symlink_to("../a.py")
    return tmp_path


@pytest.mark.parametrize("name", ["filePath", "file_path", "path"])
@pytest.mark.parametrize("tool", ["write", "Write", "mcp__fs__write_file"])
@pytest.mark.parametrize(
    "path", ["a.py", "./a.py", "sub/../a.py", "{here}/a.py", "sub/b.py", r"sub\b.py", "link", "dangling", "folder/b.py", "sub"]
)
def test_a_path_that_exists_is_not_written_whole(project: Path, tool: str, name: str, path: str) -> None:
    path = path.replace("{here}", str(project))
    block = judged(tool, {name: path, "content": "x"}, project)
    assert block is not None
    assert path in block.reason and "exists" in block.reason and "edit tool" in block.instead


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write", {"filePath": "new.py", "content": "x"}),
        ("write", {"filePath": "{here}/new/er.py", "content": "x"}),
        ("write", {"filePath": "folder/new.py", "content": "x"}),
        ("write", {"content": "x"}),
        ("edit", {"filePath": "a.py", "oldString": "there", "newString": "x"}),
        ("multiedit", {"filePath": "a.py", "edits": []}),
        ("read", {"filePath": "a.py"}),
        ("bash", {"command": "echo x > a.py"}),
        ("bash", {"command": "cp a.py sub/b.py; cat > a.py <<'EOF'\nx\nEOF"}),
        ("apply_patch", patch("*** Update File: a.py", "@@", "-there", "+x")),
        ("apply_patch", patch("*** Add File: new.py", "+x")),
        ("apply_patch", patch("*** Update File: a.py", "*** Move to: new.py", "@@", "-there", "+x")),
        ("apply_patch", patch("*** Delete File: a.py")),
        ("task", {"prompt": "write a.py"}),
    ],
)
def test_new_files_edits_and_the_shell_pass(project: Path, tool: str, args: dict[str, Any]) -> None:
    args = {key: value.replace("{here}", str(project)) if isinstance(value, str) else value for key, value in args.items()}
    assert judged(tool, args, project) is None


@pytest.mark.parametrize(
    "args",
    [
        patch("*** Add File: a.py", "+x"),
        patch("*** Update File: sub/b.py", "@@", "-there", "+x", "*** Add File: a.py", "+x"),
        patch("*** Update File: sub/b.py", "*** Move to: a.py", "@@", "-there", "+x"),
        patch("*** Delete File: a.py", "*** Add File: a.py", "+x"),
        patch("*** Add File: dangling", "+x"),
    ],
)
def test_a_patch_that_adds_or_moves_onto_a_file_is_stopped(project: Path, args: dict[str, str]) -> None:
    block = judged("apply_patch", args, project)
    assert block is not None and "exists" in block.reason


@pytest.mark.parametrize(
    ("path", "passes"),
    [
        (".matrixx/notes.md", True),
        ("{here}/.matrixx/notes.md", True),
        (".matrixx/plans/plan.md", False),
        (r".matrixx\plans\plan.md", False),
        (".matrixx/file.txt", False),
        (".matrixx/../regular.md", False),
        (".matrixx/escape.md", False),
        ("regular.md", False),
        ("outside/.matrixx/x.md", False),
    ],
)
def test_notes_may_be_replaced_and_plans_may_not(project: Path, path: str, passes: bool) -> None:
    assert (judged("write", {"filePath": path.replace("{here}", str(project))}, project) is None) is passes


def test_relative_paths_start_at_the_calls_directory(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "sub")
    assert judged("write", {"filePath": "b.py"}, project) is None
    assert judged("write", {"filePath": "a.py"}, project) is not None
    assert judged("write", {"filePath": "b.py"}) is not None


def test_empty_files_may_be_allowed(project: Path) -> None:
    assert judged("write", {"filePath": "empty.py"}, project) is not None
    assert judged("write", {"filePath": "empty.py"}, project, allow_empty=True) is None
    assert judged("write", {"filePath": "a.py"}, project, allow_empty=True) is not None
    assert judged("write", {"filePath": "sub"}, project, allow_empty=True) is not None
    assert judged("write", {"filePath": "dangling"}, project, allow_empty=True) is not None


def test_files_of_the_same_session_may_be_allowed(project: Path) -> None:
    memory = session()
    args = {"filePath": "mine.py", "content": "x"}
    assert judged("write", args, project, memory, allow_own=True) is None
    (project / "mine.py").write_text("x")
    assert judged("write", args, project, memory, allow_own=True) is not None  # the call may have failed: nothing says it made the file
    hook.tool_execute_after(result("write", "done", **args), memory)
    assert judged("write", args, project, memory, allow_own=True) is None
    assert judged("write", {"filePath": "a.py"}, project, memory, allow_own=True) is not None
    assert judged("write", args, project, session(), allow_own=True) is not None
    assert judged("write", args, project, memory) is not None


def test_a_whole_host_remembers_what_a_session_has_created(project: Path) -> None:
    rig = Rig(hook, settings={"write-existing-file-guard": {"allow_own": True}}, directory=str(project))
    assert rig.before("write", filePath="mine.py", content="x").block is None
    (project / "mine.py").write_text("x")
    rig.after("write", "done", filePath="mine.py", content="x")
    assert rig.before("write", filePath="mine.py", content="y").block is None
    assert rig.before("write", filePath="a.py", content="y").blocked_by == "write-existing-file-guard"


def test_calls_whose_end_is_never_told_do_not_pile_up(project: Path) -> None:
    memory = session()
    for number in range(hook.MOST_PENDING * 2):
        one = call("write", directory=str(project), filePath=f"new{number}.py").model_copy(update={"call_id": f"call_{number}"})
        assert hook.tool_execute_before(one, memory, hook.Config(allow_own=True)) is None
    assert len(memory.state(hook.Created).pending) == hook.MOST_PENDING


def test_tools_that_write_nothing_whole_are_not_looked_at() -> None:
    assert not Rig(hook).before("edit", filePath="a.py").ran


@pytest.mark.parametrize(
    "args",
    [
        {}, {"filePath": None}, {"filePath": 7}, {"filePath": ["a", 3, None]}, {"filePath": "a\0b"}, {"filePath": "\ud800.txt"}, {"filePath": ""},
        {"filePath": "x" * 1_000_000}, {"patchText": "*** Add File: "}, {"patchText": 3}, {"command": "((((" * 500},
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["write", "apply_patch", "bash", "mcp__x__write", "", "\ud800"])
def test_odd_arguments_are_judged_without_an_error(tmp_path: Path, tool: str, args: dict[str, Any]) -> None:
    assert judged(tool, args, tmp_path, allow_own=True, allow_empty=True) is None
