"""Tell the model what was wrong with a call of the task tool, and how to make it right.

Only for a call that failed, by the host's word or because the output begins with the error: a report that quotes one is a report.
"""

import re
from collections.abc import Mapping

from matrixx_core import Inject, ToolFailure, ToolResult, rewrite

RUN_AFTER = ("edit-error-recovery",)  # the seed's order of what is said behind a call

DELEGATING = {"task", "task_tool", "delegate_agent", "agent"}

LOOKED_AT = 600
"""Characters of an error that say what went wrong; further on it quotes the arguments."""

MARK = "[how to call task]"

FIXES: Mapping[str, str] = {
    r"category.{0,40}subagent_type.{0,80}(?:not both|exclusive|only one)|only one of category": "Give either category or subagent_type, not both.",
    r"must provide (?:either )?category|category or subagent_type|missing.{0,40}subagent_type|subagent_type.{0,60}(?:is )?(?:missing|required)": (
        "Name the agent with subagent_type."
    ),
    r"unknown category": "There is no such category: use one that is listed.",
    r"unknown agent|not a valid agent type|agent type .{1,100}(?:not found|not offered|unavailable)|agent .{1,100} not found": (
        "There is no such agent: use one that the task tool's description lists."
    ),
    r"is not allowed\. allowed agents|primary agent|cannot be (?:called|used) as a sub-?agent": "This agent cannot be called from here: use another one.",
    r"skills? .{0,100}not found|skills not found": "There is no such skill: leave load_skills empty, or use names that are listed.",
    r"load_skills": "Give load_skills as a list; an empty one is fine.",
    r"run_in_background": "Give run_in_background as true (go on at once) or false (wait for the report).",
    r"empty agent|agent name (?:is empty|cannot be empty)|subagent_type.{0,40}empty": "The agent's name is empty: name one.",
    r"(?:description|prompt).{0,60}(?:missing|required)|missing.{0,40}(?:description|prompt)": "Say description (a few words) and prompt (the whole task).",
}
"""Errors of hosts and of the seeds (spec tool-hooks 2.12, slim-hooks 9), the most particular first, each with what is to be done."""

_FIXES = {re.compile(pattern, re.IGNORECASE | re.DOTALL): fix for pattern, fix in FIXES.items()}

AVAILABLE = re.compile(r"(?:available|allowed)[^\n:]{0,40}:[ \t]*([^\n]{1,400})", re.IGNORECASE)
FAILED = re.compile(
    r"\s*(?:\[error\]|<tool_use_error>|error\b|failed\b|invalid (?:arguments|parameters)|unknown (?:agent|category)|must provide)",
    re.IGNORECASE,
)

EXAMPLE = 'task(description="...", prompt="...", subagent_type="...")'


@rewrite(tools=DELEGATING)
def tool_execute_failed(failure: ToolFailure) -> Inject | None:
    return _advice(failure.error)


@rewrite(tools=DELEGATING)
def tool_execute_after(result: ToolResult) -> Inject | None:
    return _advice(result.output) if FAILED.match(result.output) else None


def _advice(error: str) -> Inject | None:
    said = error[:LOOKED_AT]
    fix = next((fix for pattern, fix in _FIXES.items() if pattern.search(said)), "")
    if not fix or MARK in error:
        return None
    listed = AVAILABLE.search(error[: 4 * LOOKED_AT])
    known = f" There are: {listed[1].strip()}" if listed else ""
    return Inject(f"{MARK} {fix}{known} Then call once more, for example {EXAMPLE}.", priority="high")
