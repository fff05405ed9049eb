"""What a hook may ask of the host; every call has a deadline and raises ``ClientError`` when it is not met."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from .errors import ClientError
from .events import Message

Reply = Literal["once", "always", "reject"]
Tone = Literal["info", "success", "warning", "error"]


class HostClient(Protocol):
    """The host as hooks see it. ``session_id`` is always the id that events carry.

    One object stands for one host for as long as the engine runs, and is hashable: services keep by it what belongs to
    the host as a whole.
    """

    async def messages(self, session_id: str) -> Sequence[Message]:
        """The session's messages, oldest first."""
        ...

    async def prompt(self, session_id: str, text: str, *, reply: bool = True, agent: str = "", model: str = "") -> None:
        """Send a prompt on our behalf, marked as synthetic; ``reply=False`` only adds it to the conversation.

        ``agent`` and ``model`` (``provider/model``) are the host's choice unless said.
        """
        ...

    async def summarize(self, session_id: str, provider: str, model: str, *, go_on: bool = False) -> None:
        """Compact the session with this model; with ``go_on`` its agent is then asked to go on with its work.

        A host may answer only when that work has ended too, so a missed deadline does not say that nothing was compacted.
        """
        ...

    async def abort(self, session_id: str) -> None:
        """Stop what the session is doing."""
        ...

    async def toast(self, message: str, *, tone: Tone = "info", title: str = "Matrixx") -> None:
        """Show the person a short message; silent where the host has no place for it."""
        ...

    async def todo(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        """The session's todo list as the host keeps it."""
        ...

    async def sessions(self, parent: str = "") -> Sequence[Mapping[str, Any]]:
        """All sessions, or the children of one."""
        ...

    async def create_session(self, parent: str, title: str, *, agent: str) -> str:
        """Begin a child session for an agent, with no right that its parent lacks; returns its id.

        Refused (``ClientError``) where the person's rules do not plainly let the parent delegate to this agent: only the
        host can ask them.
        """
        ...

    async def agents(self) -> Sequence[Mapping[str, Any]]:
        """The agents that the host offers, as it describes them: ``name``, and ``model`` where an agent has its own."""
        ...

    async def reply_permission(self, permission_id: str, reply: Reply, message: str = "") -> None:
        """Answer a permission question in the person's place."""
        ...


class NoClient:
    """A host that offers nothing: what an embedding program gets that passes no client of its own."""

    async def messages(self, session_id: str) -> Sequence[Message]:
        raise self._error("messages")

    async def prompt(self, session_id: str, text: str, *, reply: bool = True, agent: str = "", model: str = "") -> None:
        raise self._error("prompt")

    async def summarize(self, session_id: str, provider: str, model: str, *, go_on: bool = False) -> None:
        raise self._error("summarize")

    async def abort(self, session_id: str) -> None:
        raise self._error("abort")

    async def toast(self, message: str, *, tone: Tone = "info", title: str = "Matrixx") -> None:
        return None

    async def todo(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        raise self._error("todo")

    async def sessions(self, parent: str = "") -> Sequence[Mapping[str, Any]]:
        raise self._error("sessions")

    async def create_session(self, parent: str, title: str, *, agent: str) -> str:
        raise self._error("create_session")

    async def agents(self) -> Sequence[Mapping[str, Any]]:
        raise self._error("agents")

    async def reply_permission(self, permission_id: str, reply: Reply, message: str = "") -> None:
        raise self._error("reply_permission")

    @staticmethod
    def _error(method: str) -> ClientError:
        return ClientError(f"this host has no {method!r}: pass a client to Host.open that offers it")
