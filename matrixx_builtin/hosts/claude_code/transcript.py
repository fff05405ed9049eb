"""Claude Code's transcript files (JSON lines, 2.1.332) as messages, in the form that hooks know from other hosts."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matrixx_core.events import Message, Part

from .translate import Raw, canonical, canonical_args, objects, table, text

LONGEST = 8 * 1024 * 1024
"""Bytes read from a transcript's end; what lies before is not looked at."""

TAIL = 64 * 1024
"""Bytes in which the newest answer's token counts are looked for."""


_CREATED = re.compile(r"#(\w+)")
"""Where the result of ``TaskCreate`` names the task."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one model request, by the model's name."""

    message_id: str
    model: str
    tokens: Mapping[str, Any]


def messages(path: str, session_id: str) -> list[Message]:
    """The messages of a transcript, oldest first; an absent or broken file has as many as can be read."""
    entries = [entry for entry in _entries(path, LONGEST) if entry.get("type") in {"user", "assistant"} and not entry.get("isMeta")]
    results = dict(_results(entries))
    found = (_message(entry, session_id, results) for entry in entries)
    return [message for message in found if message.parts]


def todos(messages: Iterable[Message]) -> list[dict[str, str]]:
    """The todo list as the agent's calls have left it: written whole (``TodoWrite``), or task by task."""
    found: dict[str, dict[str, str]] = {}
    for part in (part for message in messages for part in message.parts if part.get("type") == "tool"):
        state = table(part.get("state"))
        args = table(state.get("input"))
        if part.get("tool") == "todowrite":
            found = {
                str(at): {"content": text(one.get("content")), "status": text(one.get("status"))}
                for at, one in enumerate(objects(args.get("todos")))
            }
        elif part.get("tool") == "TaskCreate" and (made := _CREATED.search(text(state.get("output")))):
            found[made[1]] = {"content": text(args.get("subject")), "status": "pending"}
        elif part.get("tool") == "TaskUpdate" and (changed := found.get(text(args.get("taskId")))):
            changed["content"] = text(args.get("subject")) or changed["content"]
            changed["status"] = text(args.get("status")) or changed["status"]
    return [one for one in found.values() if one["status"] != "deleted"]


def newest_usage(path: str) -> Usage | None:
    """What the newest answer of the model has cost, or ``None``."""
    for entry in reversed([*_entries(path, TAIL)]):
        message = table(entry.get("message"))
        if entry.get("type") == "assistant" and (counts := table(message.get("usage"))):
            return Usage(text(message.get("id")), text(message.get("model")), _tokens(counts))
    return None


def _entries(path: str, most: int) -> Iterator[Raw]:
    if not path:
        return
    try:
        with Path(path).open("rb") as file:
            begin = max(os.fstat(file.fileno()).st_size - most, 0)
            file.seek(begin)
            lines = file.read(most).split(b"\n")
    except (OSError, ValueError):  # a path may be no path
        return
    for line in lines[1:] if begin else lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):  # cut off, or being written
            continue
        if isinstance(entry, Mapping):
            yield entry


def _results(entries: Iterable[Raw]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What came of each call, by its id."""
    for entry in entries:
        for block in objects(table(entry.get("message")).get("content")):
            if block.get("type") == "tool_result":
                said = block.get("content")
                words = said if isinstance(said, str) else "\n".join(text(one.get("text")) for one in objects(said))
                failed = block.get("is_error") is True
                yield (
                    text(block.get("tool_use_id")),
                    {"status": "error", "error": words} if failed else {"status": "completed", "output": words},
                )


def _message(entry: Raw, session_id: str, results: Mapping[str, dict[str, Any]]) -> Message:
    message = table(entry.get("message"))
    info: dict[str, Any] = {"id": _id(entry, message), "role": text(entry.get("type")), "sessionID": session_id}
    if entry.get("type") == "assistant":
        info |= {"providerID": "anthropic", "modelID": text(message.get("model")), "tokens": _tokens(table(message.get("usage")))}
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    parts = (_part(block, results) for block in blocks)
    return Message(info=info, parts=tuple(part for part in parts if part))


def _part(block: Raw, results: Mapping[str, dict[str, Any]]) -> Part | None:
    if block.get("type") == "text":
        return {"type": "text", "text": text(block.get("text"))}
    if block.get("type") == "thinking":
        return {"type": "reasoning", "text": text(block.get("thinking"))}
    if block.get("type") == "tool_use":
        tool, call_id = text(block.get("name")), text(block.get("id"))
        state = {"status": "running", **results.get(call_id, {}), "input": canonical_args(tool, table(block.get("input")))}
        return {"type": "tool", "tool": canonical(tool), "callID": call_id, "state": state}
    return None


def _id(entry: Raw, message: Raw) -> str:
    """A person's message is named after the prompt, as the hooks' payloads name it."""
    return text(entry.get("promptId")) or text(message.get("id")) or text(entry.get("uuid"))


def _tokens(counts: Raw) -> dict[str, Any]:
    cache = {"read": counts.get("cache_read_input_tokens"), "write": counts.get("cache_creation_input_tokens")}
    return {"input": counts.get("input_tokens"), "output": counts.get("output_tokens"), "cache": cache}
