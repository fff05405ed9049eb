"""Anthropic's messages, as Claude Code speaks it: requests read, answers streamed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import uuid4

from .turns import Call, Message, Turn

Body: TypeAlias = Mapping[str, Any]

PATH = "/v1/messages"

REMINDER = re.compile(r"\s*<system-reminder>\n(.*?)\n</system-reminder>\s*", re.DOTALL)
OF_A_HOOK = re.compile(r"\w+(?::\w+)? hook (?:additional context|blocking error from command: \"[^\"]*\"): ")
"""Claude Code wraps what a hook adds in a reminder, as its own; hosts differ in that, so the wrapping is taken off."""


def messages(body: Body) -> tuple[Message, ...]:
    """What the model reads; the result of a call is a message of its own, with all that hooks added beside it."""
    read: list[Message] = []
    for raw in body.get("messages", ()):
        content = raw.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
        results = [block for block in blocks if block.get("type") == "tool_result"]
        said = "\n\n".join(filter(None, (_without_reminders(_text(block)) for block in blocks if block.get("type") == "text")))
        read += [_result(block, said) for block in results]
        if said and not results:
            read.append(Message(str(raw.get("role")), said))
    return tuple(_merged(read))


def _result(block: Body, beside: str) -> Message:
    number = str(block.get("tool_use_id", "")).rpartition("_")[2]
    text = "\n\n".join(filter(None, (_without_reminders(_text(block)), beside)))
    return Message("tool", text, int(number) if number.isdigit() else 0)


def _merged(read: Sequence[Message]) -> Iterator[Message]:
    """Claude Code sends what is beside a prompt as messages of their own; to the model they are one."""
    waiting: Message | None = None
    for one in read:
        if waiting and waiting.role == one.role == "user":
            waiting = Message("user", f"{waiting.text}\n\n{one.text}")
            continue
        if waiting:
            yield waiting
        waiting = one
    if waiting:
        yield waiting


def _without_reminders(text: str) -> str:
    """The text without what the host itself reminds of; what hooks added stays."""

    def kept(found: re.Match[str]) -> str:
        added, count = OF_A_HOOK.subn("", found[1], count=1)
        return f"\n\n{added}\n\n" if count else ""

    return REMINDER.sub(kept, text).strip("\n") if "<system-reminder>" in text else text


def _text(block: Body) -> str:
    content = block.get("text", block.get("content"))
    return content if isinstance(content, str) else "\n".join(str(one.get("text", "")) for one in content or ())


def answer(body: Body, turn: Turn, calls: Sequence[tuple[str, Call]]) -> Iterator[bytes]:
    """The turn as a stream of server-sent events."""
    for event in _events(str(body.get("model")), turn, calls):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _events(model: str, turn: Turn, calls: Sequence[tuple[str, Call]]) -> Iterator[Body]:
    usage = {"input_tokens": turn.usage.get("prompt_tokens", 100), "output_tokens": turn.usage.get("completion_tokens", 10)}
    message = {"id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": model, "content": [], "usage": usage}
    yield {"type": "message_start", "message": message}
    blocks: list[tuple[Body, Body]] = [({"type": "text", "text": ""}, {"type": "text_delta", "text": turn.say})] if turn.say else []
    for identity, call in calls:
        head: Body = {"type": "tool_use", "id": identity, "name": call.tool, "input": {}}
        blocks.append((head, {"type": "input_json_delta", "partial_json": call.raw or json.dumps(call.args)}))
    for index, (head, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": head}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}
