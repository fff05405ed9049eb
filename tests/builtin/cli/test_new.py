"""``matrixx new`` and ``matrixx check``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from builtin.cli.samples import Run

NAMES = {"pyproject.toml", "matrixx_no_shutdown.py", "test_no_shutdown.py"}


@pytest.mark.parametrize("name", ["no-shutdown", "matrixx-no-shutdown"])
def test_three_files_are_written(matrixx: Run, project: Path, name: str) -> None:
    assert matrixx("new", name).exit_code == 0
    assert {path.name for path in (project / "matrixx-no-shutdown").iterdir()} == NAMES


def test_a_new_hook_keeps_every_promise_and_passes_its_own_tests(matrixx: Run, project: Path) -> None:
    matrixx("new", "no-shutdown")
    folder = project / "matrixx-no-shutdown"
    for command in ([sys.executable, "-m", "matrixx_builtin", "check", str(folder)], [sys.executable, "-m", "pytest", "-q", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["No", "a b", "../x", "", "a--b", "1a", "ä", "x" * 5 + "\x00"])
def test_a_name_that_is_none_is_told_with_an_example(matrixx: Run, project: Path, name: str) -> None:
    result = matrixx("new", name)
    assert result.exit_code == 2 and "no-force-push" in result.stderr and list(project.iterdir()) == []


def test_nothing_is_overwritten(matrixx: Run, project: Path) -> None:
    (project / "matrixx-mine").mkdir()
    result = matrixx("new", "mine")
    assert result.exit_code == 2 and "exists" in result.stderr and list((project / "matrixx-mine").iterdir()) == []


def test_what_is_broken_is_listed_and_the_exit_code_is_1(matrixx: Run, project: Path) -> None:
    matrixx("new", "sloppy")
    (project / "matrixx-sloppy" / "test_sloppy.py").unlink()
    result = matrixx("check", "matrixx-sloppy", "--json")
    assert result.exit_code == 1 and any("no test" in problem for problem in json.loads(result.stdout))
    assert "no test" in matrixx("check", "matrixx-sloppy").stdout


def test_a_folder_that_is_no_plugin_is_told(matrixx: Run, project: Path) -> None:
    result = matrixx("check", ".", "--json")
    assert result.exit_code == 1 and "pyproject.toml cannot be read" in json.loads(result.stdout)[0]
