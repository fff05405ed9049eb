"""What hooks may ask of OpenCode, as calls of its HTTP API (1.18), made inside the OpenCode process by the bridge."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias, cast

import anyio

from matrixx_core.client import Reply, Tone
from matrixx_core.errors import ClientError
from matrixx_core.events import TAG, Message

Request: TypeAlias = Callable[[str, str, Any], Awaitable[Any]]
"""``request(method, path, body)`` returns the decoded answer; raises ``ClientError`` when the host refuses."""

READ, WRITE, SUMMARIZE = 5.0, 10.0, 60.0
"""Deadlines in seconds (spec config-and-dispatch M; summarise as the original)."""

DELEGATE = "task"
"""OpenCode's permission for handing work to a sub-agent."""

CHILDLESS = ({"permission": "todowrite", "pattern": "*", "action": "deny"}, {"permission": DELEGATE, "pattern": "*", "action": "deny"})
"""What OpenCode's own ``task`` tool denies a sub-agent besides what the parent is denied."""


class OpenCodeClient:
    """The ``HostClient`` of OpenCode."""

    def __init__(self, request: Request) -> None:
        self._request = request

    async def messages(self, session_id: str) -> Sequence[Message]:
        return [as_message(one) for one in _tables(await self._ask("GET", f"/session/{session_id}/message", None, READ))]

    async def prompt(self, session_id: str, text: str, *, reply: bool = True, agent: str = "", model: str = "") -> None:
        part = {"type": "text", "text": text, "synthetic": True, "metadata": {TAG: True}}
        provider, _, name = model.partition("/")
        chosen = {"model": {"providerID": provider, "modelID": name}} if name else {}
        body: dict[str, Any] = {"parts": [part], **({"agent": agent} if agent else {}), **chosen}
        if reply:
            await self._ask("POST", f"/session/{session_id}/prompt_async", body, WRITE)
        else:
            await self._ask("POST", f"/session/{session_id}/message", {**body, "noReply": True}, WRITE)

    async def summarize(self, session_id: str, provider: str, model: str, *, go_on: bool = False) -> None:
        body = {"providerID": provider, "modelID": model, "auto": go_on}
        await self._ask("POST", f"/session/{session_id}/summarize", body, SUMMARIZE)

    async def abort(self, session_id: str) -> None:
        await self._ask("POST", f"/session/{session_id}/abort", None, WRITE)

    async def toast(self, message: str, *, tone: Tone = "info", title: str = "Matrixx") -> None:
        try:
            await self._ask("POST", "/tui/show-toast", {"title": title, "message": message, "variant": tone}, READ)
        except ClientError:
            return  # a person who cannot be shown something is no reason to fail

    async def todo(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        return _tables(await self._ask("GET", f"/session/{session_id}/todo", None, READ))

    async def sessions(self, parent: str = "") -> Sequence[Mapping[str, Any]]:
        path = f"/session/{parent}/children" if parent else "/session"
        return _tables(await self._ask("GET", path, None, READ))

    async def create_session(self, parent: str, title: str, *, agent: str) -> str:
        found = await self._ask("GET", f"/session/{parent}", None, READ)
        if not isinstance(found, Mapping):
            raise ClientError(f"OpenCode knows no session {parent!r}")
        above = cast(Mapping[str, Any], found)
        own = _tables(above.get("permission"))
        asking: Mapping[str, Any] = next((one for one in await self.agents() if one.get("name") == above.get("agent")), {})
        if (action := _action([*_tables(asking.get("permission")), *own], DELEGATE, agent)) != "allow":
            raise ClientError(f"the person's settings say {action!r} to handing work to agent {agent!r}")
        kept = [rule for rule in own if rule.get("permission") == "external_directory" or rule.get("action") == "deny"]
        body = {"parentID": parent, "title": title, "agent": agent, "permission": [*kept, *CHILDLESS]}
        made = await self._ask("POST", "/session", body, WRITE)
        if not isinstance(made, Mapping) or "id" not in made:
            raise ClientError("OpenCode made no session")
        return str(cast(Mapping[str, Any], made)["id"])

    async def agents(self) -> Sequence[Mapping[str, Any]]:
        return _tables(await self._ask("GET", "/agent", None, READ))

    async def reply_permission(self, permission_id: str, reply: Reply, message: str = "") -> None:
        body = {"reply": reply, **({"message": message} if message else {})}
        await self._ask("POST", f"/permission/{permission_id}/reply", body, WRITE)

    async def _ask(self, method: str, path: str, body: Any, deadline: float) -> Any:
        try:
            with anyio.fail_after(deadline):
                return await self._request(method, path, body)
        except TimeoutError:
            raise ClientError(f"OpenCode did not answer {method} {path} within {deadline:g} s") from None


def as_message(raw: Mapping[str, Any]) -> Message:
    """A message as the API and the transform hook write it: ``{"info": {...}, "parts": [...]}``."""
    info = raw.get("info")
    return Message.model_construct(
        info=cast(Mapping[str, Any], info) if isinstance(info, Mapping) else {}, parts=tuple(_tables(raw.get("parts")))
    )


def _tables(answer: Any) -> list[Mapping[str, Any]]:
    """The tables in a reply's list, bare or under ``data``."""
    found: Any = cast(Mapping[str, Any], answer).get("data") if isinstance(answer, Mapping) else answer
    return [cast(Mapping[str, Any], one) for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _action(rules: Iterable[Mapping[str, Any]], permission: str, pattern: str) -> str:
    """What the last rule that fits says, as OpenCode judges; without one it asks."""
    return next(
        (
            str(rule.get("action"))
            for rule in reversed([*rules])
            if fnmatchcase(permission, str(rule.get("permission"))) and fnmatchcase(pattern, str(rule.get("pattern")))
        ),
        "ask",
    )
