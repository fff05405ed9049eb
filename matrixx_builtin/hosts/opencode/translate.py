"""OpenCode's hook payloads (1.18) as events, and changed events as edits of those payloads.

Every reader takes what it finds: a missing or odd field becomes the event's empty value. An edit is a path into the
hook's ``output`` and the value to put there; the bridge makes it in place, because OpenCode keeps its own references.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from matrixx_core.events import (
    ChatHeaders,
    ChatMessage,
    ChatParams,
    Command,
    Compaction,
    Event,
    Part,
    ShellEnv,
    SystemPrompt,
    TextComplete,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)

from .client import as_message

Raw: TypeAlias = Mapping[str, Any]
Edit: TypeAlias = tuple[list[str | int], Any]


@dataclass(frozen=True, slots=True)
class Translation:
    """How one OpenCode hook is read and written, and the hookspec it feeds."""

    spec: str
    read: Callable[[Raw, Raw, str], Event]
    write: Callable[[Any, Any, Raw], Iterator[Edit]]


def text(value: Any) -> str:
    """The value where it is a text, else ``""``."""
    return value if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    """A copy of the value where it is an object, else an empty one."""
    return dict(value) if isinstance(value, Mapping) else {}


def objects(value: Any) -> tuple[Raw, ...]:
    """The objects in a list; of anything else none."""
    return tuple(part for part in value if isinstance(part, Mapping)) if isinstance(value, list) else ()


def number(value: Any) -> float | None:
    """The value where it is a number, else ``None``."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_call(inp: Raw, output: Raw, directory: str) -> ToolCall:
    return ToolCall(
        session_id=text(inp.get("sessionID")),
        tool=text(inp.get("tool")),
        args=table(output.get("args", inp.get("args"))),
        call_id=text(inp.get("callID")),
        directory=directory,
    )


def write_call(before: ToolCall, after: ToolCall, _output: Raw) -> Iterator[Edit]:
    for name in before.args.keys() - after.args.keys():
        yield ["args", name], None
    for name, value in after.args.items():
        if name not in before.args or before.args[name] != value:
            yield ["args", name], value


def read_result(inp: Raw, output: Raw, directory: str) -> ToolResult:
    call = read_call(inp, {}, directory)
    return ToolResult(
        session_id=call.session_id,
        call=call,
        output=_output_text(output),
        title=text(output.get("title")),
        metadata=table(output.get("metadata")),
        attachments=objects(output.get("attachments")),
    )


def write_result(before: ToolResult, after: ToolResult, output: Raw) -> Iterator[Edit]:
    if after.output != before.output:
        content = output.get("content")
        if isinstance(content, list) and "output" not in output:  # the raw result of an MCP tool
            others = [part for part in content if not (isinstance(part, Mapping) and part.get("type") == "text")]
            yield ["content"], [{"type": "text", "text": after.output}, *others]
        else:
            yield ["output"], after.output
    if after.title != before.title:
        yield ["title"], after.title
    if after.metadata != before.metadata:
        yield ["metadata"], dict(after.metadata)
    if after.attachments != before.attachments:
        yield ["attachments"], [dict(one) for one in after.attachments]


def read_chat(inp: Raw, output: Raw, _directory: str) -> ChatMessage:
    message = table(output.get("message"))
    model = table(message.get("model")) or table(inp.get("model"))
    return ChatMessage(
        session_id=text(inp.get("sessionID")) or text(message.get("sessionID")),
        message_id=text(message.get("id")) or text(inp.get("messageID")),
        agent=text(message.get("agent")) or text(inp.get("agent")),
        provider=text(model.get("providerID")),
        model=text(model.get("modelID")),
        variant=text(model.get("variant")) or text(inp.get("variant")),
        parts=objects(output.get("parts")),
    )


