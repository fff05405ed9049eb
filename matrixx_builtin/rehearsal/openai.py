"""OpenAI's chat completions, as hosts speak it: requests read, answers streamed."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from .turns import Call, Message, Turn

Body: TypeAlias = Mapping[str, Any]

PATH = "/v1/chat/completions"


def messages(body: Body) -> tuple[Message, ...]:
    """What the model reads; the result of a call is a message of its own."""
    return tuple(map(_message, body.get("messages", ())))


def answer(body: Body, turn: Turn, calls: Sequence[tuple[str, Call]]) -> Iterator[bytes]:
    """The turn as a stream of server-sent events."""
    for chunk in _chunks(turn, calls):
        whole = {"id": "chunk", "object": "chat.completion.chunk", "created": int(time.time()), "model": body.get("model"), **chunk}
        yield b"data: " + json.dumps(whole).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def _chunks(turn: Turn, calls: Sequence[tuple[str, Call]]) -> Iterator[Body]:
    if turn.think:
        yield _choice({"role": "assistant", "reasoning_content": turn.think})
    yield _choice({"role": "assistant", "content": turn.say})
    for index, (identity, call) in enumerate(calls):
        head = {"index": index, "id": identity, "type": "function", "function": {"name": call.tool, "arguments": ""}}
        yield _choice({"tool_calls": [head]})
        yield _choice({"tool_calls": [{"index": index, "function": {"arguments": call.raw or json.dumps(call.args)}}]})
    yield _choice({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 10, **turn.usage}
    yield {"choices": [], "usage": {**usage, "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"]}}


def _choice(delta: Body, finish: str | None = None) -> Body:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _message(raw: Mapping[str, Any]) -> Message:
    content = raw.get("content")
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())
    number = str(raw.get("tool_call_id", "")).rpartition("_")[2]
    return Message(str(raw.get("role")), text, int(number) if number.isdigit() else 0)
