"""The hooks in process, through the Claude Agent SDK: the real program obeys what they answer."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_agent_sdk import ClaudeAgentOptions, query

from matrixx_builtin.hosts.claude_agent_sdk import hooks
from matrixx_builtin.rehearsal.claude_code import MODEL, classify, make_home
from matrixx_builtin.rehearsal.model import Script, serving
from matrixx_builtin.rehearsal.turns import Turn

from ..programs import program

NOTE = """
from matrixx_core import Block, Inject, ToolCall, ToolResult, guard, rewrite

@guard(tools={"write"})
def tool_execute_before(call: ToolCall) -> Block | Inject:
    return Block("it says forbidden") if "forbidden" in str(call.args) else Inject("A-NOTE-FOR-THE-MODEL")

@rewrite(tools={"bash"})
def tool_execute_after(result: ToolResult) -> ToolResult:
    return result.model_copy(update={"output": "ANOTHER-OUTPUT"})
"""
"""A hook that refuses some writes, adds a note to others, and changes what comes of commands."""


@pytest.fixture
def acting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed plugin of a stranger's."""
    info = tmp_path / "site" / "acme_acting-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-acting\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[matrixx.hooks]\nacting = acme_acting\n")
    (tmp_path / "site" / "acme_acting.py").write_text(NOTE)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "acme_acting", raising=False)


def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: Sequence[Turn], *, fail_closed: bool = False) -> tuple[Path, Script]:
    """Play turns of a scripted model in a project: its folder, and what the model was asked."""
    cli = program("claude_code")
    home = make_home(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    for name in ("HOME", "MATRIXX_STATE_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, home.env[name])

    async def run(url: str) -> None:
        async with hooks(project, fail_closed=fail_closed) as mapping:
            options = ClaudeAgentOptions(
                cli_path=cli,
                cwd=project,
                model=MODEL,
                hooks=mapping,
                env={**home.env, "ANTHROPIC_BASE_URL": url},
                allowed_tools=["Write", "Bash"],
                setting_sources=[],
            )
            with anyio.fail_after(90):
                async for _ in query(prompt="go", options=options):
                    pass

    with serving(classify) as model:
        url, script = model.play("sdk", {"main": turns})
        anyio.run(run, url)
    return project, script


def result_of(script: Script, call: int) -> str:
    """What the model reads of one of its calls, and what is said beside it."""
    messages = script.requests[-1].messages
    return next(one.text for one in messages if one.call == call)


def write(project: Path, name: str, content: str) -> Turn:
    args: dict[str, Any] = {"file_path": str(project / name), "content": content}
    return Turn(tool="Write", args=args)


@pytest.mark.usefixtures("acting")
@pytest.mark.parametrize("fail_closed", [False, True])
def test_a_deny_holds_a_note_reaches_the_model_and_an_output_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail_closed: bool
) -> None:
    project = tmp_path / "project"
    turns = [
        write(project, "no.txt", "forbidden"),
        write(project, "yes.txt", "fine"),
        Turn(tool="Bash", args={"command": "echo ORIGINAL-OUTPUT", "description": "say it"}),
        Turn(say="done"),
    ]
    _, script = play(tmp_path, monkeypatch, turns, fail_closed=fail_closed)
    assert script.unplayed == 0
    assert not (project / "no.txt").exists() and (project / "yes.txt").read_text() == "fine"
    assert "Blocked by Matrixx hook 'acting'" in result_of(script, 1)
    assert "A-NOTE-FOR-THE-MODEL" in script.requests[-1].body
    assert "ANOTHER-OUTPUT" in result_of(script, 3) and "ORIGINAL-OUTPUT" not in result_of(script, 3)


def test_a_shipped_guard_holds_without_anything_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [Turn(tool="Bash", args={"command": "echo x > .env", "description": "write it"}), Turn(say="done")]
    project, script = play(tmp_path, monkeypatch, turns)
    assert list(project.iterdir()) == [] and "Blocked by Matrixx hook" in result_of(script, 1)
