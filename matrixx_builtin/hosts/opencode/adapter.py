"""OpenCode 1.18: its hook calls in, what it will really obey out.

What OpenCode drops is delivered another way: text beside a call goes after the call's output, or, when the call fails
(``tool.execute.after`` is not called then), behind the error in every later request of the session.
"""

import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from matrixx_core.dispatch import Outcome
from matrixx_core.errors import ClientError
from matrixx_core.events import (
    ChatMessage,
    Event,
    PermissionAsked,
    SessionEvent,
    ToolCall,
    ToolFailure,
    Transcript,
    joined,
)
from matrixx_core.host import Host
from matrixx_core.markers import Subjects
from matrixx_core.session import Session

from ...services import context, wake
from .translate import HOOKS, Edit, Raw, Translation, table, text

log = logging.getLogger("matrixx")

ALWAYS_SEEN = frozenset({"session.created", "session.deleted"})
"""Events that the adapter itself needs: who is whose child, and whose memory may go."""

IDLE = "session.idle"
ENDED = frozenset({IDLE, "session.deleted", "session.error"})
"""Events after which a child no longer runs."""

FAILED_PART = "message.part.updated"


@dataclass(slots=True)
class Answer:
    """What the bridge is told: a refusal to throw, edits to make, and whether this call's end must be reported too."""

    outcomes: list[Outcome[Any]] = field(default_factory=list[Outcome[Any]])
    refusal: str = ""
    edits: list[Edit] = field(default_factory=list[Edit])
    follow: bool = False


@dataclass(slots=True)
class Calls:
    """A session's calls: text that waits for a call's end, errors already told, calls that we refused ourselves."""

    beside: dict[str, str] = field(default_factory=dict[str, str])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    refused: set[str] = field(default_factory=set[str])
    telling: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event])


@dataclass(slots=True)
class Kin:
    """Whether it is known whose child a session is."""

    known: bool = False