def write_chat(before: ChatMessage, after: ChatMessage, output: Raw) -> Iterator[Edit]:
    if after.parts != before.parts:
        yield ["parts"], [_with_ids(part, after, before, place) for place, part in enumerate(after.parts)]
    if after.agent != before.agent:
        yield ["message", "agent"], after.agent
    model = table(table(output.get("message")).get("model"))
    wanted = {**model, "providerID": after.provider, "modelID": after.model, **({"variant": after.variant} if after.variant else {})}
    if (after.provider, after.model, after.variant) != (before.provider, before.model, before.variant):
        yield ["message", "model"], wanted


def read_params(inp: Raw, output: Raw, _directory: str) -> ChatParams:
    most = output.get("maxOutputTokens")
    window = table(table(inp.get("model")).get("limit")).get("context")
    return ChatParams(
        **_model(inp),
        context_tokens=window if isinstance(window, int) and not isinstance(window, bool) and window > 0 else 0,
        temperature=number(output.get("temperature")),
        top_p=number(output.get("topP")),
        max_output_tokens=most if isinstance(most, int) and not isinstance(most, bool) else None,
        options=table(output.get("options")),
    )


def write_params(before: ChatParams, after: ChatParams, _output: Raw) -> Iterator[Edit]:
    fields = {"temperature": "temperature", "topP": "top_p", "maxOutputTokens": "max_output_tokens", "options": "options"}
    yield from _changed(before, after, fields)


def read_headers(inp: Raw, output: Raw, _directory: str) -> ChatHeaders:
    model = {key: value for key, value in _model(inp).items() if key != "variant"}
    return ChatHeaders(**model, headers={str(key): str(value) for key, value in table(output.get("headers")).items()})


def read_transcript(_inp: Raw, output: Raw, _directory: str) -> Transcript:
    messages = tuple(as_message(one) for one in objects(output.get("messages")))
    return Transcript.model_construct(session_id=text(messages[-1].info.get("sessionID")) if messages else "", messages=messages)


def write_transcript(before: Transcript, after: Transcript, _output: Raw) -> Iterator[Edit]:
    if len(after.messages) != len(before.messages):
        yield ["messages"], [{"info": dict(one.info), "parts": list(one.parts)} for one in after.messages]
        return
    for index, (old, new) in enumerate(zip(before.messages, after.messages, strict=True)):
        if new.parts is not old.parts and new.parts != old.parts:
            yield ["messages", index, "parts"], [_in_message(part, new.info, place) for place, part in enumerate(new.parts)]
        if new.info is not old.info and new.info != old.info:
            yield ["messages", index, "info"], dict(new.info)


def read_system(inp: Raw, output: Raw, _directory: str) -> SystemPrompt:
    model = _model(inp)
    blocks = output.get("system")
    return SystemPrompt(
        session_id=model["session_id"],
        provider=model["provider"],
        model=model["model"],
        parts=tuple(block for block in blocks if isinstance(block, str)) if isinstance(blocks, list) else (),
    )


def read_definition(inp: Raw, output: Raw, _directory: str) -> ToolDefinition:
    schema = output.get("jsonSchema")
    return ToolDefinition(
        session_id=text(inp.get("sessionID")),
        tool=text(inp.get("toolID")),
        description=text(output.get("description")),
        parameters=table(schema),
    )


def read_env(inp: Raw, output: Raw, _directory: str) -> ShellEnv:
    return ShellEnv(
        session_id=text(inp.get("sessionID")),
        directory=text(inp.get("cwd")),
        call_id=text(inp.get("callID")),
        env={str(key): str(value) for key, value in table(output.get("env")).items()},
    )


def read_command(inp: Raw, output: Raw, _directory: str) -> Command:
    return Command(
        session_id=text(inp.get("sessionID")),
        name=text(inp.get("command")),
        arguments=text(inp.get("arguments")),
        parts=objects(output.get("parts")),
    )


def read_compaction(inp: Raw, output: Raw, _directory: str) -> Compaction:
    context = output.get("context")
    return Compaction(
        session_id=text(inp.get("sessionID")),
        context=tuple(one for one in context if isinstance(one, str)) if isinstance(context, list) else (),
        prompt=output["prompt"] if isinstance(output.get("prompt"), str) else None,
    )


