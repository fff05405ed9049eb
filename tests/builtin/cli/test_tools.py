"""Tools of plugins from the shell and over MCP: the same guards judge their calls."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

MATRIXX = (sys.executable, "-m", "matrixx_builtin")

GUARDED = """
'''Bring a tool and a guard that looks at its calls.'''
from collections.abc import Sequence
from matrixx_core import Block, HostClient, Session, Tool, ToolCall, guard, hookimpl, tool
from pydantic import BaseModel

class Text(BaseModel):
    text: str

@tool("say", "Say it.")
async def say(args: Text, session: Session, client: HostClient) -> str:
    print("a plugin that prints")
    return args.text.upper()

@hookimpl
def tools() -> Sequence[Tool]:
    return (say,)

@guard(tools={"say"})
def tool_execute_before(call: ToolCall) -> Block | None:
    return Block("that is not said here") if call.args.get("text") == "bad" else None
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    info = folder / "sayer-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "sayer.py").write_text(GUARDED, "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sayer\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[matrixx.hooks]\nsayer = sayer\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def matrixx(*argv: str, code: int = 0) -> Any:
    done = subprocess.run([*MATRIXX, *argv, "--json"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_the_tools_are_listed_with_what_the_model_is_told(site: Path, tmp_path: Path) -> None:
    found = {row["name"]: row for row in matrixx("tools", "--project", str(tmp_path))}
    assert found["say"]["plugin"] == "sayer"
    assert found["say"]["description"] == "Say it."
    assert found["say"]["parameters"]["required"] == ["text"]
    assert "task_create" in found


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        ('{"text": "hi"}', {"ok": True, "output": "HI", "error": None}),
        ("{text: 'hi'}", {"ok": True, "output": "HI", "error": None}),
        ('{"text": "bad"}', "that is not said here"),
        ("{}", "text: Field required"),
    ],
)
def test_a_tool_runs_from_the_shell_and_the_guards_judge_it(site: Path, tmp_path: Path, args: str, answer: Any) -> None:
    if isinstance(answer, dict):
        assert matrixx("tool", "say", args, "--project", str(tmp_path)) == answer
    else:
        got = matrixx("tool", "say", args, "--project", str(tmp_path), code=1)
        assert (got["ok"], got["output"]) == (False, "")
        assert answer in got["error"]


def test_a_tool_that_is_not_there_is_told_with_the_closest_name(site: Path, tmp_path: Path) -> None:
    assert "did you mean 'say'?" in matrixx("tool", "sya", "--project", str(tmp_path), code=1)["error"]


def test_what_a_tool_writes_is_on_disk(tmp_path: Path) -> None:
    matrixx("tool", "task_create", '{"subject": "write docs"}', "--project", str(tmp_path))
    [path] = (tmp_path / ".matrixx" / "tasks").glob("T-*.json")
    assert json.loads(path.read_text("utf-8"))["subject"] == "write docs"


unwaited = pytest.mark.filterwarnings("ignore::ResourceWarning")
"""mcp's client does not wait for the end of a server that is slow to end."""


def over_mcp(project: Path, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[tuple[bool, str]]]:
    """The names of the tools, and for each call whether it failed and what was answered."""
    mcp = pytest.importorskip("mcp")
    from mcp.client.stdio import stdio_client

    async def talk() -> tuple[list[str], list[Any]]:
        server = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "matrixx_builtin", "mcp", "--project", str(project)], env=dict(os.environ)
        )
        with anyio.fail_after(60):
            async with stdio_client(server) as (incoming, outgoing), mcp.ClientSession(incoming, outgoing) as session:
                await session.initialize()
                names = [one.name for one in (await session.list_tools()).tools]
                return names, [await session.call_tool(name, args) for name, args in calls]

    names, answers = anyio.run(talk)
    gc.collect()  # what it left open is told here, not in the middle of another test
    return names, [(answer.is_error, answer.content[0].text) for answer in answers]


@unwaited
@pytest.mark.usefixtures("site")
def test_over_mcp_the_same_tools_pass_the_same_guards(tmp_path: Path) -> None:
    names, (good, bad) = over_mcp(tmp_path, ("say", {"text": "hi"}), ("say", {"text": "bad"}))
    assert {"say", "task_create"} <= set(names)
    assert good == (False, "HI")
    assert bad[0] and "that is not said here" in bad[1]


@unwaited
@pytest.mark.parametrize("way", ["shell", "mcp"])
@pytest.mark.parametrize(
    "args",
    [
        {"filePath": ".env", "edits": [{"op": "append", "lines": "TOKEN=new"}]},
        {"filePath": ".env", "delete": True},
        {"filePath": "app.py", "rename": ".env.local"},
        {"filePath": ".matrixx/matrixx.json", "delete": True},
    ],
)
def test_a_shipped_tool_passes_the_shipped_guards(tmp_path: Path, way: str, args: dict[str, Any]) -> None:
    there = {".env": "TOKEN=old", "app.py": "a = 1", ".matrixx/matrixx.json": '{"experimental": {"hashline_edit": true}}'}
    (tmp_path / ".matrixx").mkdir()
    for name, text in there.items():
        (tmp_path / name).write_text(text)
    if way == "shell":
        told = matrixx("tool", "edit", json.dumps(args), "--project", str(tmp_path), code=1)["error"]
    else:
        _, [(failed, told)] = over_mcp(tmp_path, ("edit", args))
        assert failed
    assert ("self-protection" if "matrixx" in args["filePath"] else "env-file-write-guard") in told
    assert {name: (tmp_path / name).read_text() for name in there} == there
    assert not (tmp_path / ".env.local").exists()
