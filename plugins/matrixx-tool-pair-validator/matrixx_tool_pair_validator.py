"""Keep every tool call beside its own result in what the model reads.

Providers refuse a transcript in which an id is used twice (some servers count their calls anew in every answer), a call
has no result, or a result no call; and a session that holds such a transcript is refused at every further turn. What is
in order stays byte for byte, and no result that is there is replaced.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import count
from operator import is_
from typing import Any

from matrixx_core import Transcript, rewrite
from matrixx_core.events import Message, Part

INTERRUPTED = "[This tool call was interrupted: there is no result.]"
WITHOUT_CALL = "[Result of a tool call that is not here any more:]"

UNFINISHED = frozenset({"pending", "running"})
"""States of a host's own call parts that it completes by itself when it writes the request (OpenCode 1.18.33)."""


@rewrite
def messages_transform(transcript: Transcript) -> Transcript | None:
    messages = with_results(with_own_ids(transcript.messages))
    same = len(messages) == len(transcript.messages) and all(map(is_, messages, transcript.messages))
    return None if same else transcript.model_copy(update={"messages": messages})


def with_own_ids(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages, with call parts that hold their own result (``tool``) whole, and each under an id of its own."""
    taken = {_text(part.get("callID")) for message in messages for part in message.parts if part.get("type") == "tool"}
    seen: set[str] = {""}

    def own(part: Part) -> Part:
        if part.get("type") != "tool":
            return part
        identity = _fresh(_text(part.get("callID")), seen, taken)
        seen.add(identity)
        part = part if part.get("callID") == identity else {**part, "callID": identity}
        state = _whole(part.get("state"))
        return part if state is part.get("state") else {**part, "state": state}

    return tuple(_with_parts(message, [own(part) for part in message.parts]) for message in messages)


def _whole(state: Any) -> Any:
    """The state of a call; one that is none, or has lost its result, is that of an interrupted call."""
    known: Mapping[str, Any] = state if isinstance(state, Mapping) else {}
    status, said = known.get("status"), {"completed": "output", "error": "error"}
    if isinstance(status, str) and (status in UNFINISHED or (status in said and isinstance(known.get(said[status]), str))):
        return state
    asked = known.get("input")
    times = known.get("time")
    return {
        "status": "error",
        "input": asked if isinstance(asked, Mapping) else {},
        "error": INTERRUPTED,
        "time": times if isinstance(times, Mapping) else {"start": 0, "end": 0},
    }


def with_results(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages, where calls and results are blocks of their own: each ``tool_use`` answered at once by its ``tool_result``."""
    if not any(part.get("type") in _BLOCKS for message in messages for part in message.parts):
        return messages
    asking, answered = _matched(messages)
    done: list[Message] = []
    due: list[Part] = []
    for message, (parts, results) in zip(messages, asking, strict=True):
        if due and message.role != "user":
            done.append(_answering(done[-1], due))
            due = []
        others = [_as_text(part) for part in parts if not (part.get("type") == "tool_result" and id(part) in answered)]
        done.append(_with_parts(message, [*due, *others]))
        due = results
    return (*done, *([_answering(done[-1], due)] if due else []))


_BLOCKS = ("tool_use", "tool_result")


def _matched(messages: Sequence[Message]) -> tuple[list[tuple[list[Part], list[Part]]], set[int]]:
    """Of each message its parts, calls under ids of their own, and the results of these; and which results were found a call for."""
    every = [part for message in messages for part in message.parts]
    waiting: dict[str, list[Part]] = {}
    for part in every:
        if part.get("type") == "tool_result":
            waiting.setdefault(_text(part.get("tool_use_id")), []).append(part)
    taken, seen = {_text(part.get("id")) for part in every if part.get("type") == "tool_use"}, {""}
    answered: set[int] = set()

    def own(part: Part, results: list[Part]) -> Part:
        if part.get("type") != "tool_use":
            return part
        old = _text(part.get("id"))
        identity = _fresh(old, seen, taken)
        seen.add(identity)
        found = waiting[old].pop(0) if waiting.get(old) else None
        answered.add(id(found))
        results.append(_result(identity, found))
        return part if part.get("id") == identity else {**part, "id": identity}

    asking: list[tuple[list[Part], list[Part]]] = []
    for message in messages:
        results: list[Part] = []
        asking.append(([own(part, results) if message.role == "assistant" else part for part in message.parts], results))
    return asking, answered


def _result(identity: str, found: Part | None) -> Part:
    if found is None:
        return {"type": "tool_result", "tool_use_id": identity, "is_error": True, "content": INTERRUPTED}
    return found if found.get("tool_use_id") == identity else {**found, "tool_use_id": identity}


def _as_text(part: Part) -> Part:
    """A result that belongs to no call, as words: what it says is not lost."""
    if part.get("type") != "tool_result":
        return part
    content = part.get("content")
    return {"type": "text", "text": f"{WITHOUT_CALL}\n{content if isinstance(content, str) else json.dumps(content, default=str)}"}


def _answering(asked: Message, results: Sequence[Part]) -> Message:
    info = {"id": f"{asked.id}_results", "role": "user", "sessionID": asked.info.get("sessionID", "")}
    return Message(info=info, parts=tuple(results))


def _with_parts(message: Message, parts: Sequence[Part]) -> Message:
    same = len(parts) == len(message.parts) and all(new is old for new, old in zip(parts, message.parts, strict=True))
    return message if same else message.model_copy(update={"parts": tuple(parts)})


def _fresh(identity: str, seen: set[str], taken: set[str]) -> str:
    """The id, if it is the first of its kind, else the same with the first number that no call has."""
    if identity not in seen:
        return identity
    stem = identity or "call"
    return next(new for number in count(2) if (new := f"{stem}_{number}") not in seen and new not in taken)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
