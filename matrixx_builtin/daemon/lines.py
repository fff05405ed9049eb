"""The Unix socket's conversation, which a client can lead without JSON.

The client sends ``matrixx 1 HOST EVENT PID INTERPRETER`` in a line (the process of the host program, and the Python that
the client would start an engine with), the payload behind it, and closes its side. It gets ``0`` or ``2``, the exit code
for its host, the number of bytes that follow, a line's end, and these bytes for standard output (0) or standard error (2).
``1`` in that place is no answer, and the reason follows; nothing at all says that another engine is to be started.
"""

import asyncio
from dataclasses import dataclass

from matrixx_core.wire import LIMIT

DEADLINE = 30.0
"""Seconds for the request to arrive, and for the answer to be taken."""

CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    host: str
    event: str
    program: int
    interpreter: str
    payload: bytes


async def read(reader: asyncio.StreamReader) -> Request | None:
    """One request; ``None`` if it is none, or not whole. Raises ``TimeoutError`` and ``OSError``."""
    async with asyncio.timeout(DEADLINE):
        try:
            words = (await reader.readuntil(b"\n"))[:-1].decode("utf-8", "surrogateescape").split(" ", 5)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return None
        if words[:2] != ["matrixx", "1"] or len(words) != 6 or not words[4].isdecimal():
            return None
        parts: list[bytes] = []
        size = 0
        while part := await reader.read(CHUNK):
            size += len(part)
            if size > LIMIT:
                return None
            parts.append(part)
    return Request(words[2], words[3], int(words[4][:10]), words[5], b"".join(parts))


async def write(writer: asyncio.StreamWriter, code: int, body: bytes) -> None:
    """The answer. Raises ``TimeoutError`` and ``OSError``."""
    writer.write(b"%d %d\n" % (code, len(body)) + body)
    async with asyncio.timeout(DEADLINE):
        await writer.drain()
