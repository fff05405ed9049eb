"""The engine's HTTP: who is let in, and that nobody else is hurt by who is not."""

import asyncio
import http.client
import json
import socket
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builtin.daemon.worlds import PATIENCE, World

from matrixx_builtin import daemon
from matrixx_builtin.daemon import engine, ports, serving
from matrixx_builtin.daemon import http as door
from matrixx_builtin.daemon.ports import Endpoint
from matrixx_core.wire import LIMIT


@pytest.fixture
def endpoint(shared: World, quick: Sequence[str]) -> Endpoint:
    shared.ask(quick, {})
    found = shared.endpoint()
    assert isinstance(found, Endpoint)
    return found


@pytest.fixture
def connection(endpoint: Endpoint) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=PATIENCE)) as one:
        yield one


def ask(
    connection: http.client.HTTPConnection,
    endpoint: Endpoint,
    body: Any = b'{"a": 1}',
    method: str = "POST",
    path: str = "/stub",
    **headers: str,
) -> tuple[int, Any]:
    given = {"Authorization": f"Bearer {endpoint.token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(
        method, path, body, {name: value for name, value in given.items() if value}, encode_chunked=not isinstance(body, bytes)
    )
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_a_payload_is_answered_and_the_connection_is_kept(connection: http.client.HTTPConnection, endpoint: Endpoint) -> None:
    kept = set()
    for number in range(3):
        status, answer = ask(connection, endpoint, json.dumps({"number": number}).encode())
        assert (status, answer["number"]) == (200, number)
        kept.add(connection.sock)
    assert len(kept) == 1


def test_nothing_to_say_is_an_empty_object(connection: http.client.HTTPConnection, endpoint: Endpoint) -> None:
    assert ask(connection, endpoint, b"{}") == (200, {})


def test_plain_text_is_an_answer_of_that_type(connection: http.client.HTTPConnection, endpoint: Endpoint) -> None:
    connection.request("POST", "/stub", b'{"plain": "Keep the list."}', {"Authorization": f"Bearer {endpoint.token}"})
    answer = connection.getresponse()
    assert (answer.status, answer.headers.get_content_type(), answer.read()) == (200, "text/plain", b"Keep the list.")


@pytest.mark.parametrize(
    ("status", "changed"),
    [
        (401, {"Authorization": ""}),
        (401, {"Authorization": "Bearer "}),
        (401, {"Authorization": "Bearer wrong"}),
        (401, {"Authorization": "Basic TOKEN"}),
        (401, {"Authorization": "TOKEN"}),
        (401, {"Authorization": "Bearer TOKENx"}),
        (401, {"Authorization": "Bearer \xe9"}),
        (403, {"Origin": "http://127.0.0.1:PORT"}),
        (403, {"Origin": "null"}),
        (403, {"Host": "evil.example:PORT"}),
        (403, {"Host": "127.0.0.1"}),
        (403, {"Host": "127.0.0.1:1"}),
        (200, {"Host": "localhost:PORT"}),
        (404, {"path": "/"}),
        (404, {"path": "/../stub"}),
        (404, {"path": "/stub/more"}),
        (404, {"path": "/stub?a=1"}),
        (404, {"path": "http://127.0.0.1:PORT/stub"}),
        (405, {"method": "GET"}),
        (405, {"method": "PUT"}),
        (413, {"Content_Length": str(LIMIT + 1)}),
        (500, {"path": "/nobody"}),
        (500, {"path": "/opencode"}),
    ],
    ids=str,
)
def test_who_is_let_in(connection: http.client.HTTPConnection, endpoint: Endpoint, status: int, changed: Mapping[str, str]) -> None:
    given = {name: value.replace("PORT", str(endpoint.port)).replace("TOKEN", endpoint.token) for name, value in changed.items()}
    found, answer = ask(connection, endpoint, **given)
    assert found == status
    assert endpoint.token not in json.dumps(answer)


@pytest.mark.parametrize("body", [b"", b"no json", b"[]", b'{"fail": 1}'])
def test_what_cannot_be_answered_is_an_error_and_the_connection_goes_on(
    connection: http.client.HTTPConnection, endpoint: Endpoint, body: bytes
) -> None:
    status, answer = ask(connection, endpoint, body)
    assert status == 500 and answer["error"]
    assert ask(connection, endpoint)[0] == 200


def test_a_body_in_chunks_and_a_huge_one_are_taken(connection: http.client.HTTPConnection, endpoint: Endpoint) -> None:
    text = "x" * 2_000_000
    whole = json.dumps({"text": text}).encode()
    assert ask(connection, endpoint, iter([whole[:10], whole[10:]]), Transfer_Encoding="chunked")[1]["text"] == text
    assert ask(connection, endpoint, whole)[1]["text"] == text


