"""What a hook author imports: markers, events and answers."""

from .answers import Allow, Answer, Block, Inject
from .client import HostClient
from .events import (
    ChatHeaders,
    ChatMessage,
    ChatParams,
    Command,
    Compaction,
    Event,
    Message,
    Part,
    PermissionAsked,
    SessionEvent,
    ShellEnv,
    SystemPrompt,
    TextComplete,
    ToolCall,
    ToolDefinition,
    ToolFailure,
    ToolResult,
    Transcript,
)
from .markers import around, guard, hookimpl, hookspec, observe, rewrite
from .session import Session
from .tools import Tool, ToolError, ToolOutput, tool

__all__ = [
    "Allow",
    "Answer",
    "Block",
    "ChatHeaders",
    "ChatMessage",
    "ChatParams",
    "Command",
    "Compaction",
    "Event",
    "HostClient",
    "Inject",
    "Message",
    "Part",
    "PermissionAsked",
    "Session",
    "SessionEvent",
    "ShellEnv",
    "SystemPrompt",
    "TextComplete",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolFailure",
    "ToolOutput",
    "ToolResult",
    "Transcript",
    "around",
    "guard",
    "hookimpl",
    "hookspec",
    "observe",
    "rewrite",
    "tool",
]
