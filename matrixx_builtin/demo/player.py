"""Play the session as OpenCode would: its hook calls in its order, and each call that is let go really carried out."""

import copy
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..hosts.opencode.adapter import Answer, OpenCode
from ..hosts.opencode.translate import apply
from . import payloads, telling
from .payloads import SESSION, Raw
from .report import Call, StepTold, Verdict
from .script import Step
from .workshop import Done, ToolError, Workshop


@dataclass(slots=True)
class Played:
    """What has become of a step so far."""

    step: Step
    calls: list[Call] = field(default_factory=list[Call])
    refused: bool = False
    result: str = ""


class Player:
    """One engine (perhaps one without hooks), one project, one conversation."""

    def __init__(self, engine: OpenCode, workshop: Workshop, hide: telling.Hide) -> None:
        self.engine, self.workshop, self.hide = engine, workshop, hide
        self.conversation = payloads.Conversation(str(workshop.project))
        self.read = ""
        """What the last request to the model held of what others had told it."""
        self.notes = 0
        self._played = Played(Step(title=""))

    async def play(self) -> AsyncIterator[StepTold]:
        """Play all steps; those that need a program that is not installed, or a refusal that did not come, are left out."""
        await self._event(self.conversation.created())
        blocked = False
        number = 0
        for step in self.workshop.script.steps:
            if (step.after_block and not blocked) or not all(map(shutil.which, step.needs)):
                continue
            number += 1
            self._played = Played(step)
            await getattr(self, f"_{step.kind}")(step)
            blocked = self._played.refused
            yield self._told(number)
        await self._event(payloads.event("session.deleted", info={"id": SESSION}))

    async def _prompt(self, step: Step) -> None:
        output = await self._hook("chat.message", *self.conversation.prompt(step.prompt))
        if not self._played.refused:
            self.conversation.sent(output)
            self._played.result = "sent to the model"

    async def _request(self, _step: Step) -> None:
        await self._ask_model(routine=False)

    async def _tool(self, step: Step) -> None:
        await self._ask_model(routine=True)
        tool, args = step.tool, dict(step.args)
        if step.raw:
            tool, args = "invalid", payloads.invalid_arguments(step.tool, step.raw)
        call_id = self.conversation.new_id("call")
        output = await self._hook("tool.execute.before", *payloads.before(tool, call_id, args))
        args, env = output["args"], dict[str, str]()
        if not self._played.refused and tool == "bash":
            env = (await self._hook("shell.env", *payloads.shell_env(self.conversation.directory, call_id)))["env"]
        if self._played.refused:
            await self._failed(tool, call_id, args, self._played.calls[-1].refusal)
            return
        try:
            done = self.workshop.run(tool, args, env)
        except ToolError as error:
            self._played.result = f"fails: {error}"
            await self._failed(tool, call_id, args, str(error))
        else:
            await self._succeeded(tool, call_id, args, done)

    async def _compaction(self, _step: Step) -> None:
        await self._hook("experimental.session.compacting", *payloads.compacting())
        await self._event(payloads.event("session.compacted"))

    async def _idle(self, step: Step) -> None:
        await self._ask_model(routine=True)
        await self._hook("experimental.text.complete", *self.conversation.said(step.say))
        await self._event(payloads.event("session.idle"))

    async def _failed(self, tool: str, call_id: str, args: Mapping[str, Any], error: str) -> None:
        part = self.conversation.called(tool, call_id, {"status": "error", "input": args, "error": error, "time": _time()})
        await self._event(payloads.part_updated(part))

    async def _succeeded(self, tool: str, call_id: str, args: Mapping[str, Any], done: Done) -> None:
        raw = {"title": done.title, "output": done.output, "metadata": dict(done.metadata)}
        output = await self._hook("tool.execute.after", *payloads.after(tool, call_id, args, raw))
        part = self.conversation.called(tool, call_id, {"status": "completed", "input": args, **output, "time": _time()})
        await self._event(payloads.part_updated(part))
        self._played.result = done.summary

    async def _ask_model(self, *, routine: bool) -> None:
        """One request to the model, before which OpenCode calls the hooks for its transcript and its parameters."""
        for hook, inp, output in payloads.request(copy.deepcopy(self.conversation.messages)):
            seen = await self._hook(hook, inp, output, routine=routine)
            if "messages" in seen:
                self.read = "\n".join(_texts(seen["messages"]))

    async def _hook(self, hook: str, inp: Raw, output: Raw, *, routine: bool = False) -> Raw:
        started = time.perf_counter()
        answer = await self.engine.hook(hook, inp, output)
        self._took(hook, started, answer, output, routine=routine)
        if answer.refusal:
            self._played.refused = True
        edited: Raw = apply(output, answer.edits)
        return edited

    async def _event(self, event: Raw) -> None:
        started = time.perf_counter()
        answer = await self.engine.event(event)
        self._took(f"event {event['type']}", started, answer, {}, routine=False)

    def _took(self, hook: str, started: float, answer: Answer, output: Raw, *, routine: bool) -> None:
        call = telling.call_told(hook, (time.perf_counter() - started) * 1e3, answer, output, routine=routine)
        if call.ran:
            self._played.calls.append(call)
        if not routine:
            self.notes += len(call.notes)

    def _told(self, number: int) -> StepTold:
        step, calls = self._played.step, self._played.calls
        shown = [call for call in calls if not call.routine]
        verdict = verdict_of(shown)
        missing = "" if as_expected(step, verdict, calls) else step.by
        told = StepTold(
            number=number,
            title=step.title,
            what=step.tool or step.kind,
            action=telling.action(step, self.hide),
            verdict=verdict,
            blocked_by=next((call.blocked_by for call in shown if call.blocked_by), ""),
            result=telling.clip(self.hide(self._played.result)),
            missing=missing,
            harm=step.harm if missing else "",
            ms=round(sum(call.ms for call in shown), 4),
            calls=tuple(calls),
        )
        return StepTold.model_validate(telling.hidden(told.model_dump(), self.hide))


def verdict_of(calls: list[Call]) -> Verdict:
    """What the hooks did to a step, the strongest first."""
    answers = {one.answer for call in calls for one in call.ran}
    if any(call.blocked_by for call in calls):  # a guard that fails blocks too, though it has not answered so
        return "blocked"
    if "change" in answers:
        return "changed"
    return "noted" if "inject" in answers else "passed"


def as_expected(step: Step, verdict: Verdict, calls: list[Call]) -> bool:
    """A step that should be blocked may be so by any hook; help is expected from the one that the step is about."""
    if step.expect == "help":
        return any(one.plugin == step.by and one.answer in {"change", "inject"} for call in calls for one in call.ran)
    return step.expect == "pass" or verdict == "blocked"


def _texts(messages: list[Raw]) -> list[str]:
    """What of a transcript others have told the model: prompts, notes, outputs and errors, not its own calls."""
    texts: list[str] = []
    for message in messages:
        for part in message["parts"]:
            state = part.get("state", {})
            texts.append(str(part.get("text") or state.get("output") or state.get("error", "")))
    return texts


def _time() -> Raw:
    return {"start": payloads.NOW, "end": payloads.NOW}
