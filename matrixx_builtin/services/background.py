"""Work that sub-agents do while their parent goes on: child sessions, a queue, limits, and word to the parent when it is done.

Facts: spec config-and-dispatch 6. There is one manager for each host, found by the client that hooks are given. It keeps no
timer: what is overdue is found at the next event of any session, and while a tool waits for an answer.
"""

import hashlib
import json
import logging
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, cast
from weakref import WeakKeyDictionary

import anyio
from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import ChatMessage, HostClient, Session, SessionEvent, ToolCall
from matrixx_core.errors import ClientError
from matrixx_core.events import Message, is_added

from . import records, wake

Status: TypeAlias = Literal["pending", "running", "completed", "error", "cancelled"]
OPEN = frozenset({"pending", "running"})

ID = re.compile(r"bg_[0-9a-f]{8}")
"""A work's id, which is also its file's name."""

EARLY = 5.0
"""Seconds after the start in which idleness without an answer may only mean that the prompt has not arrived yet."""

YOUNG = 30.0
"""Seconds of running before silence may count as staleness."""

ASKING, STARTING = 1.0, 3.0
"""Seconds to learn about the agent, then to begin its session: less than a hook's deadline, so that failure can be told."""

REMEMBERED = 200
"""Works kept in memory; of more, the oldest finished ones are known from their files alone."""

KEPT = 7 * 24 * 3_600
"""Seconds after which the file of a finished work is removed."""

HISTORY = 100
"""Works of one session that are told of when it is summarised."""

ABORTED, OVERFLOW = "MessageAbortedError", "ContextOverflowError"
"""A stop by the person or by us; an overflow that the host answers by summarising and going on."""

SOURCE = "background-notification"

log = logging.getLogger("matrixx")


class BackgroundError(Exception):
    """The work cannot be started or found; the message tells why and what to do."""


class Breaker(BaseModel):
    """What stops an agent that runs in circles."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(default=True, description="Stop background work that makes too many calls.")
    maxToolCalls: int = Field(default=4_000, ge=10, description="Calls in all.")  # noqa: N815  the seed's names
    consecutiveThreshold: int = Field(default=20, ge=5, description="Equal calls in a row.")  # noqa: N815


Count: TypeAlias = Annotated[int, Field(ge=0)]
Patience: TypeAlias = Annotated[int, Field(ge=60_000)]


class Limits(BaseModel):
    """How much may run at once, and for how long; the names are those of the seed's section ``background_task``."""

    model_config = ConfigDict(frozen=True)

    defaultConcurrency: int = Field(default=5, ge=1, description="Works that run at once for each model, or agent.")  # noqa: N815
    providerConcurrency: dict[str, Count] = Field(default={}, description="The same for a provider's models; 0: no limit.")  # noqa: N815
    modelConcurrency: dict[str, Count] = Field(default={}, description="The same for one provider/model; 0: no limit.")  # noqa: N815
    staleTimeoutMs: Patience = Field(default=180_000, description="Silence, after the last sign of life, that ends a work.")  # noqa: N815
    messageStalenessTimeoutMs: Patience = Field(default=600_000, description="The same for a work without any sign of life.")  # noqa: N815
    maxToolCalls: int | None = Field(default=None, ge=10, description="Short for circuitBreaker.maxToolCalls.")  # noqa: N815
    circuitBreaker: Breaker = Field(  # noqa: N815
        default=Breaker(), description="When an agent runs in circles: `enabled`, `maxToolCalls`, `consecutiveThreshold`."
    )
    wallClockTimeoutMs: Literal[0] | Patience = Field(default=0, description="Time after which a work is ended; 0: none.")  # noqa: N815

    def at_once(self, key: str) -> int:
        """How many works of a queue may run; 0 for any number."""
        provider = key.partition("/")[0] if "/" in key else ""
        return self.modelConcurrency.get(key, self.providerConcurrency.get(provider, self.defaultConcurrency))

    @property
    def calls(self) -> int:
        return self.maxToolCalls or self.circuitBreaker.maxToolCalls


