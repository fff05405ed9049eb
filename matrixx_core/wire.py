"""JSON lines over pipes: how an adapter's process speaks with the host program that started it.

One object a line in both directions. A line that is no object is answered and skipped; nothing that arrives can end
the conversation but its end.
"""

import asyncio
import json
import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pydantic_core

LIMIT = 64 * 1024 * 1024
"""Bytes in one line; a longer one is dropped while it arrives, and answered as failed if its id stands in front."""

Message: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[Message], Awaitable[None]]

log = logging.getLogger("matrixx")


class Wire(asyncio.Protocol):
    """Both ends of the pipe: ``send`` objects, and ``listen`` until the other side is gone."""

    def __init__(self) -> None:
        self._early: list[tuple[bytes, int]] = []
        self._receive: Callable[[bytes, int], None] = lambda line, size: self._early.append((line, size))
        self._ended = asyncio.Event()
        self._parts: list[bytes] = []
        self._size = 0
        self._out: asyncio.WriteTransport | None = None

    async def connect(self, source: int, sink: int) -> None:
        """Read from one file descriptor and write to another; both become ours."""
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: self, os.fdopen(source, "rb", 0))
        self._out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(sink, "wb", 0))

    def send(self, message: Message) -> None:
        """Write one object; what it cannot hold is replaced, and a closed pipe is no error."""
        if self._out is not None and not self._out.is_closing():
            self._out.write(encode(message) + b"\n")

    def close(self) -> None:
        """Close our side; what was sent before still goes out."""
        if self._out is not None:
            self._out.close()

    async def listen(self, handler: Handler) -> None:
        """Hand every object to its own task, in order of arrival; returns at the end of the stream."""
        tasks: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:  # a third of the cost of anyio's, and one is made for every line

            def receive(line: bytes, size: int) -> None:
                if (message := self._decoded(line, size)) is not None:
                    tasks.add(task := group.create_task(_guarded(handler, message)))
                    task.add_done_callback(tasks.discard)

            self._receive = receive
            for early in self._early:
                receive(*early)
            await self._ended.wait()
            for task in tasks:
                task.cancel()

    def data_received(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._keep(line)
            whole, size = b"".join(self._parts), self._size
            self._parts, self._size = [], 0
            self._receive(whole, size)
        self._keep(rest)

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()

    def _keep(self, piece: bytes) -> None:
        before, self._size = self._size, self._size + len(piece)
        if self._size <= LIMIT:
            self._parts.append(piece)
        elif before <= LIMIT:  # from here on only its beginning is kept: it names the request
            self._parts = [b"".join([*self._parts, piece])[:200]]

    def _decoded(self, line: bytes, size: int) -> Message | None:
        if not line.strip():
            return None
        why = f"it is over the limit of {LIMIT} bytes" if size > LIMIT else ""
        try:
            message = None if why else decode(line)
            if isinstance(message, dict):
                return message
            why = why or f"expected an object, not {type(message).__name__}"
        except ValueError as error:
            why = str(error)
        log.error("a line of %d bytes from the host cannot be read: %s", size, why)
        named = re.match(rb'\s*\{\s*"id"\s*:\s*(\d{1,18})\b', line)
        self.send({"id": int(named.group(1)), "error": why} if named else {"op": "error", "error": why})
        return None


def encode(message: Message) -> bytes:
    """The object as one line of JSON."""
    try:
        return pydantic_core.to_json(message, fallback=str)
    except ValueError:  # lone surrogates
        return json.dumps(message, default=str).encode("ascii")


def decode(line: bytes | str) -> Any:
    """One line of JSON as Python; raises ``ValueError`` that says what is wrong and where."""
    try:
        return pydantic_core.from_json(line)
    except ValueError:
        try:
            return json.loads(line)  # takes lone surrogates
        except RecursionError:
            raise ValueError("nested too deeply") from None


def claim_stdio() -> tuple[int, int]:
    """Keep standard input and output for the wire, and send what anything else prints to standard error."""
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink


async def _guarded(handler: Handler, message: Message) -> None:
    try:
        await handler(message)
    except Exception:
        log.exception("a message from the host could not be handled")
