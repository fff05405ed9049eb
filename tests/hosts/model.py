"""A scripted model behind the OpenAI protocol, on loopback: every scenario under its own base URL, so that runs may overlap."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from .played import Message, Request
from .scenario import Call, Turn
from .values import filled

Body: TypeAlias = Mapping[str, Any]
Classify: TypeAlias = Callable[[Body, Mapping[str, str]], str]
"""``classify(body, headers)``: who asks; headers have lower-case names. A kind without turns gets ``DONE``."""

DONE = Turn(say="done")


@dataclass(slots=True)
class Script:
    """The turns of one run, by the kind of asker, and the requests that came."""

    turns: dict[str, list[Turn]]
    called: dict[str, int] = field(default_factory=dict[str, int])
    requests: list[Request] = field(default_factory=list[Request])
    told_next: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    saved: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def unplayed(self) -> int:
        return sum(map(len, self.turns.values()))

    def number(self, kind: str) -> int:
        """The place of the next call among this asker's calls, from 1."""
        self.called[kind] = self.called.get(kind, 0) + 1
        return self.called[kind]

    def next(self, request: Request) -> Turn:
        """The asker's next turn, with the values that the results of its former calls have told; one not told stays a name."""
        self.requests.append(request)
        waiting = self.turns.get(request.kind)
        turn = waiting.pop(0) if waiting else DONE
        for name, pattern in self.told_next.pop(request.kind, {}).items():
            self.saved.setdefault(name, f"{{{{{name}}}}}")
            if found := re.search(pattern, _newest_results(request)):
                self.saved[name] = found[0]
        self.told_next[request.kind] = turn.save
        return Turn.model_validate(filled(turn.model_dump(exclude_unset=True), self.saved)) if self.saved else turn


def _newest_results(request: Request) -> str:
    """What the model reads of the calls that it made last."""
    newest: list[str] = []
    for message in request.messages:
        newest = [*newest, message.text] if message.call else []
    return "\n".join(newest)


class Model:
    """The server; ``play`` adds a run and returns its base URL and its script."""

    def __init__(self, classify: Classify) -> None:
        self.classify = classify
        self.lock = threading.Lock()
        self.scripts: dict[str, Script] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"model": self}))
        self.server.daemon_threads = True

    def play(self, name: str, turns: Mapping[str, Sequence[Turn]]) -> tuple[str, Script]:
        script = self.scripts[name] = Script({kind: list(one) for kind, one in turns.items()})
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}/v1", script

    def next(self, script: Script, body: Body, headers: Mapping[str, str]) -> tuple[Turn, list[tuple[str, Call]]]:
        """Take down a request and choose its answer: the turn, and its calls with their ids."""
        kind = self.classify(body, headers)
        with self.lock:
            turn = script.next(Request(kind, tuple(map(_message, body.get("messages", ()))), json.dumps(body, ensure_ascii=False)))
            return turn, [(f"call_{kind}_{script.number(kind)}", call) for call in turn.made_calls]


@contextmanager
def serving(classify: Classify) -> Iterator[Model]:
    """A model that answers until the block ends."""
    model = Model(classify)
    thread = threading.Thread(target=model.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield model
    finally:
        model.server.shutdown()
        thread.join()
        model.server.server_close()


class Handler(BaseHTTPRequestHandler):
    """``POST /NAME/v1/chat/completions``, streamed."""

    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, *_args: Any) -> None:
        """Nothing: the requests themselves are kept."""

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        _, name, _, rest = self.path.split("/", 3)
        script = self.model.scripts.get(name)
        if script is None or rest != "chat/completions":
            self._whole(404, {"error": {"message": f"nothing is at {self.path}"}})
            return
        body: dict[str, Any] = json.loads(content)
        turn, calls = self.model.next(script, body, {key.lower(): value for key, value in self.headers.items()})
        if turn.error:
            self._whole(turn.error, turn.body)
        else:
            self._stream(body, turn, calls)

    def _whole(self, status: int, answer: Body) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, body: Body, turn: Turn, calls: Sequence[tuple[str, Call]]) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for chunk in _chunks(turn, calls):
                whole = {"id": "chunk", "object": "chat.completion.chunk", "created": int(time.time()), "model": body.get("model"), **chunk}
                self.wfile.write(b"data: " + json.dumps(whole).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            return  # the host has ended the turn


def _chunks(turn: Turn, calls: Sequence[tuple[str, Call]]) -> Iterator[Body]:
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
