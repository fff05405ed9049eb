from pathlib import Path

import matrixx_directory_agents_injector as hook
import pytest

from matrixx_core.testing import Rig

MARK = "[directory notes: "


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "api/v1").mkdir(parents=True)
    for name, text in {"AGENTS.md": "root", "api/AGENTS.md": "use snake case", "api/README.md": "the api", "api/v1/a.py": "x = 1"}.items():
        (root / name).write_text(text)
    return root


def made(root: Path, **settings: object) -> Rig:
    return Rig(hook, settings={"directory-agents-injector": settings}, directory=str(root))


def told(rig: Rig, path: Path, output: str = "out", tool: str = "read") -> str:
    return rig.after(tool, output, filePath=str(path)).event.output.removeprefix(output).strip()


@pytest.mark.parametrize("tool", ["read", "edit", "write"])
def test_notes_of_the_directories_are_shown_once_and_once_more_after_a_summary(project: Path, tool: str) -> None:
    rig, file = made(project), project / "api/v1/a.py"
    first = told(rig, file, tool=tool)
    assert first.count(MARK) == 2
    assert first.index("use snake case") < first.index("the api")
    assert "root" not in first
    assert told(rig, file, tool=tool) == ""
    rig.event("session.compacted")
    assert told(rig, file, tool=tool) == first


@pytest.mark.parametrize(
    ("settings", "output", "shown"),
    [
        ({}, "out", True),
        ({}, "out\nInstructions from: api/AGENTS.md\nuse snake case\n", False),
        ({"host_loads": "never"}, "out use snake case", True),
        ({"host_loads": "always"}, "out", False),
        ({"names": ["README.md"]}, "out", False),
    ],
)
def test_what_the_host_has_loaded_is_not_added(project: Path, settings: dict[str, object], output: str, shown: bool) -> None:
    rig = made(project, **settings)
    assert ("use snake case" in told(rig, project / "api/v1/a.py", output)) is shown


def test_who_has_read_the_file_is_not_shown_it(project: Path) -> None:
    rig = made(project)
    assert "use snake case" not in told(rig, project / "api/AGENTS.md", "1: use snake case")
    assert "use snake case" not in told(rig, project / "api/v1/a.py")


def test_nothing_outside_of_the_workspace_is_read(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "project-other"
    other.mkdir()
    (other / "AGENTS.md").write_text("outside")
    (project / "link").symlink_to(other)
    (project / "linked").mkdir()
    (project / "linked/AGENTS.md").symlink_to(other / "AGENTS.md")
    (project / "loop").symlink_to(project / "loop")
    for name in ("../project-other/a.py", "link/a.py", "linked/a.py", "loop/a.py"):
        assert "outside" not in told(made(project), project / name)


@pytest.mark.parametrize("content", [b"", b"\0\1\2", b"x" * (hook.MOST_BYTES + 1)])
def test_what_is_no_text_or_too_long_is_left_out(project: Path, content: bytes) -> None:
    (project / "api/AGENTS.md").write_bytes(content)
    assert "AGENTS.md" not in told(made(project), project / "api/v1/a.py")


def test_a_long_text_is_cut_and_says_so(project: Path) -> None:
    (project / "api/AGENTS.md").write_text("word " * 2_000)
    text = told(made(project, max_tokens=100), project / "api/v1/a.py")
    assert len(text) <= 400
    assert "read the file for the rest" in text


@pytest.mark.parametrize("path", [None, 3, [], "", "\0", "\ud800", "a" * 10_000, "../" * 100])
def test_hostile_arguments_change_nothing(project: Path, path: object) -> None:
    outcome = made(project).after("read", "out", filePath=path)
    assert outcome.event.output.startswith("out")
    assert "use snake case" not in outcome.event.output
