"""Turn calls of the retired background_task tool into a pointer to its successor.

``background_output`` and ``background_cancel`` are other tools and pass.
"""

import re

from matrixx_core import Block, ToolCall, guard

LIVING_TOOLS = frozenset({
    "bash", "read", "write", "edit", "multiedit", "apply_patch", "glob", "grep", "list", "lsp", "webfetch", "websearch", "codesearch",
    "todowrite", "todoread", "question", "skill", "task",
})  # fmt: skip
"""Canonical names that cannot be the retired tool: calls of them need no look."""


@guard(but=LIVING_TOOLS)
def tool_execute_before(call: ToolCall) -> Block | None:
    if not _is_background_task(call.tool):
        return None
    return Block(
        "background_task is disabled",
        "use the task tool with `category` or `subagent_type` and `run_in_background=true`; background_output and background_cancel work on it.",
    )


def _is_background_task(tool: str) -> bool:
    """Compare without case, separators and an MCP server's prefix (``mcp__x__background-task``, ``backgroundTask``)."""
    name = re.split(r"__|[./:]", tool.strip())[-1]
    return re.sub(r"[\W_]", "", name).casefold() == "backgroundtask"
