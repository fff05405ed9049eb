"""A conversation as OpenCode keeps it, with every hook asked where OpenCode asks it, and each request as it was sent."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matrixx_builtin.hosts.opencode.adapter import Answer, OpenCode
from matrixx_builtin.hosts.opencode.translate import apply

SESSION = "ses_1"
MODEL = {"providerID": "anthropic", "modelID": "claude-sonnet-4-5"}

EVERYTHING: dict[str, Any] = {
    "experimental": {"preemptive_compaction": True, "hashline_edit": True},
    "evolution": {"enabled": True},
    "knowledge": {"hubs": [{"name": "lore", "path": "lore"}]},
    "runtime_fallback": {"models": ["scripted/spare"]},
    "hooks": {"thinking-block-validator": {"enabled": True}},
}
"""A person's settings that switch on what is off by default and has to do with requests; ``lore`` is a folder of the project."""

Raw = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Use:
    """One tool call of the model, and what comes of it: ``output``, or an error."""

    tool: str
    args: Raw
    output: str = "done"
    error: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the person says, the calls that follow, and what the model says in the end; ``events`` come before all that."""

    prompt: str
    uses: Sequence[Use] = ()
    say: str = "Done."
    agent: str = "build"
    events: Sequence[tuple[str, Raw]] = ()


@dataclass(slots=True, repr=False)  # asyncio's runner asks for the repr of what it has run: here it cost more than the hooks
class Conversation:
    """One main session; ``sent`` are the messages of each request, ``answers`` all that hooks have answered."""

    host: OpenCode
    messages: list[Raw] = field(default_factory=list[Raw])
    sent: list[list[Raw]] = field(default_factory=list[list[Raw]])
    answers: list[Answer] = field(default_factory=list[Answer])
    _ids: Any = field(default_factory=itertools.count)

    async def say(self, turn: Turn) -> None:
        """A whole turn, until the session is idle."""
        for kind, properties in turn.events:
            await self._event(kind, **properties)
        await self._prompt(turn)
        for use in turn.uses:
            await self._request()
            await self._call(use)
        await self._request()
        await self._assistant([{"type": "text", "text": turn.say}])
        await self._event("session.idle", sessionID=SESSION)

    async def compact(self) -> None:
        """OpenCode summarises the session: what was said before is no longer sent."""
        await self._hook("experimental.session.compacting", {"sessionID": SESSION}, {"context": []})
        self.messages = [
            *self._message("user", [{"type": "text", "text": "What did we do so far?"}]),
            *self._message("assistant", [{"type": "text", "text": "A summary."}]),
        ]
        await self._event("session.compacted", sessionID=SESSION)
        self.sent.clear()

    async def _prompt(self, turn: Turn) -> None:
        await self._event("session.status", sessionID=SESSION, status={"type": "busy"})
        [message] = self._message("user", [{"type": "text", "text": turn.prompt}], agent=turn.agent, model=MODEL)
        said = {"message": message["info"], "parts": message["parts"]}
        after = await self._hook("chat.message", {"sessionID": SESSION, "agent": turn.agent, "model": MODEL}, said)
        self.messages.append({"info": after["message"], "parts": after["parts"]})

    async def _request(self) -> None:
        sent = await self._hook("experimental.chat.messages.transform", {}, {"messages": json.loads(json.dumps(self.messages))})
        self.sent.append(sent["messages"])

    async def _call(self, use: Use) -> None:
        call_id = f"call_{next(self._ids)}"
        about = {"tool": use.tool, "sessionID": SESSION, "callID": call_id}
        before = await self.host.hook("tool.execute.before", about, {"args": use.args})
        self.answers.append(before)
        args = apply({"args": dict(use.args)}, before.edits)["args"]
        state: Raw = {"status": "error", "input": args, "error": before.refusal or use.error}
        if not state["error"]:
            result = await self._hook("tool.execute.after", {**about, "args": args}, {"title": "", "output": use.output, "metadata": {}})
            state = {
                "status": "completed",
                "input": args,
                "output": result["output"],
                "title": "",
                "metadata": {},
                "time": {"start": 0, "end": 1},
            }
        part = {"type": "tool", "tool": use.tool, "callID": call_id, "state": state}
        await self._assistant([part])
        if state["status"] == "error":
            await self._event("message.part.updated", part={**part, "sessionID": SESSION})

    async def _assistant(self, parts: list[Raw]) -> None:
        tokens = {"input": 1_000 * len(self.messages), "output": 10, "cache": {"read": 0, "write": 0}}
        [message] = self._message("assistant", parts, **MODEL, tokens=tokens, time={"created": 0, "completed": 1})
        self.messages.append(message)
        await self._event("message.updated", info=message["info"])

    async def _event(self, kind: str, **properties: Any) -> None:
        self.answers.append(await self.host.event({"type": kind, "properties": properties}))

    async def _hook(self, name: str, inp: Raw, output: Raw) -> Any:
        answer = await self.host.hook(name, inp, output)
        self.answers.append(answer)
        return apply(output, answer.edits)

    def _message(self, role: str, parts: list[Raw], **info: Any) -> list[Raw]:
        identity = f"msg_{next(self._ids):05}"
        ids = {"sessionID": SESSION, "messageID": identity}
        return [
            {
                "info": {"id": identity, "role": role, "sessionID": SESSION, **info},
                "parts": [{"id": f"prt_{next(self._ids):05}", **ids, **part} for part in parts],
            }
        ]


def fingerprint(message: Raw) -> str:
    """All that a provider is sent of a message."""
    return json.dumps({"role": message["info"].get("role"), "parts": message["parts"]}, sort_keys=True)


def changed_early(sent: Sequence[Sequence[Raw]]) -> list[tuple[int, int, str, str]]:
    """Messages that a later request has otherwise than the one before it: request, message, before, after."""
    rows = [[fingerprint(message) for message in request] for request in sent]
    return [
        (number, at, before, later[at] if at < len(later) else "")
        for number, (earlier, later) in enumerate(itertools.pairwise(rows))
        for at, before in enumerate(earlier)
        if at >= len(later) or later[at] != before
    ]
