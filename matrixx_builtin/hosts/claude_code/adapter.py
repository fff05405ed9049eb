"""Claude Code 2.1: the payloads of its hook events in, the one JSON object that it obeys out.

It runs the handlers of an event side by side and takes the last rewrite, so it has one handler of ours for each event and
the waves are ours. A sub-agent is a child session, named by its agent's id.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from matrixx_core.dispatch import Outcome
from matrixx_core.events import (
    ChatMessage,
    Command,
    Compaction,
    Message,
    PermissionAsked,
    SessionEvent,
    ToolFailure,
    ToolResult,
    Transcript,
    is_added,
    joined,
    last_user_message,
)
from matrixx_core.host import Host
from matrixx_core.markers import Subjects
from matrixx_core.session import Session

from ...services import context, wake
from . import transcript
from .client import ClaudeCodeClient
from .translate import Raw, objects, own_args, read_call, read_image, shape_of, table, text, with_image

log = logging.getLogger("matrixx")

REFUSED_BY_HOST = "<tool_use_error>"
"""How Claude Code begins what the model reads of a call that it did not let begin; no event but PostToolBatch tells it."""

MAIN = "claude"
"""The agent of a main session, which Claude Code names only where the person chose another one."""

Reply: TypeAlias = "dict[str, Any] | str"


@dataclass(slots=True)
class Answer:
    """What is said back: ``fields`` beside what is specific to the event, text for the model, and what hooks answered."""

    outcomes: list[Outcome[Any]] = field(default_factory=list[Outcome[Any]])
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    specific: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: list[str] = field(default_factory=list[str])
    plain: str = ""
    """Text to print as it is, where only that is obeyed."""

    def stop(self, reason: str) -> None:
        self.fields |= {"decision": "block", "reason": reason}

    def reply(self, event: str) -> Reply:
        """The JSON object for Claude Code, or plain text; empty: nothing to say."""
        if self.plain:
            return self.plain
        specific = {**self.specific, **({"additionalContext": said} if (said := "\n\n".join(filter(None, self.texts))) else {})}
        return {**self.fields, **({"hookSpecificOutput": {"hookEventName": event, **specific}} if specific else {})}


@dataclass(slots=True)
class Seen:
    """What the adapter must remember of a session: calls that hooks have heard of, its model, its last token counts."""

    heard: set[str] = field(default_factory=set[str])
    delegated: str = ""
    model: str = ""
    counted: str = ""


class ClaudeCode:
    """One project's engine, as the events of its Claude Code sessions meet it."""

    def __init__(self, host: Host, client: ClaudeCodeClient) -> None:
        self.host, self.client = host, client
        self._hears: Mapping[str, Callable[[Session, Raw, Answer], Awaitable[None]]] = {
            "Notification": self._notified,
            "PermissionRequest": self._permission,
            "PostToolBatch": self._batch,
            "PostToolUse": self._after,
            "PostToolUseFailure": self._failed,
            "PreCompact": self._compact,
            "PreToolUse": self._before,
            "SessionEnd": self._ended,
            "SessionStart": self._started,
            "Stop": self._stop,
            "SubagentStart": self._child_started,
            "SubagentStop": self._child_stopped,
            "UserPromptExpansion": self._command,
            "UserPromptSubmit": self._prompt,
        }

    async def answer(self, payload: Raw) -> Reply:
        """Answer one payload; an event that we do not know is left as it is."""
        return (await self.hear(payload)).reply(text(payload.get("hook_event_name")))

    async def hear(self, payload: Raw) -> Answer:
        """Run the hooks for one payload."""
        answer = Answer()
        hears = self._hears.get(text(payload.get("hook_event_name")))
        if hears is None:
            return answer
        await hears(self._session(payload), payload, answer)
        if shown := self.client.shown():
            answer.fields["systemMessage"] = shown
        return answer

    def _session(self, payload: Raw) -> Session:
        main, agent_id = text(payload.get("session_id")), text(payload.get("agent_id"))
        session = self.host.sessions[agent_id or main]
        session.agent = text(payload.get("agent_type")) or session.agent or MAIN
        if agent_id:
            session.parent = main
        self.client.learn(session.id, text(payload.get("transcript_path")), agent_id)
        return session

    async def _before(self, session: Session, payload: Raw, answer: Answer) -> None:
        wake.resumed(session)
        call = read_call(payload, session.id)
        seen = session.state(Seen)
        seen.heard.add(call.call_id)
        outcome = await self.host.tool_execute_before(call)
        answer.outcomes.append(outcome)
        if outcome.block:
            answer.specific |= {"permissionDecision": "deny", "permissionDecisionReason": outcome.refusal}
            return
        if outcome.event.args != call.args:
            answer.specific["updatedInput"] = own_args(text(payload.get("tool_name")), outcome.event.args)
        answer.texts.append(outcome.event.message)
        if call.tool == "task":
            seen.delegated = text(outcome.event.args.get("prompt"))

    async def _after(self, session: Session, payload: Raw, answer: Answer) -> None:
        tool, response = text(payload.get("tool_name")), payload.get("tool_response")
        shape = shape_of(tool, response)
        child = text(table(response).get("agentId"))
        result = ToolResult(
            session_id=session.id,
            call=read_call(payload, session.id),
            output=shape.read(response) if shape else "",
            metadata={"sessionId": child} if child else {},
            attachments=read_image(response),
        )
        outcome = await self.host.tool_execute_after(result)
        answer.outcomes.append(outcome)
        new = outcome.event.output
        if new.startswith(result.output):
            answer.texts.append(new.removeprefix(result.output).strip("\n"))
        elif shape:
            answer.specific["updatedToolOutput"] = shape.write(response, new)
        if outcome.event.attachments != result.attachments and (image := with_image(response, outcome.event.attachments)):
            answer.specific["updatedToolOutput"] = image

    async def _failed(self, session: Session, payload: Raw, answer: Answer) -> None:
        await self._tell_failure(session, payload, text(payload.get("error")), answer)

    async def _batch(self, session: Session, payload: Raw, answer: Answer) -> None:
        """What the calls of one answer have come to: the only place that tells of those that never began."""
        wake.resumed(session)
        heard = session.state(Seen).heard
        for one in objects(payload.get("tool_calls")):
            said = text(one.get("tool_response"))
            if said.startswith(REFUSED_BY_HOST) and one.get("tool_use_id") not in heard:
                await self._tell_failure(session, {**payload, **one}, said, answer)
        heard.clear()
        await self._count(session, answer)

    async def _tell_failure(self, session: Session, payload: Raw, error: str, answer: Answer) -> None:
        call = read_call(payload, session.id)
        outcome = await self.host.tool_execute_failed(ToolFailure(session_id=session.id, call=call, error=error))
        answer.outcomes.append(outcome)
        answer.texts += [note.text for note in outcome.notes]

    async def _prompt(self, session: Session, payload: Raw, answer: Answer) -> None:
        said, prompt_id = text(payload.get("prompt")), text(payload.get("prompt_id"))
        parts = ({"type": "text", "text": said},)
        model = session.state(Seen).model
        message = ChatMessage(
            session_id=session.id, message_id=prompt_id, agent=session.agent, provider="anthropic", model=model, parts=parts
        )
        outcome = await self.host.chat_message(message)
        answer.outcomes.append(outcome)
        if outcome.block:
            answer.stop(outcome.refusal)
            answer.specific["suppressOriginalPrompt"] = True  # it may hold what must not be shown again
            return
        answer.texts += _added(outcome.event.parts)
        await self._accompany(session, prompt_id, outcome.event.parts, answer)

    async def _accompany(self, session: Session, prompt_id: str, parts: tuple[Mapping[str, Any], ...], answer: Answer) -> None:
        """What hooks add to the newest message of a transcript goes beside the prompt, and stays there as they expect."""
        if self.host.interest["messages_transform"] == Subjects():
            return
        info = {"id": prompt_id, "role": "user", "sessionID": session.id, "agent": session.agent}
        newest = Message(info=info, parts=parts)
        before = [one for one in await self.client.history(session.id) if one.id != prompt_id]
        outcome = await self.host.messages_transform(Transcript(session_id=session.id, messages=(*before, newest)))
        answer.outcomes.append(outcome)
        if (last := last_user_message(outcome.event.messages)) is not None:
            answer.texts += _added(last.parts[len(parts) :])

    async def _command(self, session: Session, payload: Raw, answer: Answer) -> None:
        command = Command(
            session_id=session.id,
            name=text(payload.get("command_name")),
            arguments=text(payload.get("command_args")),
            parts=({"type": "text", "text": text(payload.get("prompt"))},),
        )
        outcome = await self.host.command_execute_before(command)
        answer.outcomes.append(outcome)
        if outcome.block:
            answer.stop(outcome.refusal)
        else:
            answer.texts += _added(outcome.event.parts)

    async def _permission(self, session: Session, payload: Raw, answer: Answer) -> None:
        call = read_call(payload, session.id)
        hit = text(call.args.get("command")) or text(call.args.get("filePath")) or text(call.args.get("url"))
        asked = PermissionAsked(
            session_id=session.id,
            permission_id=text(payload.get("prompt_id")),
            permission=call.tool,
            patterns=(hit,) if hit else (),
            metadata=call.args,
        )
        outcome = await self.host.permission_asked(asked)
        answer.outcomes.append(outcome)
        if outcome.block:
            answer.specific["decision"] = {"behavior": "deny", "message": outcome.refusal}
        elif outcome.allowed:
            answer.specific["decision"] = {"behavior": "allow"}

    async def _started(self, session: Session, payload: Raw, answer: Answer) -> None:
        session.state(Seen).model = text(payload.get("model"))
        kind = "session.compacted" if payload.get("source") == "compact" else "session.created"
        await self._tell(session, kind, {"sessionID": session.id, "info": {"id": session.id}}, answer)
        answer.texts.append(session.state(context.Context).take())

    async def _ended(self, session: Session, payload: Raw, answer: Answer) -> None:
        """A session that ended may be resumed, unless it was cleared: its memory stays until it is the oldest."""
        kind = "session.deleted" if payload.get("reason") == "clear" else "session.ended"
        await self._tell(session, kind, {"sessionID": session.id, "info": {"id": session.id}}, answer)
        if kind == "session.deleted":
            self.client.forget(session.id)

    async def _child_started(self, session: Session, _payload: Raw, answer: Answer) -> None:
        parent = self.host.sessions[session.parent]
        parent.state(wake.Wake).running_children.add(session.id)
        info = {"id": session.id, "parentID": session.parent}
        await self._tell(session, "session.created", {"sessionID": session.id, "info": info}, answer)
        prompt = {"type": "text", "text": parent.state(Seen).delegated}
        await self._accompany(session, session.id, (prompt,), answer)

    async def _child_stopped(self, session: Session, payload: Raw, answer: Answer) -> None:
        await self._stop(session, payload, answer)
        if "decision" not in answer.fields:
            self.host.sessions[session.parent].state(wake.Wake).running_children.discard(session.id)

    async def _stop(self, session: Session, _payload: Raw, answer: Answer) -> None:
        """The agent would end: what a hook offers makes it go on, within the arbiter's own limits."""
        if not wake.first_report(session):
            return
        await self._count(session, answer)
        await self._tell(session, "session.idle", {"sessionID": session.id}, answer)
        if (chosen := await wake.choose(session, self.client)) is not None:
            answer.stop(chosen.text)
            wake.settle(session, sent=True)
            wake.resumed(session)
        elif wake.stuck(session):
            await self.client.toast("Nothing changed after three prompts: this session waits for you.", tone="warning")

    async def _compact(self, session: Session, _payload: Raw, answer: Answer) -> None:
        outcome = await self.host.session_compacting(Compaction(session_id=session.id))
        answer.outcomes.append(outcome)
        answer.plain = joined(outcome.event.prompt or "", "\n\n".join(outcome.event.context))

    async def _notified(self, session: Session, payload: Raw, answer: Answer) -> None:
        said = {"message": text(payload.get("message")), "kind": text(payload.get("notification_type"))}
        await self._tell(session, "notification", {"sessionID": session.id, **said}, answer)

    async def _count(self, session: Session, answer: Answer) -> None:
        """Tell what the newest answer of the model has cost, once, if a hook wants to know."""
        if "message.updated" not in self.host.interest["session_event"]:
            return
        usage = transcript.newest_usage(self.client.transcripts.get(session.id, ""))
        seen = session.state(Seen)
        if usage is None or usage.message_id == seen.counted:
            return
        seen.counted = usage.message_id
        info: dict[str, Any] = {"id": usage.message_id, "role": "assistant", "sessionID": session.id, "providerID": "anthropic"}
        info |= {"modelID": usage.model, "tokens": usage.tokens, "time": {"completed": 1}}
        await self._tell(session, "message.updated", {"sessionID": session.id, "info": info}, answer)

    async def _tell(self, session: Session, kind: str, properties: Raw, answer: Answer) -> None:
        outcome = await self.host.session_event(SessionEvent(session_id=session.id, type=kind, properties=properties))
        answer.outcomes.append(outcome)
        for note in outcome.notes:
            context.add(session, note.text, source=note.plugin, priority=note.answer.priority)


def _added(parts: tuple[Mapping[str, Any], ...]) -> list[str]:
    return [text(part.get("text")) for part in parts if is_added(part)]
