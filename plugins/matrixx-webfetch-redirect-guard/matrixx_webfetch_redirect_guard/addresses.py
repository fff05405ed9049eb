"""Where an URL leads, read as browsers read it (the URL standard of WHATWG), and whether that is a place for everybody."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias
from urllib.parse import quote

Address: TypeAlias = IPv4Address | IPv6Address

PORTS = {"http": 80, "https": 443}
LONGEST = 8_192
"""Characters of an URL; servers take no more."""

NAT64 = IPv6Network("64:ff9b::/96")
MORE = tuple(map(ip_network, ("192.0.0.0/24", "168.63.129.16/32", "fec0::/10")))
"""Not public either, whatever Python's version says of them: for protocols (and Oracle's cloud), Azure's own services, the older site-local ones."""

LOCAL_NAMES = re.compile(r"(?:[^.]+|.*\.(?:localhost|local|internal|home\.arpa|lan))\.?", re.DOTALL)

_URL = re.compile(r"(https?)://([^/?#\\]*)(.*)", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@%<>^|\s\x00-\x20\x7f]+)(?::([0-9]{0,5}))?", re.IGNORECASE)
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+", re.IGNORECASE)
_SAFE = "%/:?#[]@!$&'()*+,;=~-._"


class RefusedError(Exception):
    """The fetch must not be made; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """An URL taken apart: ``host`` is a name in lower-case ASCII, or an address without brackets."""

    scheme: str
    host: str
    port: int
    rest: str

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (f":{self.port}" if self.port != PORTS[self.scheme] else "")

    @property
    def url(self) -> str:
        return self.origin + self.rest

    @property
    def address(self) -> Address | None:
        """The host where it is an address."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None


def parsed(url: str) -> Target:
    """The URL taken apart; raises ``RefusedError`` for one that two programs may read in two ways."""
    found = _URL.fullmatch(url)
    if found is None:
        raise RefusedError("only http:// and https:// addresses are fetched")
    authority = _AUTHORITY.fullmatch(found[2])
    if authority is None or len(url) > LONGEST:
        raise RefusedError("its host cannot be read without doubt: name it plainly, without a user, a password or escapes")
    scheme, port = found[1].lower(), int(authority[2] or PORTS[found[1].lower()])
    if not 0 < port < 65_536:
        raise RefusedError("its port is none")
    rest = quote(found[3].encode("utf-8", "replace"), safe=_SAFE)
    return Target(scheme, _host(authority[1]), port, rest if rest.startswith("/") else f"/{rest}")


def private(address: Address) -> bool:
    """Whether an address is not one of the public internet: this machine, the local network, a cloud's own services."""
    return any(
        one.is_multicast or one.is_reserved or not one.is_global or any(one in network for network in MORE) for one in _meant(address)
    )


def _meant(address: Address) -> Iterator[Address]:
    """The addresses that packets may go to: an IPv6 address may hold one of IPv4."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        yield address.ipv4_mapped
    elif isinstance(address, IPv6Address) and address in NAT64:
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    else:
        yield address
        if isinstance(address, IPv6Address):
            yield from filter(None, (address.sixtofour, *(address.teredo or ())))


def _host(given: str) -> str:
    import idna

    try:
        if given.startswith("["):
            return str(IPv6Address(given[1:-1]))
        name = given.lower() if given.isascii() else idna.encode(given, uts46=True).decode("ascii")
    except (ValueError, UnicodeError):
        raise RefusedError("its host is neither a name nor an address") from None
    return _as_ipv4(name) or name


def _as_ipv4(name: str) -> str:
    """``0x7f.1``, ``2130706433`` and ``127.1`` are addresses, to browsers and to the system; ``""`` for a name."""
    parts = name.removesuffix(".").split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return ""
    try:
        *first, last = [_number(part) for part in parts]
    except ValueError:
        raise RefusedError("its host is neither a name nor an address") from None
    if len(first) > 3 or any(one > 255 for one in first) or last >= 256 ** (4 - len(first)):
        raise RefusedError("its host is neither a name nor an address")
    return str(IPv4Address(sum(one << 8 * (3 - place) for place, one in enumerate(first)) + last))


def _number(part: str) -> int:
    if not _NUMBER.fullmatch(part):
        raise ValueError(part)
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") else 10)
