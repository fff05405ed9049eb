"""The events a host reports, as frozen models: a change is a new event.

Tool and argument names are the canonical ones (OpenCode's: ``write {filePath, content}``, ``edit {filePath, oldString,
newString}``, ``bash {command}`` ...); every adapter translates its host's names to these and back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict

Place: TypeAlias = Literal["start", "end"]
Part: TypeAlias = Mapping[str, Any]
"""One part of a message as the host wrote it (``{"type": "text", "text": ...}``), kept whole so that nothing is lost."""

TAG = "matrixx"
"""Metadata key that marks a part as ours. Text that merely looks like ours grants nothing."""


class Event(BaseModel):
    """Something that happened in the host."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    blockable: ClassVar[bool] = False
    """Whether a guard may stop this event; if so, a changed event is judged once more before it is let go."""
    backwards: ClassVar[bool] = False
    """Whether rewriters run in reverse order, as responses travel back through the hooks."""

    session_id: str

    @property
    def subject(self) -> str:
        """What a hook's ``tools=`` or ``types=`` narrows on: a tool's name or an event's type, else ``""``."""
        return ""

    def with_text(self, text: str, at: Place = "end") -> Self:
        """Return this event with text added in its place; raises ``TypeError`` where the event has none."""
        raise TypeError(f"{type(self).__name__} has no place for added text")


class ToolDefinition(Event):
    """What the model is told about one tool; ``parameters`` is its JSON Schema."""

    tool: str
    description: str
    parameters: Mapping[str, Any] = {}

    @property
    def subject(self) -> str:
        return self.tool

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.model_copy(update={"description": joined(self.description, text, at)})


class ChatMessage(Event):
    """A prompt that a person (or a parent session) is about to send."""

    blockable: ClassVar[bool] = True

    message_id: str = ""
    agent: str = ""
    provider: str = ""
    model: str = ""
    variant: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        """All text parts, one a line block, without those that Matrixx or the host added."""
        return "\n".join(str(part.get("text", "")) for part in self.parts if part.get("type") == "text" and not part.get("synthetic"))

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.model_copy(update={"parts": _with_part(self.parts, text, at)})


class ChatParams(Event):
    """The sampling parameters of one model request; ``None`` leaves the provider's default.

    ``context_tokens`` is the model's context window as the host knows it (0: it does not tell); it is there to be read.
    """

    agent: str = ""
    provider: str = ""
    model: str = ""
    variant: str = ""
    context_tokens: int = 0
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    options: Mapping[str, Any] = {}


class ChatHeaders(Event):
    """The HTTP headers of one model request."""

    agent: str = ""
    provider: str = ""
    model: str = ""
    headers: Mapping[str, str] = {}


class Message(BaseModel):
    """One message of a transcript: the host's own description of it, and its parts."""

    model_config = ConfigDict(frozen=True)

    info: Mapping[str, Any]
    parts: tuple[Part, ...] = ()

    @property
    def id(self) -> str:
        return str(self.info.get("id", ""))

    @property
    def role(self) -> str:
        return str(self.info.get("role", ""))

    def with_text(self, text: str) -> Self:
        """This message with a marked part at its end; the message itself when there is nothing to add."""
        return self.model_copy(update={"parts": (*self.parts, added_part(text))}) if text else self


class Transcript(Event):
    """The messages of the next model request, oldest first."""

    messages: tuple[Message, ...] = ()

    def with_text(self, text: str, at: Place = "end") -> Self:
        """Add a marked part to the end of the last user message; without one nothing changes."""
        last = last_user_message(self.messages)
        messages = tuple(message.with_text(text) if message is last else message for message in self.messages)
        return self.model_copy(update={"messages": messages})


class SystemPrompt(Event):
    """The system prompt of the next model request, in blocks."""

    parts: tuple[str, ...] = ()
    provider: str = ""
    model: str = ""

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.model_copy(update={"parts": (*self.parts, text)})


