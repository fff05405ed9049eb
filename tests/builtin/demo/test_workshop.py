import shutil
from pathlib import Path

import pytest

from matrixx_builtin.demo import keys, script
from matrixx_builtin.demo.workshop import NOT_FOUND, ToolError, Workshop

WAITING = script.Script(files={"a.txt": "one\ntwo\n"}, steps=(script.Step(title="t", tool="bash", args={"command": "git commit --amend"}),))


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    project = tmp_path / "project"
    project.mkdir()
    made = Workshop(project, tmp_path / "home", WAITING)
    made.furnish()
    return made


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside", "a/../../outside", "link/outside"])
@pytest.mark.parametrize("tool", ["read", "write", "edit"])
def test_nothing_outside_of_the_project_is_read_or_written(workshop: Workshop, tool: str, path: str) -> None:
    (workshop.project / "link").symlink_to(workshop.project.parent)
    with pytest.raises(ToolError, match="outside the scratch project"):
        workshop.run(tool, {"filePath": path, "content": "x", "oldString": "a", "newString": "b"}, {})
    assert not (workshop.project.parent / "outside").exists()


@pytest.mark.parametrize("command", ["", "touch made", "git commit", "env"])
def test_no_command_runs_that_is_not_in_the_script(workshop: Workshop, command: str) -> None:
    with pytest.raises(ToolError, match="only the commands of its own script"):
        workshop.run("bash", {"command": command}, {})
    assert not (workshop.project / "made").exists()


def test_a_tool_that_is_not_there_is_said_so(workshop: Workshop) -> None:
    with pytest.raises(ToolError, match="unavailable tool 'fly'"):
        workshop.run("fly", {}, {})


def test_an_edit_changes_the_first_place_and_fails_without_one(workshop: Workshop) -> None:
    workshop.run("edit", {"filePath": "a.txt", "oldString": "one", "newString": "1"}, {})
    assert (workshop.project / "a.txt").read_text() == "1\ntwo\n"
    for old in ("one", ""):
        with pytest.raises(ToolError) as failed:
            workshop.run("edit", {"filePath": "a.txt", "oldString": old, "newString": "x"}, {})
        assert str(failed.value) == NOT_FOUND


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize(("env", "waited"), [({}, 1), ({"GIT_EDITOR": ":"}, 0)])
def test_a_command_that_opens_an_editor_is_ended_and_counted(workshop: Workshop, env: dict[str, str], waited: int) -> None:
    done = workshop.run("bash", {"command": "git commit --amend"}, env)
    assert workshop.waited == waited
    assert ("waits for a person" in done.summary) is bool(waited)
    assert not list(workshop.home.glob("asked*"))


def test_every_run_has_keys_of_its_own_that_are_in_no_file_of_the_project() -> None:
    first, second = keys.made_up(), keys.made_up()
    assert set(first.values()).isdisjoint(second.values())
    text = (Path(script.__file__).parent / "session.toml").read_text("utf-8")
    assert all(f"{{{{{name}}}}}" in text for name in first)


def test_the_log_is_about_300_kilobytes() -> None:
    assert 250_000 < len(script.server_log()) < 350_000