def read_text(inp: Raw, output: Raw, _directory: str) -> TextComplete:
    return TextComplete(
        session_id=text(inp.get("sessionID")),
        message_id=text(inp.get("messageID")),
        part_id=text(inp.get("partID")),
        text=text(output.get("text")),
    )


def writes(**fields: str) -> Callable[[Event, Event, Raw], Iterator[Edit]]:
    """A writer for events whose fields stand under these names in the payload."""
    return lambda before, after, _output: _changed(before, after, fields)


HOOKS: Mapping[str, Translation] = {
    "tool.definition": Translation("tool_definition", read_definition, writes(description="description", jsonSchema="parameters")),
    "chat.message": Translation("chat_message", read_chat, write_chat),
    "chat.params": Translation("chat_params", read_params, write_params),
    "chat.headers": Translation("chat_headers", read_headers, writes(headers="headers")),
    "command.execute.before": Translation("command_execute_before", read_command, writes(parts="parts")),
    "tool.execute.before": Translation("tool_execute_before", read_call, write_call),
    "tool.execute.after": Translation("tool_execute_after", read_result, write_result),
    "shell.env": Translation("shell_env", read_env, writes(env="env")),
    "experimental.chat.messages.transform": Translation("messages_transform", read_transcript, write_transcript),
    "experimental.chat.system.transform": Translation("system_transform", read_system, writes(system="parts")),
    "experimental.session.compacting": Translation("session_compacting", read_compaction, writes(context="context", prompt="prompt")),
    "experimental.text.complete": Translation("text_complete", read_text, writes(text="text")),
}


def apply(output: Any, edits: list[Edit]) -> Any:
    """The payload after the edits, as the bridge makes them in OpenCode: for replays. A place that is not there is skipped."""
    for path, value in edits:
        target = output
        for key in path[:-1]:
            target = _at(target, key)
        if value is None and isinstance(target, dict):
            cast(dict[str | int, Any], target).pop(path[-1], None)
        elif isinstance(target, dict | list):
            cast(dict[str | int, Any], target)[path[-1]] = value
    return output


def _at(target: Any, key: str | int) -> Any:
    try:
        return target[key]
    except (KeyError, IndexError, TypeError):
        return None


def _changed(before: Event, after: Event, fields: Mapping[str, str]) -> Iterator[Edit]:
    for name, field in fields.items():
        value = getattr(after, field)
        if value != getattr(before, field):
            yield [name], list(value) if isinstance(value, tuple) else value


def _model(inp: Raw) -> dict[str, str]:
    """Session, agent and model of a request: the model's id stands under ``id`` or ``modelID``, the variant with the message's model or beside it."""
    model, message = table(inp.get("model")), table(inp.get("message"))
    return {
        "session_id": text(inp.get("sessionID")),
        "agent": text(inp.get("agent")),
        "provider": text(model.get("providerID")),
        "model": text(model.get("id")) or text(model.get("modelID")),
        "variant": text(table(message.get("model")).get("variant")) or text(message.get("variant")),
    }


def _output_text(output: Raw) -> str:
    if isinstance(output.get("output"), str):
        return str(output["output"])
    return "\n".join(text(part.get("text")) for part in objects(output.get("content")) if part.get("type") == "text")


def _with_ids(part: Part, message: ChatMessage, before: ChatMessage, place: int) -> Part:
    """OpenCode refuses a part of a prompt without these (1.18.33); ids sort by time, so ours sort after the last."""
    if "id" in part:
        return part
    last = max((text(one.get("id")) for one in before.parts), default="")
    ids = {"id": f"{last or 'prt_' + message.message_id}z{place}", "sessionID": message.session_id, "messageID": message.message_id}
    return {**part, **ids}


def _in_message(part: Part, info: Raw, place: int) -> Part:
    if "id" in part:
        return part
    ids = {"id": f"prt_matrixx_{text(info.get('id'))}_{place}", "sessionID": text(info.get("sessionID")), "messageID": text(info.get("id"))}
    return {**part, **ids}