class ToolCall(Event):
    """A tool is about to run; relative paths in ``args`` start at ``directory`` (``""``: unknown)."""

    blockable: ClassVar[bool] = True

    tool: str
    args: Mapping[str, Any]
    call_id: str
    directory: str = ""
    message: str = ""
    """Text for the model beside the call; the adapter delivers it through a channel the model really reads."""

    @property
    def subject(self) -> str:
        return self.tool

    def with_args(self, **changes: Any) -> Self:
        """Return this call with some arguments replaced."""
        return self.model_copy(update={"args": {**self.args, **changes}})

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.model_copy(update={"message": joined(self.message, text, at)})


class ShellEnv(Event):
    """The environment that a shell command is about to get, beyond what the host inherits."""

    directory: str = ""
    call_id: str = ""
    env: Mapping[str, str] = {}


class ToolResult(Event):
    """A tool has run."""

    call: ToolCall
    output: str
    title: str = ""
    metadata: Mapping[str, Any] = {}
    attachments: tuple[Part, ...] = ()
    """Files that the model gets beside the text (``{"type": "file", "mime": "image/png", "url": "data:image/png;base64,..."}``)."""

    @property
    def subject(self) -> str:
        return self.call.tool

    def with_output(self, output: str) -> Self:
        """Return this result with its output replaced."""
        return self.model_copy(update={"output": output})

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.with_output(joined(self.output, text, at))


class ToolFailure(Event):
    """A tool call ended in an error, so there is no result; ``error`` is what the model reads."""

    call: ToolCall
    error: str

    @property
    def subject(self) -> str:
        return self.call.tool

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.model_copy(update={"error": joined(self.error, text, at)})


class PermissionAsked(Event):
    """The host asks the person whether something may happen."""

    blockable: ClassVar[bool] = True

    permission_id: str
    permission: str
    patterns: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = {}
    message: str = ""
    """Text for the model that goes with a reply."""

    @property
    def subject(self) -> str:
        return self.permission

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.model_copy(update={"message": joined(self.message, text, at)})


class Command(Event):
    """A slash command is about to become a prompt."""

    blockable: ClassVar[bool] = True

    name: str
    arguments: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def subject(self) -> str:
        return self.name

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.model_copy(update={"parts": _with_part(self.parts, text, at)})


class SessionEvent(Event):
    """Anything else that happened in a session: ``type`` is the host's word for it (``session.idle`` ...)."""

    blockable: ClassVar[bool] = True

    type: str
    properties: Mapping[str, Any] = {}

    @property
    def subject(self) -> str:
        return self.type

    def with_text(self, text: str, at: Place = "end") -> Self:
        """The event itself: the host's adapter delivers the outcome's notes with the session's next prompt."""
        return self


class Compaction(Event):
    """The session is about to be summarised; ``context`` survives, ``prompt`` replaces the host's instruction."""

    context: tuple[str, ...] = ()
    prompt: str | None = None

    def with_text(self, text: str, at: Place = "end") -> Self:
        return self.model_copy(update={"context": (*self.context, text)})


class TextComplete(Event):
    """The model has finished one text part."""

    backwards: ClassVar[bool] = True

    message_id: str = ""
    part_id: str = ""
    text: str


def joined(there: str, added: str, at: Place = "end") -> str:
    """Two texts with a blank line between them, where both say something."""
    return "\n\n".join(text for text in ((added, there) if at == "start" else (there, added)) if text)


def added_part(text: str) -> Part:
    """A text part marked as ours, in the host's synthetic form."""
    return {"type": "text", "text": text, "synthetic": True, "metadata": {TAG: True}}


def _with_part(parts: tuple[Part, ...], text: str, at: Place) -> tuple[Part, ...]:
    part = added_part(text)
    return (part, *parts) if at == "start" else (*parts, part)


def is_added(part: Part) -> bool:
    """Whether Matrixx made this part (by its mark, never by its text)."""
    metadata = part.get("metadata")
    return part.get("synthetic") is True and isinstance(metadata, Mapping) and metadata.get(TAG) is True


def by_person(parts: Iterable[Part]) -> bool:
    """Whether a person has a share in these parts: one that neither Matrixx nor the host has made."""
    return any(not part.get("synthetic") and part.get("type") != "compaction" for part in parts)


def last_user_message(messages: Sequence[Message]) -> Message | None:
    """The newest user message, or ``None``."""
    return next((message for message in reversed(messages) if message.role == "user"), None)
