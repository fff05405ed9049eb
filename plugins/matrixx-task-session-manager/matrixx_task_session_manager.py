"""Tell a session which of its sub-agents can go on with what they know, and start none twice.

The list stands behind a message of the person, with no clock in it, and is told anew only when it has changed. One that still works is not
given a second task; an id that is none is left out, so that a new sub-agent begins. What became of each is the host's word; after a
restart, the conversation's.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.delegation import RESUMING, SESSION, TOOLS, failed, resumed, worker_of
from matrixx_core import Block, HostClient, Inject, Session, SessionEvent, ToolCall, ToolResult, Transcript, guard, observe, rewrite
from matrixx_core.events import last_user_message

MOST, LONGEST = 200, 160
"""Sub-agents that are remembered for a host, and characters of what is told of one."""

TITLE = " (@"
"""What OpenCode puts between the description of a task and its agent (1.18.33)."""


class Config(BaseModel):
    """Settings of ``task-session-manager``; the numbers are those of spec slim-hooks 16."""

    model_config = ConfigDict(frozen=True)

    max_sessions_per_agent: int = Field(default=2, ge=1, le=10, description="Sub-agents of one kind that are told of, the newest.")
    max_files: int = Field(default=8, ge=0, le=50, description="Files that are named of those that each has read.")


@dataclass(slots=True)
class Job:
    """One sub-agent's session."""

    parent: str
    label: str
    agent: str
    busy: bool = True
    files: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])


@dataclass(slots=True)
class Told:
    """The list as it was told last, and the person's message at which it was looked at."""

    text: str = ""
    message_id: str = ""


_jobs: WeakKeyDictionary[HostClient, OrderedDict[str, Job]] = WeakKeyDictionary()
"""Each host's sub-agents by session: what happens to one is told in its own session, and wanted in its parent's."""


@observe(types={"session.created", "session.status", "session.idle", "session.error", "session.deleted"})
def session_event(event: SessionEvent, session: Session, client: HostClient) -> None:
    """Follow what becomes of sub-agents."""
    jobs, info = _of(client), event.properties.get("info")
    if event.type == "session.created" and isinstance(info, Mapping) and isinstance(parent := info.get("parentID"), str):
        label, _, agent = str(info.get("title") or "").partition(TITLE)
        _remember(jobs, session.id, Job(parent, label, agent.removesuffix(" subagent)")))
    elif event.type == "session.deleted":
        jobs.pop(session.id, None)
    elif job := jobs.get(session.id):
        job.busy = event.type == "session.status" and _table(event.properties.get("status")).get("type") in {"busy", "retry"}
        job.agent = job.agent or session.agent


@guard(tools=TOOLS)
def tool_execute_before(call: ToolCall, client: HostClient) -> Block | None:
    job = _of(client).get(resumed(call))
    if job is None or not job.busy:
        return None
    return Block(
        f"the sub-agent {resumed(call)} still works on {_flat(job.label)!r}", "wait for its answer, and give it the next task then."
    )


@rewrite(tools=TOOLS, spec="tool_execute_before")
def without_odd_ids(call: ToolCall) -> ToolCall | None:
    """What names no session begins a new one."""
    odd = {name for name in RESUMING if name in call.args and not (isinstance(given := call.args[name], str) and SESSION.fullmatch(given))}
    return call.model_copy(update={"args": {name: value for name, value in call.args.items() if name not in odd}}) if odd else None


@observe(tools=TOOLS)
def tool_execute_after(result: ToolResult, session: Session, client: HostClient) -> None:
    """A sub-agent has answered, or cannot be found any more."""
    jobs, args = _of(client), result.call.args
    if failed(result) and (gone := resumed(result.call)) and "not found" in result.output:
        jobs.pop(gone, None)
    elif (name := _worker(result)) and name != session.id:
        job = jobs.get(name) or _remember(jobs, name, Job(session.id, "", ""))
        job.label = job.label or str(args.get("description") or args.get("prompt") or "")
        job.agent = job.agent or str(args.get("subagent_type") or "")
        job.busy = False


@observe(tools={"read"}, spec="tool_execute_after")
def read(result: ToolResult, session: Session, client: HostClient) -> None:
    """Note what a sub-agent knows."""
    if session.parent and (job := _of(client).get(session.id)) and isinstance(path := result.call.args.get("filePath"), str):
        job.files[path.removeprefix(f"{session.directory}/")[-LONGEST:]] = None
        if len(job.files) > MOST:
            job.files.popitem(last=False)


@rewrite
def messages_transform(transcript: Transcript, session: Session, client: HostClient, config: Config) -> Inject | None:
    told, last = session.state(Told), last_user_message(transcript.messages)
    if session.parent or last is None or last.id in {"", told.message_id}:
        return None  # behind a message that the model has read already, new text would change what providers have cached
    if not told.message_id:
        _look_back(transcript, session, client)
    told.message_id = last.id
    text = "\n".join(_lines([(name, job) for name, job in _of(client).items() if job.parent == session.id], config))
    if text == told.text:
        return None
    told.text = text
    return Inject(text, priority="low") if text else None


def _lines(jobs: list[tuple[str, Job]], config: Config) -> Iterator[str]:
    """The list that the model is told, the newest of each agent first."""
    counts, ended = Counter[str](), list[str]()
    for name, job in reversed(jobs):
        counts[job.agent] += not job.busy
        if not job.busy and counts[job.agent] <= config.max_sessions_per_agent:
            files = [*job.files][-config.max_files :] if config.max_files else []
            more = f" and {len(job.files) - len(files)} more" if len(job.files) > len(files) else ""
            ended.append(
                f"- {name} ({_flat(job.agent)}): {_flat(job.label)}"
                + (f"; it has read {', '.join(map(_flat, files))}{more}" if files else "")
            )
    if ended:
        yield (
            "[sub-agents] These have ended and still know their work. To go on with it, name one as task_id of the task tool, or send it a "
            "message where agents have those:"
        )
        yield from ended


def _worker(result: ToolResult) -> str:
    """The session that did the work, as the host names it."""
    told = result.metadata.get("sessionId")
    if isinstance(told, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,100}", told):
        return told
    found = worker_of(result)
    return found.session_id if found else ""


def _look_back(transcript: Transcript, session: Session, client: HostClient) -> None:
    """Learn of sub-agents from before the engine began."""
    jobs = _of(client)
    for part in (part for message in transcript.messages for part in message.parts if part.get("tool") in TOOLS):
        state = _table(part.get("state"))
        name, args = _table(state.get("metadata")).get("sessionId"), _table(state.get("input"))
        if isinstance(name, str) and SESSION.fullmatch(name) and name not in jobs and state.get("status") == "completed":
            _remember(jobs, name, Job(session.id, str(args.get("description") or ""), str(args.get("subagent_type") or ""), busy=False))


def _of(client: HostClient) -> OrderedDict[str, Job]:
    return _jobs.setdefault(client, OrderedDict())


def _remember(jobs: OrderedDict[str, Job], name: str, job: Job) -> Job:
    jobs[name] = job
    if len(jobs) > MOST:
        jobs.popitem(last=False)
    return job


def _flat(text: str) -> str:
    """One short line that closes nothing."""
    return " ".join(text.split()).replace("<", "&lt;").replace(">", "&gt;")[:LONGEST]


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
