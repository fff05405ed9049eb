"""A scripted model behind the OpenAI protocol, on loopback: the agent's part of the session, for a real host program."""

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from .script import Step

Body: TypeAlias = Mapping[str, Any]

REFUSED = "Blocked by Matrixx"
"""How every refusal begins that the model reads."""


@dataclass(slots=True)
class Agent:
    """The model's side of one session. ``heard`` is called with each step of it that is over, and with what the model then read."""

    heard: Callable[[Step | None, str], None]
    waiting: list[Step] = field(default_factory=list[Step])
    read: str = ""
    """What the last request held of what others had told the model."""
    _now: Step | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def brief(self, steps: Sequence[Step]) -> None:
        """What the model does after the next prompt."""
        self.waiting, self._now = list(steps), None

    def answer(self, messages: Sequence[Body]) -> Step | None:
        """The next call to make, or ``None`` when there is nothing more to do."""
        with self._lock:
            told = [_text(message) for message in messages if message.get("role") in {"user", "tool"}]
            self.read = "\n".join(told)
            last = told[-1] if told and self._now else ""
            self.heard(self._now, last)
            while self.waiting and self.waiting[0].after_block and not last.startswith(REFUSED):
                self.waiting.pop(0)
            self._now = self.waiting.pop(0) if self.waiting else None
            return self._now


@contextmanager
def serving(agents: Mapping[str, Agent]) -> Generator[str]:
    """Answer as these agents, each below its own name, until the block ends; gives the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"agents": agents}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """``POST /NAME/v1/chat/completions``, streamed."""

    agents: Mapping[str, Agent]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name is the base class's
        """Nothing: the demo tells what happened."""

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        agent = self.agents.get(self.path.split("/")[1])
        if agent is None or not self.path.endswith("/chat/completions"):
            self.send_error(404)
            return
        step = agent.answer(body.get("messages", ())) if body.get("tools") else None  # without tools it wants a title or a summary
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for chunk in _chunks(step):
            whole = {"id": "demo", "object": "chat.completion.chunk", "created": int(time.time()), "model": body.get("model"), **chunk}
            self.wfile.write(b"data: " + json.dumps(whole).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")


def _chunks(step: Step | None) -> Iterator[Body]:
    if step is None or not step.tool:
        yield _choice({"role": "assistant", "content": step.say if step else "Done."})
    else:
        call = {"name": step.tool, "arguments": step.raw or json.dumps(step.args)}
        yield _choice(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"index": 0, "id": f"call_{id(step)}", "type": "function", "function": call}],
            }
        )
    yield _choice({}, "tool_calls" if step and step.tool else "stop")
    yield {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}


def _choice(delta: Body, finish: str | None = None) -> Body:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _text(message: Body) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content or ())
