"""Stop agents from being led into the local network by a web page: follow its redirects first.

Off unless ``enabled`` is set, since it asks the server once more, and before the person is asked. A fetch is then refused if its address
or one that it is redirected to is neither http nor https, leads to this machine, the local network or a cloud's own services, drops
encryption, redirects more than ten times, or cannot be checked. Else the address in the call becomes the one where the redirects end:
that is the one that the person is asked about. What a server answers the host a moment later, it alone knows. Behind a proxy, only the
address in the call itself is looked at.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.request import getproxies, proxy_bypass

import anyio
from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import Block, Session, ToolCall, guard, rewrite

from .addresses import LOCAL_NAMES, RefusedError, Target, parsed, private

REMEMBERED = 100
"""Calls of a session whose end is known and not yet used."""

INSTEAD = "fetch a public http(s) address that leads there without redirects to other places."
PERSON = (
    'allow the host with "hooks": {"webfetch-redirect-guard": {"allowed_hosts": [...]}} in matrixx.jsonc, or switch this hook off there'
)


class Config(BaseModel):
    """Settings of ``webfetch-redirect-guard``."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(
        default=False, description="Follow the redirects of each fetch before it is made; this asks the server once more."
    )
    timeout: float = Field(
        default=4.0, gt=0, le=120, description="Seconds for all redirects together; with more than 4 raise deadline_ms of this hook too."
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts (names or addresses, without port) that may be fetched although they are not public."
    )


@dataclass(slots=True)
class Ends:
    """By call, where its redirects end: found by the guard, used by the rewriter."""

    by_call: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])


def off_because(config: Config) -> str:
    """Why nothing is followed, or ``""``."""
    return "" if config.enabled else "hooks.webfetch-redirect-guard.enabled is false"


@guard(tools={"webfetch"})
async def tool_execute_before(call: ToolCall, session: Session, config: Config) -> Block | None:
    url = call.args.get("url")
    if not isinstance(url, str) or not url:
        return None
    ends = session.state(Ends).by_call
    if ends.pop(call.call_id, "") == url:  # the rewriter's change is judged again
        return None
    try:
        end = await _end(url, call.args, config)
    except RefusedError as error:
        return Block(f"{_shown(url)} is not fetched: {error}.", INSTEAD, PERSON)
    if end != url:
        ends[call.call_id] = end
        while len(ends) > REMEMBERED:
            ends.popitem(last=False)
    return None


@rewrite(tools={"webfetch"}, spec="tool_execute_before")
def go_there_at_once(call: ToolCall, session: Session) -> ToolCall | None:
    """Fetch from where the redirects end."""
    end = session.state(Ends).by_call.get(call.call_id)
    return call.with_args(url=end) if end else None


async def _end(url: str, arguments: Mapping[str, Any], config: Config) -> str:
    """Where the URL leads; whatever keeps that from being known is a reason to refuse."""
    allowed = {host.lower().strip("[]") for host in config.allowed_hosts}
    target = parsed(url)
    if _behind_proxy(target):
        if target.host not in allowed and _is_local(target):
            raise RefusedError("it is not on the public internet")
        return url
    from .hops import FAILURES, destination  # needed only where the hook is on

    try:
        with anyio.fail_after(_seconds(arguments.get("timeout"), config.timeout)):
            return await destination(url, arguments, allowed)
    except TimeoutError:
        raise RefusedError(f"it could not be checked within {config.timeout:g} seconds") from None
    except FAILURES as error:
        raise RefusedError(f"it could not be checked ({type(error).__name__}: {str(error) or 'no details'})"[:300]) from None


def _seconds(given: Any, most: float) -> float:
    """The call's own limit, where it is the narrower one."""
    return min(given, most) if isinstance(given, int | float) and not isinstance(given, bool) and given > 0 else most


def _behind_proxy(target: Target) -> bool:
    return target.scheme in getproxies() and not proxy_bypass(target.host)


def _is_local(target: Target) -> bool:
    return private(target.address) if target.address else LOCAL_NAMES.fullmatch(target.host) is not None


def _shown(url: str) -> str:
    """The URL without what may be secret in it."""
    try:
        return parsed(url).origin
    except RefusedError:
        return "this address"
