"""Say so when an agent has ended without an answer.

A host wraps what its agents say; an empty wrapper looks like a result that is still to come.
"""

import re

from matrixx_core import Inject, ToolResult, rewrite

RUN_AFTER = ("rules-injector",)  # the seed's order of what is said behind a call

DELEGATING = {"task", "task_tool", "delegate_agent", "agent"}

LONGEST = 2_000
"""Characters up to which an output may be nothing but a wrapper."""

WRAPPER = re.compile(
    r"<task_metadata>.*?</task_metadata>|</?task(?:_result)?\b[^<>]*>|\((?:no (?:text )?output|empty)\)|no text output\.?",
    re.DOTALL | re.IGNORECASE,
)

TEXT = (
    "[no answer] The agent ended without saying anything: it may have failed, or been stopped. Nothing more will come. "
    "Ask it again in the same session, or do the work another way."
)


@rewrite(tools=DELEGATING)
def tool_execute_after(result: ToolResult) -> Inject | None:
    if len(result.output) > LONGEST or WRAPPER.sub("", result.output).strip():
        return None
    return Inject(TEXT, priority="high")
