"""The three files of a new hook: a small guard that works and keeps every promise of the contract."""

FILES = {
    "pyproject.toml": """[project]
name = "matrixx-@name@"
version = "@version@"
description = "Stop agents from running the programs that the settings name."
license = "MIT"
requires-python = ">=3.11"
dependencies = ["matrixx-core==@series@.*"]

[project.entry-points."matrixx.hooks"]
@name@ = "matrixx_@module@"

[build-system]
requires = ["flit_core>=3.11"]
build-backend = "flit_core.buildapi"
""",
    "matrixx_@module@.py": '''"""Stop agents from running the programs that the settings name."""

from matrixx_builtin.services.effects import effects_of
from matrixx_core import Block, ToolCall, guard
from matrixx_core.settings import TIGHTENS
from pydantic import BaseModel, Field


class Config(BaseModel):
    """Which programs are meant."""

    programs: tuple[str, ...] = Field(default=("shutdown",), description="Programs that agents do not run.", json_schema_extra=TIGHTENS)


@guard(tools={"bash"})
def tool_execute_before(call: ToolCall, config: Config) -> Block | None:
    programs = [run.program for run in effects_of(call).runs]
    hit = next((program for program in programs if program in config.programs), "")
    return Block(f"{hit!r} is not for agents", "Ask the user to run it.") if hit else None
''',
    "test_@module@.py": """import matrixx_@module@ as hook
import pytest
from matrixx_core.testing import Rig, call


@pytest.mark.parametrize("command", ["shutdown", "echo done && sudo shutdown -h now"])
def test_a_named_program_is_stopped(command: str) -> None:
    answer = hook.tool_execute_before(call("bash", command=command), hook.Config())
    assert answer is not None and "shutdown" in answer.reason


@pytest.mark.parametrize("command", ["ls", "echo shutdown", ""])
def test_other_commands_pass(command: str) -> None:
    assert hook.tool_execute_before(call("bash", command=command), hook.Config()) is None


def test_the_programs_come_from_the_settings() -> None:
    rig = Rig(hook, settings={"@name@": {"programs": ["reboot"]}})
    assert rig.before("bash", command="reboot").blocked_by == "@name@"
    assert rig.before("bash", command="shutdown").block is None
""",
}  # fmt: skip
"""By file name; ``@name@`` is the hook's name, ``@module@`` the same as Python writes it."""


def files(name: str, version: str) -> dict[str, str]:
    """The files for a hook of this name, for this version of matrixx-core."""
    words = {"name": name, "module": name.replace("-", "_"), "version": version, "series": ".".join(version.split(".")[:2])}

    def filled(text: str) -> str:
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        return text

    return {filled(path): filled(text) for path, text in FILES.items()}
