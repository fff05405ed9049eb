"""Calls that hand work to a sub-agent: which tools do so, which session goes on, and what came back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matrixx_core import ToolCall, ToolResult

TOOLS = frozenset({"task", "task_tool", "delegate_agent", "delegate_task"})
"""Canonical names of the tools that delegate (spec tool-hooks 1.7 and 2.14)."""

RESUMING = ("task_id", "session_id")
"""Arguments that name the sub-agent's session that shall go on: OpenCode's own, and the seed's."""

SESSION = re.compile(r"ses_[A-Za-z0-9_-]{1,200}")

_HEAD = re.compile(rf'\s*<task id="(?P<id>{SESSION.pattern})"(?: state="(?P<state>\w+)")?')
_BLOCK = re.compile(rf"<task_metadata>(?:(?!</?task_metadata>).){{0,500}}?session_id:[ \t]*(?P<id>{SESSION.pattern})", re.DOTALL)
_LINE = re.compile(rf"^[ \t]*(?:Session ID|session_id|sessionId):[ \t]*(?P<id>{SESSION.pattern})[ \t]*$", re.MULTILINE)
_FAILED = re.compile(r"\s*(?:Error\b|Failed\b)|(?:[^\n]*\n)?<task_error>")
_LAUNCHED = re.compile(r"\s*Background task (?:launched|continued)\b")


@dataclass(frozen=True, slots=True)
class Worker:
    """A sub-agent's session, and the argument of the task tool that resumes it."""

    session_id: str
    argument: str


def prompt_of(call: ToolCall) -> str:
    """What the sub-agent is told; ``""`` where nothing is."""
    prompt = call.args.get("prompt")
    return prompt if isinstance(prompt, str) and prompt.strip() else ""


def resumed(call: ToolCall) -> str:
    """The session that the call goes on with; ``""`` for a new one, and for what is no session's id."""
    given = (call.args.get(name) for name in RESUMING)
    return next((one for one in given if isinstance(one, str) and SESSION.fullmatch(one)), "")


def worker_of(result: ToolResult) -> Worker | None:
    """The session that did the work, by what the host tells; ids that the answer itself quotes come last."""
    told: Any = result.metadata.get("sessionId")
    if isinstance(told, str) and SESSION.fullmatch(told):
        return Worker(told, _argument(result.output))
    if head := _HEAD.match(result.output):
        return Worker(head["id"], "task_id")
    found = [*_BLOCK.finditer(result.output)] or [*_LINE.finditer(result.output)]
    return Worker(found[-1]["id"], "session_id") if found else None


def failed(result: ToolResult) -> bool:
    """Whether the result tells an error in place of an answer."""
    return _FAILED.match(result.output) is not None


def under_way(result: ToolResult) -> bool:
    """Whether the work was only begun: its answer comes later."""
    head: Mapping[str, Any] = match.groupdict() if (match := _HEAD.match(result.output)) else {}
    return head.get("state") == "running" or _LAUNCHED.match(result.output) is not None


def _argument(output: str) -> str:
    """The seed's own tool prints ``session_id: ...``; every other output is that of the host's tool."""
    return "session_id" if not _HEAD.match(output) and (_BLOCK.search(output) or _LINE.search(output)) else "task_id"
