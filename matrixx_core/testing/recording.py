"""A host client that asks nobody, remembers what it was asked, and answers what the test told it to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..client import Reply, Tone
from ..events import Message


@dataclass(eq=False)
class RecordingClient:
    """Set the ``answer_*`` fields before, read ``requests`` after: ``(method, arguments)`` in order."""

    answer_messages: Sequence[Message] = ()
    answer_todo: Sequence[Mapping[str, Any]] = ()
    answer_sessions: Sequence[Mapping[str, Any]] = ()
    answer_agents: Sequence[Mapping[str, Any]] = ()
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])

    async def messages(self, session_id: str) -> Sequence[Message]:
        self._note("messages", session_id=session_id)
        return self.answer_messages

    async def prompt(self, session_id: str, text: str, *, reply: bool = True, agent: str = "", model: str = "") -> None:
        self._note("prompt", session_id=session_id, text=text, reply=reply, agent=agent, model=model)

    async def summarize(self, session_id: str, provider: str, model: str, *, go_on: bool = False) -> None:
        self._note("summarize", session_id=session_id, provider=provider, model=model, go_on=go_on)

    async def abort(self, session_id: str) -> None:
        self._note("abort", session_id=session_id)

    async def toast(self, message: str, *, tone: Tone = "info", title: str = "Matrixx") -> None:
        self._note("toast", message=message, tone=tone, title=title)

    async def todo(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        self._note("todo", session_id=session_id)
        return self.answer_todo

    async def sessions(self, parent: str = "") -> Sequence[Mapping[str, Any]]:
        self._note("sessions", parent=parent)
        return self.answer_sessions

    async def create_session(self, parent: str, title: str, *, agent: str) -> str:
        """The ids are ``ses_child_1``, ``ses_child_2`` ..."""
        self._note("create_session", parent=parent, title=title, agent=agent)
        return f"ses_child_{sum(name == 'create_session' for name, _ in self.requests)}"

    async def agents(self) -> Sequence[Mapping[str, Any]]:
        self._note("agents")
        return self.answer_agents

    async def reply_permission(self, permission_id: str, reply: Reply, message: str = "") -> None:
        self._note("reply_permission", permission_id=permission_id, reply=reply, message=message)

    def _note(self, method: str, **arguments: Any) -> None:
        self.requests.append((method, arguments))