class Handle(BaseModel):
    """A work as it stands in ``.matrixx/bg-handles/<id>.json``, for the engine after this one."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(pattern=f"^{ID.pattern}$")
    parent: str
    session: str = ""
    agent: str = ""
    model: str = ""
    description: str = ""
    status: Status = "pending"
    reason: str = ""
    seconds: int = 0

    def line(self) -> str:
        """The work in one line."""
        text = f"{self.id} {self.description!r} ({self.agent}): {self.status}"
        return text + (f" after {self.seconds} s" if self.status not in OPEN else "") + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done and by which agent, as the model asked for it."""

    agent: str
    prompt: str
    description: str = ""


@dataclass(slots=True)
class UsedModel:
    """The model that a session's prompts are sent to, as ``provider/model``."""

    name: str = ""


@dataclass(slots=True, eq=False)
class Work:
    """One work and how it goes; times are those of the monotonic clock."""

    parent: Session
    order: Order
    model: str
    id: str = field(default_factory=lambda: f"bg_{secrets.token_hex(4)}")
    status: Status = "pending"
    reason: str = ""
    session: str = ""
    started: float = field(default_factory=time.monotonic)
    ended: float = 0.0
    alive: float = 0.0
    busy: bool = False
    idle: bool = False
    calls: int = 0
    equal: int = 0
    last_call: tuple[str, str] = ("", "")
    told: bool = False

    @property
    def key(self) -> str:
        """The queue it stands in."""
        return self.model or self.order.agent

    @property
    def silence(self) -> float:
        """Seconds since its last sign of life."""
        return time.monotonic() - (self.alive or self.started)

    def handle(self) -> Handle:
        now = time.monotonic() if self.status in OPEN else self.ended
        return Handle(
            id=self.id,
            parent=self.parent.id,
            session=self.session,
            agent=self.order.agent,
            model=self.model,
            description=" ".join(self.order.description.split())[:200],
            status=self.status,
            reason=" ".join(self.reason.split())[:500],
            seconds=round(now - self.started),
        )

    def overdue(self, limits: Limits) -> str:
        """Why it must not go on, or ``""``."""
        now, breaker = time.monotonic(), limits.circuitBreaker
        age, silence = now - self.started, self.silence
        patience = (limits.staleTimeoutMs if self.alive else limits.messageStalenessTimeoutMs) / 1_000
        if breaker.enabled and self.equal >= breaker.consecutiveThreshold:
            return f"it called {self.last_call[0]!r} {self.equal} times in a row with the same arguments"
        if breaker.enabled and self.calls >= limits.calls:
            return f"it made {self.calls} tool calls, the last of them {self.last_call[0]!r}"
        if limits.wallClockTimeoutMs and age * 1_000 >= limits.wallClockTimeoutMs:
            return f"it ran for {age:.0f} s, the longest that is allowed"
        if not self.busy and age > YOUNG and silence > patience:
            return f"nothing was heard of it for {silence:.0f} s"
        return ""


