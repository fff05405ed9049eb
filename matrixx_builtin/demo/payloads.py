"""What OpenCode 1.18 hands to its hooks, in the form in which it was recorded (``tests/data/opencode``)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

Raw: TypeAlias = dict[str, Any]

SESSION = "ses_demo"
MODEL = {"providerID": "demo", "modelID": "scripted"}
MODEL_INFO = {"id": "scripted", "name": "Scripted", "providerID": "demo", "limit": {"context": 128_000, "output": 4_096}, "options": {}}
NOW = 1_777_888_000_000
"""The session's clock, in milliseconds since 1970: it stands still, so that two runs are alike."""

TOOLS = {
    "read": "Read a file from the local filesystem.",
    "write": "Writes a file to the local filesystem.",
    "edit": "Performs exact string replacements in files.",
    "grep": "Fast content search tool that works with any codebase size.",
    "bash": "Executes a given bash command with optional timeout.",
}
"""What the model is offered, with the first sentence of OpenCode's own description."""


@dataclass(slots=True)
class Conversation:
    """The session's messages as OpenCode keeps them."""

    directory: str
    messages: list[Raw] = field(default_factory=list[Raw])
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def new_id(self, kind: str) -> str:
        """Ids sort by time, as OpenCode's do."""
        return f"{kind}_demo{next(self._numbers):06}"

    def prompt(self, text: str) -> tuple[Raw, Raw]:
        """``chat.message`` for what a person has typed."""
        message = self.new_id("msg")
        info = {"id": message, "role": "user", "sessionID": SESSION, "time": {"created": NOW}, "agent": "build", "model": MODEL}
        part = {"type": "text", "text": text, "messageID": message, "sessionID": SESSION, "id": self.new_id("prt")}
        return {"sessionID": SESSION}, {"message": info, "parts": [part]}

    def sent(self, output: Raw) -> None:
        """The prompt is part of the conversation, as hooks have left it."""
        self.messages.append({"info": output["message"], "parts": output["parts"]})

    def called(self, tool: str, call_id: str, state: Raw) -> Raw:
        """The model's call and its end are part of the conversation; returns the part."""
        message = self.new_id("msg")
        info = {
            "id": message,
            "role": "assistant",
            "sessionID": SESSION,
            "time": {"created": NOW},
            "agent": "build",
            "mode": "build",
            **MODEL,
        }
        part = {
            "id": self.new_id("prt"),
            "messageID": message,
            "sessionID": SESSION,
            "type": "tool",
            "tool": tool,
            "callID": call_id,
            "state": state,
        }
        self.messages.append({"info": info, "parts": [part]})
        return part

    def said(self, text: str) -> tuple[Raw, Raw]:
        """``experimental.text.complete`` for the model's own words."""
        return {"sessionID": SESSION, "messageID": self.new_id("msg"), "partID": self.new_id("prt")}, {"text": text}

    def created(self) -> Raw:
        """The event of a new session."""
        info = {"id": SESSION, "version": "1.18.33", "projectID": "demo", "directory": self.directory, "title": "New session"}
        return event("session.created", info={**info, "time": {"created": NOW, "updated": NOW}})


def event(kind: str, **properties: Any) -> Raw:
    """An event of OpenCode's bus."""
    return {"id": "evt_demo", "type": kind, "properties": {"sessionID": SESSION, **properties}}


def part_updated(part: Raw) -> Raw:
    """The event that tells how a call ended: the only one after a call that failed."""
    return event("message.part.updated", part=part, time=NOW)


def before(tool: str, call_id: str, args: Mapping[str, Any]) -> tuple[Raw, Raw]:
    return {"tool": tool, "sessionID": SESSION, "callID": call_id}, {"args": dict(args)}


def after(tool: str, call_id: str, args: Mapping[str, Any], output: Raw) -> tuple[Raw, Raw]:
    return {"tool": tool, "sessionID": SESSION, "callID": call_id, "args": dict(args)}, output


def shell_env(directory: str, call_id: str) -> tuple[Raw, Raw]:
    return {"cwd": directory, "sessionID": SESSION, "callID": call_id}, {"env": {}}


def request(transcript: Sequence[Raw]) -> Iterator[tuple[str, Raw, Raw]]:
    """All hook calls before one request to the model, in OpenCode's order."""
    for tool, description in TOOLS.items():
        schema: Raw = {"type": "object", "properties": {}}
        yield "tool.definition", {"toolID": tool}, {"description": description, "jsonSchema": schema}
    yield "experimental.chat.messages.transform", {}, {"messages": transcript}
    asked = {"sessionID": SESSION, "agent": "build", "model": MODEL_INFO}
    yield "experimental.chat.system.transform", {"sessionID": SESSION, "model": MODEL_INFO}, {"system": ["You are a coding agent."]}
    yield "chat.params", asked, {"maxOutputTokens": 4_096, "options": {}}
    yield "chat.headers", asked, {"headers": {}}


def compacting() -> tuple[Raw, Raw]:
    return {"sessionID": SESSION}, {"context": []}


def invalid_arguments(tool: str, raw: str) -> Raw:
    """The arguments of OpenCode's tool ``invalid``, which runs in place of a call whose arguments are no JSON."""
    message = "JSON Parse error: Unterminated string"
    return {"tool": tool, "error": f"Invalid input for tool {tool}: JSON parsing failed: Text: {raw}.\nError message: {message}"}
