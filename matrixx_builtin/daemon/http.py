"""The engine's HTTP: ``POST /HOST`` with a payload, on the loopback interface, for who has the project's token."""

import asyncio
import contextlib
import hmac
from collections.abc import Callable, Mapping

import h11

from matrixx_core.wire import LIMIT

from .engine import Engine, Said, Unanswered, encoded
from .ports import Endpoint

PATIENCE = 10.0
"""Seconds for the headers of a request, from the first byte on; for the first byte as well until one was let in."""

KEPT = 600.0
"""Seconds that a connection is kept open for the next request."""

DEADLINE = 30.0
"""Seconds for a body to arrive, and for an answer to be taken."""

LINGER = 1.0
"""Seconds between the last answer of a connection and its end, if the client does not close it."""

CHUNK = 256 * 1024


class Refused(Exception):
    """A request that is not let in: the status to answer with."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


async def converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, endpoint: Endpoint, engine: Engine, leaving: Callable[[], bool]
) -> None:
    """Answer one connection until its end; raises ``TimeoutError`` and ``OSError`` for one that is slow or gone."""
    wire = h11.Connection(h11.SERVER)
    patience = PATIENCE
    while True:
        first = await asyncio.wait_for(reader.read(CHUNK), patience)
        if not first:
            return
        with engine.in_hand():
            try:
                wire.receive_data(first)
                host, payload = await _request(wire, reader, writer, endpoint)
                said = await engine.answer(host, payload)
                await _respond(wire, writer, 200, said, close=leaving())
            except Unanswered as error:
                await _respond(wire, writer, 500, {"error": str(error)}, close=leaving())
            except Refused as refused:
                await _respond(wire, writer, refused.status, {"error": "refused"}, close=True)
            except h11.RemoteProtocolError as error:
                await _respond(wire, writer, error.error_status_hint, {"error": "no HTTP"}, close=True)
        if wire.our_state is not h11.DONE or wire.their_state is not h11.DONE or wire.trailing_data[0]:
            await _let_go(reader, writer)
            return
        wire.start_next_cycle()
        patience = KEPT


async def _request(
    wire: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, endpoint: Endpoint
) -> tuple[str, bytes]:
    async with asyncio.timeout(PATIENCE):
        head = await _event(wire, reader)
    if not isinstance(head, h11.Request):
        raise Refused(400)
    _let_in(head, {bytes(name): bytes(value) for name, value in head.headers}, endpoint)
    if wire.they_are_waiting_for_100_continue:
        writer.write(wire.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
    parts: list[bytes] = []
    size = 0
    async with asyncio.timeout(DEADLINE):
        while isinstance(data := await _event(wire, reader), h11.Data):
            parts.append(bytes(data.data))
            size += len(parts[-1])
            if size > LIMIT:
                raise Refused(413)
    if not isinstance(data, h11.EndOfMessage):
        raise Refused(400)
    return head.target[1:].decode("ascii"), b"".join(parts)


def _let_in(head: h11.Request, headers: Mapping[bytes, bytes], endpoint: Endpoint) -> None:
    """Raise ``Refused`` for who has no token, and for every web page, whose requests have an origin or another host's name."""
    names = {b"127.0.0.1:%d" % endpoint.port, b"localhost:%d" % endpoint.port}
    given = headers.get(b"authorization", b"")
    if b"origin" in headers or headers.get(b"host", b"").lower() not in names:
        raise Refused(403)
    if not hmac.compare_digest(given, b"Bearer " + endpoint.token.encode()):
        raise Refused(401)
    if not head.target[:1] == b"/" or not head.target[1:].replace(b"-", b"").replace(b"_", b"").isalnum():
        raise Refused(404)
    if head.method != b"POST":
        raise Refused(405)
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and int(length[:20]) > LIMIT:
        raise Refused(413)


async def _event(wire: h11.Connection, reader: asyncio.StreamReader) -> object:
    while (event := wire.next_event()) is h11.NEED_DATA:
        wire.receive_data(await reader.read(CHUNK))
    return event


async def _respond(wire: h11.Connection, writer: asyncio.StreamWriter, status: int, said: Said, *, close: bool) -> None:
    if wire.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
        return
    body, kind = encoded(said), "text/plain; charset=utf-8" if isinstance(said, str) else "application/json"
    headers = [("content-type", kind), ("content-length", str(len(body))), *([("connection", "close")] if close else [])]
    for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
        writer.write(wire.send(event) or b"")
    async with asyncio.timeout(DEADLINE):
        await writer.drain()


async def _let_go(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take what still comes for a moment: to close with that unread would destroy the answer on its way."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            writer.write_eof()
            while await reader.read(CHUNK):
                pass
