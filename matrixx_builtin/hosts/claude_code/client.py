"""What hooks may ask of Claude Code: it can be read, and told something with the next answer to one of its events."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from matrixx_core.client import NoClient, Tone
from matrixx_core.errors import ClientError
from matrixx_core.events import Message

from . import transcript


class ClaudeCodeClient(NoClient):
    """The ``HostClient`` of Claude Code, which has no interface of its own: what it lacks raises ``ClientError``."""

    def __init__(self) -> None:
        self.transcripts: dict[str, str] = {}
        """Where each session's transcript file is, as the host's events tell."""
        self._shown: list[str] = []

    async def messages(self, session_id: str) -> Sequence[Message]:
        if session_id not in self.transcripts:
            raise ClientError(f"Claude Code has told nothing of a session {session_id!r} yet")
        return await self.history(session_id)

    async def history(self, session_id: str) -> Sequence[Message]:
        """The session's messages so far; of a session that the host has told nothing of, none."""
        return await anyio.to_thread.run_sync(transcript.messages, self.transcripts.get(session_id, ""), session_id)

    async def todo(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        return transcript.todos(await self.messages(session_id))

    async def toast(self, message: str, *, tone: Tone = "info", title: str = "Matrixx") -> None:
        """Shown with the answer to the event that is being handled."""
        self._shown.append(f"{title}: {message}")

    def shown(self) -> str:
        """What the person is to be shown now."""
        said, self._shown = "\n".join(self._shown), []
        return said

    def learn(self, session_id: str, path: str, agent_id: str) -> None:
        """Remember where a session's transcript is; a sub-agent's lies below its parent's."""
        if agent_id and path:
            above = Path(path)
            path = str(above.with_suffix("") / "subagents" / f"agent-{agent_id}.jsonl")
        if path:
            self.transcripts[session_id] = path

    def forget(self, session_id: str) -> None:
        self.transcripts.pop(session_id, None)
