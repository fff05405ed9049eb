"""Help for a plugin's own tests: sample events, and a host with just the plugins under test."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import anyio

from ..client import HostClient
from ..dispatch import Outcome
from ..events import ChatMessage, Event, Message, SessionEvent, ToolCall, ToolFailure, ToolResult, Transcript
from ..host import Host
from ..loading import load
from ..session import Session
from .recording import RecordingClient

__all__ = ["RecordingClient", "Rig", "call", "failure", "message", "plugin_name", "result", "session", "transcript"]

SESSION = "ses_test"

E = TypeVar("E", bound=Event)


def call(tool: str, /, *, directory: str = "", **args: Any) -> ToolCall:
    """A tool call as a host would report it."""
    return ToolCall(session_id=SESSION, call_id="call_test", tool=tool, args=args, directory=directory)


def result(tool: str, output: str, /, **args: Any) -> ToolResult:
    """A tool result as a host would report it."""
    return ToolResult(session_id=SESSION, call=call(tool, **args), output=output)


def failure(tool: str, error: str, /, **args: Any) -> ToolFailure:
    """A failed tool call as a host would report it."""
    return ToolFailure(session_id=SESSION, call=call(tool, **args), error=error)


def message(text: str, **fields: Any) -> ChatMessage:
    """A prompt that a person has typed."""
    part = {"id": "prt_test", "sessionID": SESSION, "messageID": "msg_test", "type": "text", "text": text}
    return ChatMessage(session_id=SESSION, message_id="msg_test", parts=(part,), **fields)


def transcript(*texts: str) -> Transcript:
    """A conversation: user and assistant in turns, beginning with the user."""
    roles = ("user", "assistant")
    return Transcript(
        session_id=SESSION,
        messages=tuple(
            Message(info={"id": f"msg_{index}", "role": roles[index % 2], "sessionID": SESSION}, parts=({"type": "text", "text": text},))
            for index, text in enumerate(texts)
        ),
    )


def session() -> Session:
    """A session with nothing in its memory."""
    return Session(SESSION)


class Rig:
    """A host that holds only the given plugins, for tests that have no event loop.

    Each method plays one event, and returns when what hooks do beside it has ended too.
    ``settings`` maps a plugin's name to its own section; ``client`` records what hooks ask of the host.
    """

    def __init__(
        self, *plugins: Any, settings: Mapping[str, Mapping[str, Any]] | None = None, directory: str = "", client: HostClient | None = None
    ) -> None:
        self.client = client or RecordingClient()
        loaded = load({plugin_name(plugin): plugin for plugin in plugins}, settings)
        if loaded.failed:
            raise ValueError(f"{loaded.failed[0].name!r} cannot be loaded: {loaded.failed[0].reason}")
        self.host = Host(loaded, directory=directory, client=self.client)

    def before(self, tool: str, /, *, directory: str = "", **args: Any) -> Outcome[ToolCall]:
        return self._played(self.host.tool_execute_before, call(tool, directory=directory or self.host.directory, **args))

    def after(self, tool: str, output: str, /, **args: Any) -> Outcome[ToolResult]:
        return self._played(self.host.tool_execute_after, result(tool, output, directory=self.host.directory, **args))

    def failed(self, tool: str, error: str, /, **args: Any) -> Outcome[ToolFailure]:
        return self._played(self.host.tool_execute_failed, failure(tool, error, directory=self.host.directory, **args))

    def chat(self, text: str, **fields: Any) -> Outcome[ChatMessage]:
        return self._played(self.host.chat_message, message(text, **fields))

    def transform(self, *texts: str) -> Outcome[Transcript]:
        return self._played(self.host.messages_transform, transcript(*texts))

    def event(self, kind: str, **properties: Any) -> Outcome[SessionEvent]:
        return self._played(self.host.session_event, SessionEvent(session_id=SESSION, type=kind, properties=properties))

    def _played(self, dispatch: Callable[[E], Awaitable[Outcome[E]]], event: E) -> Outcome[E]:
        async def play() -> Outcome[E]:
            outcome = await dispatch(event)
            if event.session_id in self.host.sessions:
                await self.host.sessions[event.session_id].settled()
            return outcome

        return anyio.run(play)


def plugin_name(plugin: Any) -> str:
    """The name a plugin module is installed under."""
    name: str = plugin.__name__ if inspect.ismodule(plugin) else type(plugin).__name__
    return name.removeprefix("matrixx_").replace("_", "-")
