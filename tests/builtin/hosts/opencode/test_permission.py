"""What the person is asked before a tool of ours runs."""

from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.hosts.opencode.permission import questions
from matrixx_core.events import ToolCall


def asked(project: Path, **args: Any) -> list[tuple[str, list[str]]]:
    call = ToolCall(session_id="s", tool="edit", args=args, call_id="c", directory=str(project / "part"))
    return [(one["permission"], one["patterns"]) for one in questions("edit", call, str(project))]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project/part").mkdir(parents=True)
    (tmp_path / "project/link").symlink_to(tmp_path / "elsewhere")
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("args", "patterns"),
    [
        ({"filePath": "a.py", "edits": []}, ["part/a.py"]),
        ({"filePath": "../a.py", "edits": []}, ["a.py"]),
        ({"filePath": "a.py", "delete": True}, ["part/a.py"]),
        ({"filePath": "a.py", "edits": [], "rename": "b.py"}, ["part/a.py", "part/b.py"]),
        ({}, ["*"]),
        ({"filePath": 7}, ["*"]),
    ],
)
def test_patterns_are_the_files_as_seen_from_the_worktree(project: Path, args: dict[str, Any], patterns: list[str]) -> None:
    [(permission, found)] = asked(project, **args)
    assert (permission, sorted(found)) == ("edit", patterns)


@pytest.mark.parametrize("path", ["../../elsewhere/a.py", "../link/a.py"])
def test_a_file_outside_is_another_question_and_comes_first(project: Path, path: str) -> None:
    outside = str(project.parent / "elsewhere")
    assert asked(project, filePath=path, edits=[]) == [("external_directory", [f"{outside}/*"]), ("edit", ["../elsewhere/a.py"])]


def test_without_a_worktree_only_the_projects_folder_is_inside(project: Path) -> None:
    call = ToolCall(session_id="s", tool="edit", args={"filePath": "../a.py", "edits": []}, call_id="c", directory=str(project / "part"))
    assert [one["permission"] for one in questions("edit", call, "/")] == ["external_directory", "edit"]
