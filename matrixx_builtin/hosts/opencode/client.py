"""What hooks may ask of OpenCode, as calls of its HTTP API (1.18), made inside the OpenCode process by the bridge."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import anyio

from matrixx_core.client import Reply, Tone
from matrixx_core.errors import ClientError
from matrixx_core.events import TAG, Message

Request: TypeAlias = Callable[[str, str, Any], Awaitable[Any]]
"""``request(method, path, body)`` returns the decoded answer; raises ``ClientError`` when the host refuses."""

READ, WRITE, SUMMARIZE = 5.0, 10.0, 60.0
"""Deadlines in seconds (spec config-and-dispatch M; summarise as the original)."""


class OpenCodeClient:
    """The ``HostClient`` of OpenCode."""

    def __init__(self, request: Request) -> None:
        self._request = request

    async def messages(self, session_id: str) -> Sequence[Message]:
        found = _listed(await self._ask("GET", f"/session/{session_id}/message", None, READ))
        return [as_message(one) for one in found if isinstance(one, Mapping)]

    async def prompt(self, session_id: str, text: str, *, reply: bool = True, agent: str = "") -> None:
        part = {"type": "text", "text": text, "synthetic": True, "metadata": {TAG: True}}
        body: dict[str, Any] = {"parts": [part], **({"agent": agent} if agent else {})}
        if reply:
            await self._ask("POST", f"/session/{session_id}/prompt_async", body, WRITE)
        else:
            await self._ask("POST", f"/session/{session_id}/message", {**body, "noReply": True}, WRITE)

    async def summarize(self, session_id: str, provider: str, model: str) -> None:
        await self._ask("POST", f"/session/{session_id}/summarize", {"providerID": provider, "modelID": model}, SUMMARIZE)

    async def abort(self, session_id: str) -> None:
        await self._ask("POST", f"/session/{session_id}/abort", None, WRITE)

    async def toast(self, message: str, *, tone: Tone = "info", title: str = "Matrixx") -> None:
        try:
            await self._ask("POST", "/tui/show-toast", {"title": title, "message": message, "variant": tone}, READ)
        except ClientError:
            return  # a person who cannot be shown something is no reason to fail

    async def todo(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        return [one for one in _listed(await self._ask("GET", f"/session/{session_id}/todo", None, READ)) if isinstance(one, Mapping)]

    async def sessions(self, parent: str = "") -> Sequence[Mapping[str, Any]]:
        path = f"/session/{parent}/children" if parent else "/session"
        return [one for one in _listed(await self._ask("GET", path, None, READ)) if isinstance(one, Mapping)]

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
    info, parts = raw.get("info"), raw.get("parts")
    return Message.model_construct(
        info=info if isinstance(info, Mapping) else {},
        parts=tuple(part for part in parts if isinstance(part, Mapping)) if isinstance(parts, list) else (),
    )


def _listed(answer: Any) -> list[Any]:
    """A reply's list, bare or under ``data``."""
    found = answer.get("data") if isinstance(answer, Mapping) else answer
    return found if isinstance(found, list) else []