class Manager:
    """All background work of one host; its methods may run beside each other, a work's state changes in one step."""

    def __init__(self) -> None:
        self.limits = Limits()
        self.works: dict[str, Work] = {}
        self._children: dict[str, Work] = {}

    def of(self, session_id: str) -> list[Work]:
        """What a session has started, oldest first."""
        return [work for work in self.works.values() if work.parent.id == session_id]

    async def launch(self, parent: Session, client: HostClient, order: Order) -> Work:
        """Start a work, or queue it behind others; raises ``BackgroundError``."""
        if parent.parent:
            raise BackgroundError("a sub-agent cannot start background work")
        work = Work(parent, order, await _model(parent, client, order))
        self._forget()
        self.works[work.id] = work
        if self._has_room(work.key) and not await self._start(work, client):
            self._drop(work)
            raise BackgroundError(work.reason)
        await _save(work)
        return work

    def called(self, call: ToolCall) -> None:
        """Count a call that a child makes; what is too much is stopped at the next event."""
        work = self._children.get(call.session_id)
        if work is None or work.status != "running":
            return
        arguments = json.dumps(dict(call.args), sort_keys=True, default=str)
        this = (call.tool, hashlib.sha256(arguments.encode()).hexdigest())
        work.equal = work.equal + 1 if this == work.last_call else 1
        work.last_call, work.alive, work.idle = this, time.monotonic(), False
        work.calls += 1

    async def heard(self, event: SessionEvent, client: HostClient) -> None:
        """Take note of what happened in any session, and end what is overdue."""
        if event.type == "session.deleted":
            await self._deleted(event.session_id, client)
        elif _error(event.properties)[0] == ABORTED:
            await self.cancel(self.of(event.session_id), client, "its parent was stopped", tell=False)
        work = self._children.get(event.session_id)
        if work is not None and work.status == "running":
            await self._progress(work, event, client)
        await self.check(client)

    async def check(self, client: HostClient) -> None:
        """End what is overdue, and look again at what fell idle too early to be believed."""
        for work in [work for work in self.works.values() if work.status == "running"]:
            if why := work.overdue(self.limits):
                await self._close(work, client, "cancelled", why)
            elif work.idle and time.monotonic() - work.started >= EARLY:
                await self._judge(work, client)

    async def cancel(self, works: list[Work], client: HostClient, reason: str, *, tell: bool = True) -> list[Work]:
        """Cancel those that are not over; returns them. Queued ones go first, so that none of them takes a freed place."""
        stopped = [work for work in works if work.status in OPEN]
        for work in sorted(stopped, key=lambda one: one.status):
            await self._close(work, client, "cancelled", reason, tell=tell)
        return stopped

    async def notify(self, client: HostClient, *, but: str = "") -> None:
        """Wake every idle session that has not been told of what is over; one that works is told when it falls idle.

        ``but`` is the session whose own event this is: the arbiter wakes it, and two who send at one idleness send twice.
        """
        for parent in {work.parent.id: work.parent for work in self.works.values() if work.status not in OPEN and not work.told}.values():
            if parent.id != but:
                await self._tell(parent, client)

    def offer(self, parent: Session) -> bool:
        """Offer to wake the session, if there is something that it has not been told."""
        if not (finished := self._untold(parent.id)):
            return False
        fingerprint = ",".join(work.id for work in finished)
        wake.offer(parent, wake.Offer(SOURCE, "background", self._notice(parent.id), fingerprint, parent.agent))
        return True

    def deliver(self, message: ChatMessage) -> str:
        """What a prompt must say besides, or ``""`` when nothing is new or the prompt itself says it."""
        finished = self._untold(message.session_id)
        if not finished:
            return ""
        notice = self._notice(message.session_id)
        ours = "\n".join(str(part.get("text", "")) for part in message.parts if is_added(part))
        for work in finished:
            work.told = True
        return "" if all(work.id in ours for work in finished) else notice

    def close(self) -> None:
        """The engine ends: nothing can be asked of the host any more, so the files say what is lost."""
        for work in self.works.values():
            if _end(work, "cancelled", "the engine that watched it ended"):
                _write(work)

    async def _start(self, work: Work, client: HostClient) -> bool:
        """Begin its session; false if it is over before it began."""
        work.status, work.started = "running", time.monotonic()
        title = f"{work.order.description or work.id} (@{work.order.agent} subagent)"
        try:
            with anyio.fail_after(STARTING):
                work.session = await client.create_session(work.parent.id, title, agent=work.order.agent)
                self._children[work.session] = work
                if work.status == "running":  # it may have been cancelled since
                    await client.prompt(work.session, work.order.prompt, agent=work.order.agent, model=work.model)
        except ClientError as error:
            _end(work, "error", f"it could not be started: {error}")
        except TimeoutError:
            _end(work, "error", f"it could not be started within {STARTING:g} s")
        began = work.status == "running"
        if work.session and not began:
            await _abort(work, client)
        return began

    async def _progress(self, work: Work, event: SessionEvent, client: HostClient) -> None:
        name, message = _error(event.properties)
        if event.type == "session.status":
            kind = _table(event.properties.get("status")).get("type")
            work.busy = kind in {"busy", "retry"}
            if work.busy:
                work.idle, work.alive = False, time.monotonic()
        elif event.type == "session.idle":
            work.busy, work.idle = False, True
            await self._judge(work, client)
        elif event.type == "session.error" and name == ABORTED:
            await self._close(work, client, "cancelled", "it was stopped")
        elif event.type == "session.error" and name != OVERFLOW:
            await self._close(work, client, "error", message)

    async def _judge(self, work: Work, client: HostClient) -> None:
        """Its session is idle: done, failed, or not begun yet."""
        try:
            last = last_answer(await client.messages(work.session))
        except ClientError as error:
            log.info("the session of %s cannot be read yet: %s", work.id, error)
            return
        name, message = _error(last.info if last else {})
        if name:
            await self._close(work, client, "cancelled" if name == ABORTED else "error", message)
        elif last is not None and text_of(last):
            await self._close(work, client, "completed")
        elif time.monotonic() - work.started >= EARLY:
            await self._close(work, client, "error", "it ended without an answer")

    async def _close(self, work: Work, client: HostClient, status: Status, reason: str = "", *, tell: bool = True) -> None:
        """End a work and give its place to the next one."""
        if not _end(work, status, reason):
            return
        work.told = not tell
        work.parent.state(wake.Wake).running_children.discard(work.session)
        await self._fill(work.key, client)
        if status == "cancelled" and work.session:
            await _abort(work, client)
        await _save(work)

    async def _fill(self, key: str, client: HostClient) -> None:
        """Start the queued works that there is room for, first come, first served."""
        for work in [work for work in self.works.values() if work.key == key]:
            if work.status == "pending" and self._has_room(key):
                await self._start(work, client)
                await _save(work)

    async def _deleted(self, session_id: str, client: HostClient) -> None:
        """A session is gone, and with it all that was started from it, however deep."""
        if work := self._children.get(session_id):
            await self.cancel([work], client, "its session was deleted", tell=False)
        below = self.of(session_id)
        await self.cancel(below, client, "its parent was deleted", tell=False)
        for work in below:
            self._drop(work)
            if work.session:
                await self._deleted(work.session, client)

    async def _tell(self, parent: Session, client: HostClient) -> None:
        """Wake the parent if it is idle; if it is not, it is asked for offers when it falls idle."""
        if self.offer(parent) and not wake.closed_gate(parent):
            await wake.send(parent, client)

    def _notice(self, session_id: str) -> str:
        finished, rest = self._untold(session_id), sum(work.status in OPEN for work in self.of(session_id))
        lines = [f"- {work.handle().line()}" for work in finished]
        said = (
            f"{rest} more still to come: do not poll, you are told when one is done." if rest else "No other background work is under way."
        )
        fetch = f'background_output(task_id="{finished[0].id}") fetches an answer. {said}'
        return "\n".join(["<system-reminder>", "Background work is over:", *lines, fetch, "</system-reminder>"])

    def _untold(self, session_id: str) -> list[Work]:
        return [work for work in self.of(session_id) if work.status not in OPEN and not work.told]

    def _has_room(self, key: str) -> bool:
        limit = self.limits.at_once(key)
        return not limit or sum(work.status == "running" and work.key == key for work in self.works.values()) < limit

    def _forget(self) -> None:
        over = [work for work in self.works.values() if work.status not in OPEN]
        for work in over[: max(0, len(self.works) - REMEMBERED)]:
            self._drop(work)

    def _drop(self, work: Work) -> None:
        self.works.pop(work.id, None)
        self._children.pop(work.session, None)


