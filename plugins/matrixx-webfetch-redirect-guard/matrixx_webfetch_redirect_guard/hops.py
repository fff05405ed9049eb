"""Follow redirects by hand, each hop to an address that has been looked at before it is connected to."""

import socket
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, cast
from urllib.parse import urljoin

import anyio
import httpcore2

from .addresses import RefusedError, Target, parsed, private

REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST = 10
"""Redirects that are followed (spec 3.1)."""

LANGUAGE = "en-US,en;q=0.9"
AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
"""What OpenCode 1.18 sends: a server may redirect others elsewhere."""

ACCEPT = {
    "markdown": "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1",
    "text": "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1",
    "html": "text/html;q=1.0, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1",
}

FAILURES = (OSError, ValueError, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException)


@dataclass(frozen=True, slots=True)
class Hop:
    """What one server answers: its status, and where it sends on."""

    status: int
    location: str = ""


class Checked(httpcore2.AsyncNetworkBackend):
    """Connects to the very address that was looked at: a name may mean another one a moment later."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._backend = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failure: Exception = OSError("it has no address")
        for address in await addresses(host, port, self._allowed):
            try:
                return await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore2.ConnectError as error:
                failure = error
        raise failure


async def destination(url: str, arguments: Mapping[str, Any], allowed: Collection[str]) -> str:
    """Where the URL leads in the end: itself if nobody redirects. Raises ``RefusedError``, or one of ``FAILURES``."""
    there = target = checked(url, allowed)
    wanted = str(arguments.get("format", "markdown"))
    headers = {"User-Agent": AGENT, "Accept": ACCEPT.get(wanted, ACCEPT["markdown"]), "Accept-Language": LANGUAGE}
    async with httpcore2.AsyncConnectionPool(network_backend=Checked(allowed)) as pool:
        for _ in range(MOST + 1):
            hop = await fetched(pool, target, headers)
            if hop.status not in REDIRECTS or not hop.location:
                return url if target is there else target.url
            target = followed(target, hop.location, allowed)
    raise RefusedError(f"it redirects more than {MOST} times")


async def fetched(pool: httpcore2.AsyncConnectionPool, target: Target, headers: Mapping[str, str]) -> Hop:
    """One request, of whose answer only the head is read."""
    async with pool.stream("GET", target.url.partition("#")[0], headers=[*headers.items()]) as response:
        location = next((value for name, value in response.headers if name.lower() == b"location"), b"")
        return Hop(response.status, location.decode("utf-8", "replace").strip())


def checked(url: str, allowed: Collection[str]) -> Target:
    """The target, if what it says of itself is in order; a name is looked up only when it is connected to."""
    target = parsed(url)
    address = target.address
    if target.host not in allowed and address is not None and private(address):
        raise RefusedError(f"{target.origin} is not on the public internet")
    return target


def followed(source: Target, location: str, allowed: Collection[str]) -> Target:
    """Where a redirect leads; browsers take a backslash in it for a slash."""
    head, mark, query = location.partition("?")
    try:
        target = checked(urljoin(source.url, head.replace("\\", "/") + mark + query), allowed)
    except RefusedError as error:
        raise RefusedError(f"it redirects from {source.origin} to an address that is refused: {error}") from None
    if source.scheme == "https" and target.scheme == "http":
        raise RefusedError(f"it redirects from {source.origin} to {target.origin}, which is not encrypted")
    return target


async def addresses(host: str, port: int, allowed: Collection[str]) -> list[str]:
    """The addresses of a host; raises ``RefusedError`` if one of them is private and the host is not allowed."""
    rows = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found = list(dict.fromkeys(str(row[4][0]) for row in rows))
    if host not in allowed and any(private(ip_address(one.partition("%")[0])) for one in found):
        raise RefusedError(f"{host!r} has an address that is not on the public internet")
    return found
