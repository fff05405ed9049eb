"""What Claude Code (2.1.332) feeds through this adapter, and which answers take effect there."""

from collections.abc import Mapping

from .translate import TOOLS

OBEYED: Mapping[str, str] = {
    "host_opened": "",
    "chat_message": "block inject",
    "command_execute_before": "block inject",
    "messages_transform": "inject",
    "permission_asked": "block allow",
    "session_compacting": "change inject",
    "session_event": "block change inject",
    "tool_execute_after": "change inject",
    "tool_execute_before": "block change inject",
    "tool_execute_failed": "inject",
    "host_closed": "",
}
"""By hookspec, as in every adapter. The rest Claude Code has no event for: its requests to the model cannot be changed."""


OFFERED = frozenset({canonical for canonical, _ in TOOLS.values()})
"""The tools that there are under canonical names; those of MCP servers begin with ``mcp__``."""