_managers: WeakKeyDictionary[HostClient, Manager] = WeakKeyDictionary()
"""The manager of each host that is alive: a hook is told its client, not its engine."""


def manager(client: HostClient, limits: Limits | None = None) -> Manager:
    """The host's manager, which from now on keeps these limits."""
    found = _managers.setdefault(client, Manager())
    found.limits = limits or found.limits
    return found


def handles(found: Manager, session: Session) -> list[Handle]:
    """All that a session has started, oldest last known first; what an earlier engine left unfinished is lost."""
    own = [work.handle() for work in found.of(session.id)]
    known = {one.id for one in own}
    paths = sorted(_folder(session).glob("bg_*.json")) if session.directory else []
    left = (records.read(path, Handle) for path in paths if path.stem not in known)
    return [_lost(one) for one in left if one and one.parent == session.id] + own


def last_answer(messages: Sequence[Message]) -> Message | None:
    """The newest message of the agent, or ``None``."""
    return next((message for message in reversed(messages) if message.role == "assistant"), None)


def text_of(message: Message) -> str:
    """What a message says."""
    return "\n".join(text for part in message.parts if part.get("type") == "text" and (text := str(part.get("text") or "")))


async def _model(parent: Session, client: HostClient, order: Order) -> str:
    """The agent's own model, else its parent's; raises ``BackgroundError`` when there is no such agent."""
    try:
        with anyio.fail_after(ASKING):
            offered = {str(one.get("name")): one for one in await client.agents()}
    except ClientError as error:
        raise BackgroundError(str(error)) from None
    except TimeoutError:
        raise BackgroundError(f"the host did not tell its agents within {ASKING:g} s") from None
    if order.agent not in offered:
        raise BackgroundError(f"there is no agent {order.agent!r}; there are {', '.join(sorted(offered))}")
    own = _table(offered[order.agent].get("model"))
    provider, name = own.get("providerID"), own.get("modelID")
    return f"{provider}/{name}" if provider and name else parent.state(UsedModel).name


