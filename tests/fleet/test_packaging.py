"""What a person does with pip: wheels into a clean environment, a stranger's hook in and out again."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("matrixx-core", "matrixx-env-file-write-guard", "matrixx-json-error-recovery")

STRANGER = {
    "pyproject.toml": """
[project]
name = "acme-agents"
version = "3.1"
description = "Keep agents from saying please."
requires-python = ">=3.11"
dependencies = ["matrixx-core==0.1.*"]

[project.entry-points."matrixx.hooks"]
no-please = "acme_agents"

[build-system]
requires = ["flit_core>=3.11"]
build-backend = "flit_core.buildapi"

[tool.flit.module]
name = "acme_agents"
""",
    "acme_agents.py": '''
"""Keep agents from saying please."""

from matrixx_core import Block, ToolCall, guard


@guard(tools={"bash"})
def tool_execute_before(call: ToolCall) -> Block | None:
    return Block("please is not needed") if "please" in str(call.args.get("command")) else None
''',
}


class Environment:
    """A clean virtual environment and what a person types in it."""

    def __init__(self, uv: str, folder: Path) -> None:
        self.uv, self.folder = uv, folder
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("MATRIXX", "VIRTUAL_ENV", "PYTHON"))},
            "VIRTUAL_ENV": str(folder / "venv"),
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "MATRIXX_STATE_DIR": str(folder / "state"),
            "UV_CACHE_DIR": subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip(),
        }
        self.run(uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv"))

    def run(self, *argv: str) -> str:
        done = subprocess.run(argv, env=self.env, cwd=self.folder, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"{' '.join(argv)}: {done.stdout}{done.stderr}"
        return done.stdout

    def pip(self, *argv: str) -> None:
        self.run(self.uv, "pip", *argv, "--quiet")

    def matrixx(self, *argv: str) -> Any:
        return json.loads(self.run(str(self.folder / "venv" / "bin" / "matrixx"), *argv, "--json"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    uv = os.environ.get("UV") or shutil.which("uv")
    if not uv:
        pytest.skip("uv is not on PATH: pip install uv")
    folder = tmp_path_factory.mktemp("packaging")
    for name in SHIPPED:
        subprocess.run(
            [uv, "build", "--quiet", "--wheel", "--package", name, "--out-dir", folder / "dist"], cwd=ROOT, check=True, timeout=300
        )
    made = Environment(uv, folder)
    made.pip("install", *map(str, (folder / "dist").glob("*.whl")))
    return made


def names(hooks: list[dict[str, Any]]) -> dict[str, str]:
    return {hook["name"]: hook["state"] for hook in hooks}


def test_the_wheels_work_in_a_clean_environment(environment: Environment) -> None:
    assert {"env-file-write-guard": "on", "json-error-recovery": "on"}.items() <= names(environment.matrixx("hooks")).items()
    verdict = environment.matrixx("explain", "bash", '{"command": "echo A=1 > .env"}')
    assert (verdict["verdict"], verdict["blocked_by"]) == ("block", "env-file-write-guard")


def test_the_wheels_hold_the_bridge_and_the_types(environment: Environment) -> None:
    site = environment.run(
        str(environment.folder / "venv/bin/python"), "-c", "import matrixx_core; print(matrixx_core.__path__[0])"
    ).strip()
    packages = Path(site).parent
    for path in ("matrixx_core/py.typed", "matrixx_builtin/py.typed", "matrixx_builtin/hosts/opencode/bridge.js"):
        assert (packages / path).is_file(), path


def test_a_strangers_hook_comes_acts_is_switched_off_and_goes(environment: Environment) -> None:
    before = environment.matrixx("hooks")
    folder = environment.folder / "acme"
    folder.mkdir()
    for name, text in STRANGER.items():
        (folder / name).write_text(text.lstrip(), "utf-8")
    polite = ("explain", "bash", '{"command": "please ls"}')

    environment.pip("install", str(folder))
    assert names(environment.matrixx("hooks")) == {**names(before), "no-please": "on"}
    assert environment.matrixx(*polite)["blocked_by"] == "no-please"

    settings = environment.folder / "config" / "matrixx" / "matrixx.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"disabled_hooks": ["no-please"]}')
    assert names(environment.matrixx("hooks"))["no-please"] == "disabled"
    assert environment.matrixx(*polite)["verdict"] == "allow"
    settings.unlink()

    environment.pip("uninstall", "acme-agents")
    assert environment.matrixx("hooks") == before
