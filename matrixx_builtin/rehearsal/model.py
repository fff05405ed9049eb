"""A scripted model on loopback, behind each protocol that hosts speak: every script has its own URL, so that runs may overlap."""

import json
import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from typing import Any, TypeAlias

from . import anthropic, openai
from .turns import Call, Request, Turn, filled

Body: TypeAlias = Mapping[str, Any]
Classify: TypeAlias = Callable[[Body, Mapping[str, str]], str]
"""``classify(body, headers)``: who asks; headers have lower-case names. A kind without turns gets ``DONE``."""

DONE = Turn(say="done")

PROTOCOLS = {one.PATH: one for one in (anthropic, openai)}
"""By the path below a run's URL."""


@dataclass(slots=True)
class Script:
    """The turns of one run, by the kind of asker, and the requests that came."""

    turns: dict[str, list[Turn]]
    optional: frozenset[str] = frozenset()
    """Kinds of askers that may ask less often than there are turns for them."""
    called: dict[str, int] = field(default_factory=dict[str, int])
    requests: list[Request] = field(default_factory=list[Request])
    told_next: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    saved: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def unplayed(self) -> int:
        """Turns of the agents that were to say all of theirs: the main one, and a sub-agent that has a script of its own."""
        return sum(len(turns) for kind, turns in self.turns.items() if kind not in self.optional)

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
    """The server; ``play`` adds a run and returns its URL, below which each protocol has its path, and its script."""

    def __init__(self, classify: Classify) -> None:
        self.classify = classify
        self.lock = threading.Lock()
        self.scripts: dict[str, Script] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"model": self}))
        self.server.daemon_threads = True

    def play(self, name: str, turns: Mapping[str, Sequence[Turn]], optional: frozenset[str] = frozenset()) -> tuple[str, Script]:
        script = self.scripts[name] = Script({kind: list(one) for kind, one in turns.items()}, optional)
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}", script

    def next(self, script: Script, body: Body, headers: Mapping[str, str], protocol: Any) -> tuple[Turn, list[tuple[str, Call]]]:
        """Take down a request and choose its answer: the turn, and its calls with their ids."""
        kind = self.classify(body, headers)
        with self.lock:
            turn = script.next(Request(kind, protocol.messages(body), json.dumps(body, ensure_ascii=False)))
            if turn.uncounted:
                return turn, [(f"call_{token_hex(4)}x", call) for call in turn.made_calls]
            numbered = [(f"call_{kind}_{script.number(kind)}", call) for call in turn.made_calls]
            return turn, [(call.id or identity, call) for identity, call in numbered]


@contextmanager
def serving(classify: Classify) -> Generator[Model]:
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
    """``POST /NAME/`` and the path of a protocol; answers are streamed."""

    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name is the base class's
        """Nothing: the requests themselves are kept."""

    def do_HEAD(self) -> None:
        """A host that looks whether its provider can be reached."""
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        name, _, rest = self.path.partition("?")[0].removeprefix("/").partition("/")
        script, protocol = self.model.scripts.get(name), PROTOCOLS.get(f"/{rest}")
        if script is None or protocol is None:
            self._whole(404, {"error": {"message": f"nothing is at {self.path}"}})
            return
        body: dict[str, Any] = json.loads(content)
        turn, calls = self.model.next(script, body, {key.lower(): value for key, value in self.headers.items()}, protocol)
        if turn.error:
            self._whole(turn.error, turn.body)
        else:
            self._stream(protocol.answer(body, turn, calls))

    def _whole(self, status: int, answer: Body) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, events: Iterator[bytes]) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for event in events:
                self.wfile.write(event)
        except (BrokenPipeError, ConnectionResetError):
            return  # the host has ended the turn
