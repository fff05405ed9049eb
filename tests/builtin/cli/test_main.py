"""The group itself: what it lists, how it fails, what it imports."""

import json
import subprocess
import sys

import pytest
from builtin.cli.samples import Run

from matrixx_builtin.cli import cli


def test_every_listed_command_has_a_first_line_of_help_that_fits(matrixx: Run) -> None:
    shown = matrixx("--help").stdout
    names = cli.list_commands(None)  # type: ignore[arg-type]  # it needs no context
    assert {"replay", "explain", "hooks", "install", "uninstall", "trust", "doctor", "config", "new", "check", "timing", "serve"} <= set(
        names
    )
    for name in names:
        line = next(line for line in shown.splitlines() if line.strip().startswith(f"{name} "))
        assert not line.rstrip().endswith("..."), line


def test_help_imports_neither_the_engine_nor_what_it_needs() -> None:
    code = "import sys, json\nfrom matrixx_builtin.cli import cli\ntry: cli(['--help'])\nexcept SystemExit: print('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert not loaded & {"asyncio", "pydantic", "anyio", "rich", "json5", "matrixx_core", "importlib_metadata"}


@pytest.mark.parametrize(
    ("args", "way_out"),
    [
        (["hoks"], "did you mean 'hooks'"),
        (["zzz"], "matrixx --help"),
        (["hooks", "--jsn"], "matrixx hooks --help"),
        (["hooks", "--project", "nowhere"], "nowhere"),
        (["replay"], "FILE"),
        (["config", "sho"], "matrixx config"),
        (["serve", "emacs"], "opencode"),
        (["install", "opencode", "--json"], "matrixx install --help"),
    ],
)
def test_a_mistake_is_one_line_with_a_way_out_and_exit_code_2(matrixx: Run, args: list[str], way_out: str) -> None:
    result = matrixx(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("matrixx: ") and result.stderr.count("\n") == 1 and way_out in result.stderr


def test_a_group_without_a_command_shows_its_help(matrixx: Run) -> None:
    result = matrixx("config")
    assert "Commands:\n" in result.output and "matrixx: " not in result.output


def test_a_closed_pipe_ends_quietly() -> None:
    command = f"{sys.executable} -m matrixx_builtin hooks --json | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