def _end(work: Work, status: Status, reason: str) -> bool:
    """Move a work to its last state; false when it is there already, so that nothing is done twice."""
    if work.status not in OPEN:
        return False
    work.status, work.reason, work.ended = status, reason, time.monotonic()
    return True


async def _abort(work: Work, client: HostClient) -> None:
    """Stop what its session does; one that is gone is stopped."""
    try:
        with anyio.move_on_after(ASKING):
            await client.abort(work.session)
    except ClientError as error:
        log.info("session %s of %s could not be stopped: %s", work.session, work.id, error)


async def _save(work: Work) -> None:
    await run_sync(_write, work)


def _write(work: Work) -> None:
    """Keep the work's file up to date, and remove old ones; a full disk is no reason to stop the work."""
    if not work.parent.directory:
        return  # a host that names no project has no place for it
    folder = _folder(work.parent)
    try:
        records.write(folder / f"{work.id}.json", work.handle())
        for path in folder.glob("bg_*.json"):
            if time.time() - path.stat().st_mtime > KEPT:
                path.unlink(missing_ok=True)
    except (records.RecordError, OSError) as error:
        log.warning("%s is not written down: %s", work.id, error)


def _folder(session: Session) -> Path:
    return Path(session.directory) / ".matrixx" / "bg-handles"


def _lost(one: Handle) -> Handle:
    """What a file says is under way although nobody watches it."""
    return one.model_copy(update={"status": "error", "reason": "lost: the engine that watched it ended"}) if one.status in OPEN else one


def _error(said: Mapping[str, Any]) -> tuple[str, str]:
    """An error's name and text; the name is ``""`` when there is none."""
    error = _table(said.get("error"))
    name = str(error.get("name") or "")
    return name, str(_table(error.get("data")).get("message") or name)


def _table(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