class OpenCode:
    """One OpenCode instance and the engine that answers it."""

    def __init__(self, host: Host, *, one_shot: bool = False) -> None:
        """``one_shot`` is ``opencode run``, which ends when it falls idle: nothing can wake it, and a prompt then would be lost."""
        self.host = host
        self.one_shot = one_shot

    @property
    def interest(self) -> dict[str, Any]:
        """By hook name, what the engine wants to be asked about; the bridge answers all else by itself."""
        wanted = self.host.interest
        table = {name: wanted[hook.spec] for name, hook in HOOKS.items()}
        events = wanted["session_event"] | Subjects(ALWAYS_SEEN)
        if wanted["permission_asked"] != Subjects():
            events |= Subjects(frozenset({"permission.asked"}))
        if IDLE in events:
            events |= Subjects(frozenset({"session.status"}))  # OpenCode tells idleness in both ways
        failures = wanted["tool_execute_failed"] != Subjects()
        if failures or self._may_speak_beside():
            table["experimental.chat.messages.transform"] = Subjects(others=True)
        rows = {**table, "event": events}
        shown = {name: {"names": sorted(one.names), "others": one.others} for name, one in rows.items() if one != Subjects()}
        return {**shown, "failures": failures}

    async def hook(self, name: str, inp: Raw, output: Raw) -> Answer:
        """Answer one hook call; a hook that OpenCode has and we do not is left as it is."""
        translation = HOOKS.get(name)
        if translation is None:
            return Answer()
        event = translation.read(inp, output, self.host.directory)
        session = self.host.sessions[event.session_id]
        self._learn(session, event)
        answer = Answer()
        if isinstance(event, Transcript):
            answer.edits = await self._failures(session, event, answer)
        outcome: Outcome[Event] = await self.host.dispatch(translation.spec, event)
        answer.outcomes.append(outcome)
        answer.refusal = outcome.refusal
        if not outcome.block:
            answer.edits += _edits(name, translation, event, outcome.event, output)
        await self._settle(session, event, outcome, answer, output)
        return answer

    async def event(self, raw: Raw) -> Answer:
        """Take one bus event; nobody waits for the answer, which is there for replays."""
        kind, properties = text(raw.get("type")), table(raw.get("properties"))
        session_id = text(properties.get("sessionID")) or text(table(properties.get("info")).get("id"))
        answer = Answer()
        part = table(properties.get("part"))
        if kind == FAILED_PART and _is_failure(part):
            await self._tell_failure(self.host.sessions[session_id or text(part.get("sessionID"))], part, answer)
            return answer
        if kind == FAILED_PART:
            return answer
        state = text(table(properties.get("status")).get("type")) if kind == "session.status" else ""
        if state == "busy":
            wake.resumed(self.host.sessions[session_id])
        if session_id:
            await self._know_kin(self.host.sessions[session_id], kind, state, properties)
        if kind == "session.error" and wake.was_interrupted(self.host.sessions[session_id], properties.get("error")):
            return answer
        if kind == "permission.asked":
            await self._permission(properties, answer)
        if kind != IDLE:
            await self._tell(session_id, kind, properties, answer)
        if session_id and (kind == IDLE or state == "idle"):
            await self._idle(self.host.sessions[session_id], properties, answer)
        return answer

    async def _tell(self, session_id: str, kind: str, properties: Raw, answer: Answer) -> None:
        outcome = await self.host.session_event(SessionEvent(session_id=session_id, type=kind, properties=properties))
        answer.outcomes.append(outcome)
        for note in outcome.notes:
            context.add(self.host.sessions[session_id], note.text, source=note.plugin, priority=note.answer.priority)

    async def _idle(self, session: Session, properties: Raw, answer: Answer) -> None:
        """Tell the hooks once, then send at most one of the prompts that they offer."""
        if not wake.first_report(session):
            return
        await self._tell(session.id, IDLE, properties, answer)
        if self.one_shot:
            return
        client = self.host.rules.client
        if not await wake.send(session, client) and wake.stuck(session):
            await client.toast("Nothing changed after three prompts: this session waits for you.", tone="warning")

    async def _know_kin(self, session: Session, kind: str, state: str, properties: Raw) -> None:
        """Whose child a session is, and whether it runs; when one falls idle that began before this engine, the host is asked."""
        kin = session.state(Kin)
        if kind == "session.created":
            kin.known, session.parent = True, text(table(properties.get("info")).get("parentID"))
        elif not (kin.known or self.one_shot) and (kind == IDLE or state == "idle"):
            kin.known, session.parent = True, await self._parent(session.id)
        if not session.parent:
            return
        running = self.host.sessions[session.parent].state(wake.Wake).running_children
        if kind == "session.created" or state == "busy":
            running.add(session.id)
        elif kind in ENDED:
            running.discard(session.id)

    async def _parent(self, session_id: str) -> str:
        with contextlib.suppress(ClientError):
            return next((text(one.get("parentID")) for one in await self.host.rules.client.sessions() if one.get("id") == session_id), "")
        return ""

    def _may_speak_beside(self) -> bool:
        return any(step.wave in {"guard", "rewrite"} for step in self.host.plans["tool_execute_before"].steps)

    def _learn(self, session: Session, event: Event) -> None:
        if isinstance(event, ChatMessage) and event.agent:
            session.agent = event.agent
        if isinstance(event, Transcript):
            agents = (text(message.info.get("agent")) for message in reversed(event.messages) if message.role == "user")
            session.agent = next(filter(None, agents), session.agent)

    async def _settle(self, session: Session, event: Event, outcome: Outcome[Event], answer: Answer, output: Raw) -> None:
        calls = session.state(Calls)
        if isinstance(event, ToolCall):
            if outcome.block:
                calls.refused.add(event.call_id)
            elif isinstance(outcome.event, ToolCall) and outcome.event.message:
                calls.beside[event.call_id] = outcome.event.message
                answer.follow = True
        elif (call := getattr(event, "call", None)) and (beside := calls.beside.pop(call.call_id, "")):
            changed = outcome.event.with_text(beside)
            answer.edits = list(HOOKS["tool.execute.after"].write(event, changed, output))
        elif outcome.block:  # OpenCode tells the person no reason, so we do
            await self.host.rules.client.toast(outcome.refusal, tone="error")

    async def _permission(self, properties: Raw, answer: Answer) -> None:
        patterns = properties.get("patterns")
        asked = PermissionAsked(
            session_id=text(properties.get("sessionID")),
            permission_id=text(properties.get("id")),
            permission=text(properties.get("permission")),
            patterns=tuple(map(str, patterns)) if isinstance(patterns, list) else (),
            metadata=table(properties.get("metadata")),
        )
        outcome = await self.host.permission_asked(asked)
        answer.outcomes.append(outcome)
        answer.refusal = outcome.refusal
        if outcome.block:
            await self.host.rules.client.reply_permission(asked.permission_id, "reject", outcome.refusal)
        elif outcome.allowed:
            await self.host.rules.client.reply_permission(asked.permission_id, "once", outcome.event.message)

    async def _failures(self, session: Session, transcript: Transcript, answer: Answer) -> list[Edit]:
        """Text behind every failed call of the transcript: the same bytes in each request from the first one on."""
        edits: list[Edit] = []
        for index, message in enumerate(transcript.messages):
            for place, part in enumerate(message.parts):
                if _is_failure(part) and (added := await self._tell_failure(session, part, answer)):
                    state: Mapping[str, Any] = part["state"]
                    edits.append((["messages", index, "parts", place, "state", "error"], joined(text(state.get("error")), added)))
        return edits

    async def _tell_failure(self, session: Session, part: Raw, answer: Answer) -> str:
        """Run the hooks for a failed call, once, however often and from wherever it is seen; returns what they add."""
        calls = session.state(Calls)
        call_id = text(part.get("callID"))
        if (running := calls.telling.get(call_id)) is not None:
            await running.wait()
        if call_id in calls.refused or call_id in calls.failed:
            return calls.failed.get(call_id, "")
        done = calls.telling[call_id] = anyio.Event()
        try:
            state = table(part.get("state"))
            call = ToolCall(
                session_id=session.id,
                tool=text(part.get("tool")),
                args=table(state.get("input")),
                call_id=call_id,
                directory=self.host.directory,
            )
            outcome = await self.host.tool_execute_failed(ToolFailure(session_id=session.id, call=call, error=text(state.get("error"))))
            answer.outcomes.append(outcome)
            calls.failed[call_id] = _together([*(note.text for note in outcome.notes), calls.beside.pop(call_id, "")])
        finally:
            done.set()
            calls.telling.pop(call_id, None)
        return calls.failed[call_id]


def _edits(name: str, translation: Translation, before: Event, after: Event, output: Raw) -> list[Edit]:
    """What hooks changed; a change that cannot be told to OpenCode is left out, and the guards' verdict holds."""
    try:
        return list(translation.write(before, after, output))
    except Exception:
        log.exception("what hooks changed at %r cannot be given to OpenCode", name)
        return []


def _is_failure(part: Raw) -> bool:
    return part.get("type") == "tool" and table(part.get("state")).get("status") == "error"


def _together(texts: Sequence[str]) -> str:
    return "\n\n".join(filter(None, texts))
