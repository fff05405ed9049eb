"""Plugins, recordings and names that several tests of the command line share."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from click.testing import Result

Run: TypeAlias = Callable[..., Result]
Install: TypeAlias = Callable[..., str]
Write: TypeAlias = Callable[[str, str], Path]

GUARD = """
from matrixx_core import Block, Inject, ToolCall, guard

@guard(tools={"write"})
def tool_execute_before(call: ToolCall) -> Block | Inject | None:
    if call.args.get("content") == "forbidden":
        return Block("it says forbidden", "write something else")
    return Inject("be kind") if str(call.args.get("content")).lower() == "rude" else None
"""


def lines(text: str) -> list[Any]:
    """One JSON value a line."""
    return [json.loads(line) for line in text.splitlines()]


def recording(*calls: Mapping[str, Any]) -> str:
    return "".join(json.dumps(call) + "\n" for call in calls)


def write_call(content: str, path: str = "new.txt") -> dict[str, Any]:
    """A write as OpenCode reports it."""
    asked = {"tool": "write", "sessionID": "ses_1", "callID": "call_1"}
    return {"hook": "tool.execute.before", "input": asked, "output": {"args": {"filePath": path, "content": content}}}
