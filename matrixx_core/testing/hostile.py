"""Events as no host should send them: wrong types, missing fields, huge, binary, hostile paths."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..events import (
    ChatHeaders,
    ChatMessage,
    ChatParams,
    Command,
    Compaction,
    Event,
    Message,
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
from ..markers import Subjects

TEXTS = (
    "",
    "\x00",
    "\ud800 lone surrogate",
    "\x1b[31m\x07\r\n\t",
    "../../../../../../etc/passwd",
    "~nobody/\\..\\C:\\x",
    "'\"`$(((<<<|&&;\n<<EOF",
    "\u202e\u0000\uffff\U0001f9ff",
    "a" * 200_000,
    "{" * 5_000,
)
"""Strings that have broken a parser somewhere."""

VALUES: tuple[Any, ...] = (None, True, -1, 1e308, [], {}, ["x", None], {"a": {"b": [0]}}, *TEXTS)

ARGUMENTS = (
    *("filePath", "file_path", "path", "content", "oldString", "newString", "edits", "command", "workdir", "patchText"),
    *("pattern", "url", "prompt", "description", "subagent_type", "todos", "questions", "notebook_path"),
)
"""Argument names that hooks look at."""

TOOLS = ("bash", "write", "edit", "apply_patch", "read", "task", "webfetch", "some_mcp_tool", "", "\ud800")

TYPES = ("session.idle", "session.error", "session.created", "message.updated", "message.part.updated", "", "\ud800")


def hostile_events(kind: type[Event], subjects: Subjects, directory: str = "") -> Iterator[Event]:
    """Events of a kind that a hook with these subjects would get."""
    usual = TYPES if issubclass(kind, SessionEvent) else TOOLS
    names = sorted(subjects.names) if not subjects.others else [name for name in usual if name in subjects]
    for name in names or [""]:
        yield from _MAKERS[kind](name, directory)


def _arguments() -> Iterator[Mapping[str, Any]]:
    yield {}
    for value in VALUES:
        yield _all(ARGUMENTS, value)
    for value in TEXTS:
        yield {"filePath": value, "content": value, "command": f"echo {value} > {value}"}


def _calls(tool: str, directory: str) -> Iterator[ToolCall]:
    for number, args in enumerate(_arguments()):
        yield ToolCall(session_id="ses_hostile", call_id=f"call_{number}", tool=tool, args=args, directory=directory)
    yield ToolCall(session_id="", call_id="", tool=tool, args={"command": "ls", "filePath": "a"}, directory="")


def _results(tool: str, directory: str) -> Iterator[ToolResult]:
    for call in _calls(tool, directory):
        for output in ("", "done"):
            yield ToolResult(session_id=call.session_id, call=call, output=output)
    call = ToolCall(session_id="ses_hostile", call_id="call", tool=tool, args={"filePath": "a", "command": "ls"}, directory=directory)
    for text in TEXTS:
        for metadata in ({}, _all(("exit", "diff", "sessionId", "filediff", "truncated"), text)):
            yield ToolResult(session_id="ses_hostile", call=call, output=text, title=text, metadata=metadata)
        for url in (text, f"data:image/png;base64,{text}"):
            yield ToolResult(session_id="ses_hostile", call=call, output="", attachments=({}, {"type": "file", "mime": text, "url": url}))


def _failures(tool: str, directory: str) -> Iterator[ToolFailure]:
    for call in _calls(tool, directory):
        yield ToolFailure(session_id=call.session_id, call=call, error="failed")
    for text in TEXTS:
        call = ToolCall(session_id="ses_hostile", call_id="call", tool=tool, args={}, directory=directory)
        yield ToolFailure(session_id="ses_hostile", call=call, error=text)


def _parts() -> Iterator[tuple[Mapping[str, Any], ...]]:
    yield ()
    yield ({},)
    for value in VALUES:
        yield ({"type": "text", "text": value}, {"type": value, "text": "x"}, {"type": "tool", "state": value, "callID": value})


def _chats(_name: str, _directory: str) -> Iterator[ChatMessage]:
    for parts in _parts():
        yield ChatMessage(session_id="ses_hostile", parts=parts)
    for text in TEXTS:
        yield ChatMessage(session_id=text, message_id=text, agent=text, model=text, parts=({"type": "text", "text": text},))


def _transcripts(_name: str, _directory: str) -> Iterator[Transcript]:
    yield Transcript(session_id="")
    for parts in _parts():
        for role in ("user", "assistant", ""):
            yield Transcript(session_id="ses_hostile", messages=(Message(info={"role": role}, parts=parts), Message(info={}, parts=parts)))
    for value in VALUES:
        yield Transcript(session_id="ses_hostile", messages=(Message(info=_all(("id", "role", "agent", "model", "time", "error"), value)),))


def _session_events(kind: str, _directory: str) -> Iterator[SessionEvent]:
    for value in VALUES:
        properties = _all(("sessionID", "info", "part", "error", "status"), value)
        yield SessionEvent(session_id="ses_hostile", type=kind, properties=properties)
    yield SessionEvent(session_id="", type=kind)


def _permissions(name: str, _directory: str) -> Iterator[PermissionAsked]:
    for text in TEXTS:
        yield PermissionAsked(session_id="ses_hostile", permission_id=text, permission=name, patterns=(text,), metadata={"command": text})


def _commands(name: str, _directory: str) -> Iterator[Command]:
    for parts in _parts():
        yield Command(session_id="ses_hostile", name=name, parts=parts)
    for text in TEXTS:
        yield Command(session_id="ses_hostile", name=name or text, arguments=text)


def _definitions(tool: str, _directory: str) -> Iterator[ToolDefinition]:
    for value in VALUES:
        parameters = {"type": value, "properties": value}
        yield ToolDefinition(session_id="", tool=tool, description=str(value)[:50], parameters=parameters)


def _all(keys: Iterable[str], value: Any) -> dict[str, Any]:
    return dict.fromkeys(keys, value)


def _params(_name: str, _directory: str) -> Iterator[ChatParams]:
    for text in TEXTS:
        yield ChatParams(session_id="ses_hostile", agent=text, model=text, variant=text, options={"x": text})


def _headers(_name: str, _directory: str) -> Iterator[ChatHeaders]:
    for text in TEXTS:
        yield ChatHeaders(session_id="ses_hostile", agent=text, model=text, headers={"x": text})


def _systems(_name: str, _directory: str) -> Iterator[SystemPrompt]:
    yield SystemPrompt(session_id="")
    for text in TEXTS:
        yield SystemPrompt(session_id="ses_hostile", parts=(text, text), model=text)


def _envs(_name: str, _directory: str) -> Iterator[ShellEnv]:
    for text in TEXTS:
        yield ShellEnv(session_id="ses_hostile", directory=text, env={"X": text, text: ""})


def _compactions(_name: str, _directory: str) -> Iterator[Compaction]:
    for text in TEXTS:
        yield Compaction(session_id="ses_hostile", context=(text,), prompt=text)


def _completions(_name: str, _directory: str) -> Iterator[TextComplete]:
    for text in TEXTS:
        yield TextComplete(session_id="ses_hostile", message_id=text, text=text)


_MAKERS: Mapping[type[Event], Callable[[str, str], Iterator[Event]]] = {
    ToolCall: _calls,
    ToolResult: _results,
    ToolFailure: _failures,
    ChatMessage: _chats,
    Transcript: _transcripts,
    SessionEvent: _session_events,
    PermissionAsked: _permissions,
    Command: _commands,
    ToolDefinition: _definitions,
    ChatParams: _params,
    ChatHeaders: _headers,
    SystemPrompt: _systems,
    ShellEnv: _envs,
    Compaction: _compactions,
    TextComplete: _completions,
}