def test_a_client_that_asks_first_is_told_to_go_on(endpoint: Endpoint) -> None:
    with socket.create_connection(("127.0.0.1", endpoint.port), PATIENCE) as one:
        one.sendall(head(endpoint, "Expect: 100-continue\r\nContent-Length: 2"))
        assert one.recv(1000).startswith(b"HTTP/1.1 100")
        one.sendall(b"{}")
        assert one.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "text", [b"\0" * 100, b"nonsense\r\n\r\n", b"POST /stub HTTP/1.1\r\n\r\n", b"POST /stub HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"]
)
def test_what_is_no_http_is_told_so(endpoint: Endpoint, text: bytes) -> None:
    with socket.create_connection(("127.0.0.1", endpoint.port), PATIENCE) as one:
        one.sendall(text)
        assert one.recv(1000).startswith(b"HTTP/1.1 4")
        one.shutdown(socket.SHUT_WR)
        while one.recv(1000):
            pass


def test_headers_without_end_are_refused(endpoint: Endpoint) -> None:
    with socket.create_connection(("127.0.0.1", endpoint.port), PATIENCE) as one:
        one.sendall(b"POST /stub HTTP/1.1\r\nX: " + b"x" * 200_000)
        assert one.recv(1000).startswith(b"HTTP/1.1 4")


def test_requests_that_end_in_the_middle_harm_nobody(connection: http.client.HTTPConnection, endpoint: Endpoint, shared: World) -> None:
    whole = head(endpoint, "Content-Length: 8") + b'{"a": 1}'
    for length in range(0, len(whole), 17):
        with socket.create_connection(("127.0.0.1", endpoint.port), PATIENCE) as one:
            one.sendall(whole[:length])
            if length % 2:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset instead of an end
    assert ask(connection, endpoint)[0] == 200
    assert endpoint.token not in shared.log


def test_a_hundred_connections_at_once_are_answered(endpoint: Endpoint) -> None:
    found: list[int] = []

    def one() -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=PATIENCE)) as connection:
            found.append(ask(connection, endpoint)[0])

    threads = [threading.Thread(target=one) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert found == [200] * 100


def test_connections_of_strangers_leave_the_socket_its_files(world: World, quick: Sequence[str]) -> None:
    world.ask(quick, {})
    strangers = [socket.create_connection(("127.0.0.1", world.endpoint().port), PATIENCE) for _ in range(serving.MOST_CONNECTIONS + 1)]
    assert strangers[-1].recv(1) == b"", "one too many"
    assert world.answer(quick, {"a": 1})
    for one in strangers:
        one.close()


def head(endpoint: Endpoint, more: str) -> bytes:
    return f"POST /stub HTTP/1.1\r\nHost: localhost:{endpoint.port}\r\nAuthorization: Bearer {endpoint.token}\r\n{more}\r\n\r\n".encode()


@pytest.mark.parametrize(("name", "sent"), [("PATIENCE", b""), ("PATIENCE", b"POST /stub HT"), ("DEADLINE", b"HEAD"), ("KEPT", b"WHOLE")])
def test_who_is_slow_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, sent: bytes) -> None:
    monkeypatch.setattr(door, name, 0.2)

    async def talk() -> None:
        one = engine.Engine(tmp_path)
        ended = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await door.converse(reader, writer, endpoint, one, lambda: False)
            except TimeoutError:
                ended.set()
            finally:
                writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        endpoint = Endpoint(server.sockets[0].getsockname()[1], "token")
        reader, writer = await asyncio.open_connection("127.0.0.1", endpoint.port)
        begin = head(endpoint, "Content-Length: 2")
        writer.write({b"HEAD": begin, b"WHOLE": begin + b"[]"}.get(sent, sent))
        async with asyncio.timeout(PATIENCE):
            await ended.wait()
            while await reader.read(1000):
                pass
        writer.close()
        server.close()

    asyncio.run(talk())


def test_an_endpoint_stays_is_private_and_shows_no_token(tmp_path: Path, home: Path) -> None:
    one = daemon.endpoint(tmp_path)
    assert daemon.endpoint(tmp_path / "." / "x" / "..") == one and one.port in ports.PORTS and len(one.token) > 30
    assert one.token not in repr(one)
    assert one.url("claude-code") == f"http://127.0.0.1:{one.port}/claude-code"
    other = daemon.endpoint(home)
    assert (other.port, other.token) != (one.port, one.token) and other.port != one.port
    [file] = [path for path in (home / "state" / "endpoints").glob("*.json") if one.token in path.read_text()]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"port": "1", "token": "x"}', '{"port": 70000, "token": "x"}', '{"port": 1, "token": ""}', "[" * 100_000],
)
def test_a_damaged_endpoint_is_made_anew(tmp_path: Path, home: Path, text: str) -> None:
    daemon.endpoint(tmp_path)
    [file] = (home / "state" / "endpoints").glob("*.json")
    file.write_text(text)
    assert daemon.endpoint(tmp_path) == daemon.endpoint(tmp_path)


def test_an_endpoint_that_is_asked_for_by_many_at_once_is_one(tmp_path: Path) -> None:
    found: list[Endpoint] = []
    threads = [threading.Thread(target=lambda: found.append(daemon.endpoint(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(found) == 8 and len({one.token for one in found}) == 1
