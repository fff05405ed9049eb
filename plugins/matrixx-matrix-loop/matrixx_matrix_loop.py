"""Let an agent work at a task, prompt after prompt, until it says that it is done: /matrix-loop.

``/matrix-loop "fix the tests" --max-iterations=20 --completion-promise=FIXED``; ``/ulw-loop`` does the same with ultrawork;
``/cancel-loop`` and ``/stop-continuation`` end it. The loop stands in ``.matrixx/loops/``, so a restarted engine goes on with it. It
only offers its prompts: the wake arbiter sends them, and none any more after three answers without progress.
"""

import hashlib
import re
import secrets
from pathlib import Path

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import records, wake
from matrixx_builtin.services.background import last_answer, text_of
from matrixx_builtin.services.slash import Typed, typed
from matrixx_core import ChatMessage, Command, HostClient, Inject, Session, SessionEvent, rewrite
from matrixx_core.errors import ClientError

NAME = "matrix-loop"
SETTINGS_KEY = "matrix_loop"

STARTS = {"matrix-loop": "", "ulw-loop": "ultrawork "}
ENDS = {"cancel-loop", "stop-continuation"}

PROMISE = re.compile(r"[A-Za-z0-9_.-]{1,60}")
LONGEST = 8_000
"""Characters of a task that are repeated with each prompt."""


class Config(BaseModel):
    """Settings of ``matrix-loop``."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(default=True, description="Whether /matrix-loop may be used.")
    default_max_iterations: int = Field(
        default=100, ge=1, le=1_000, description="Prompts of one loop unless --max-iterations says otherwise."
    )


class Loop(BaseModel):
    """A loop as its file holds it; ``iteration`` counts the prompts that were offered."""

    model_config = ConfigDict(extra="ignore")

    session: str
    task: str
    promise: str
    most: int = Field(ge=1, le=1_000)
    word: str = ""
    iteration: int = Field(default=0, ge=0)


@rewrite
async def chat_message(message: ChatMessage, session: Session, config: Config) -> Inject | None:
    return await _commanded(typed(message, session), session, config)


@rewrite
async def command_execute_before(command: Command, session: Session, config: Config) -> Inject | None:
    return await _commanded(typed(command, session), session, config)


@rewrite(types={"session.idle"})
async def session_event(event: SessionEvent, session: Session, client: HostClient) -> None:
    """Offer the next prompt, unless the agent has kept its promise or has had all of its prompts."""
    path = _file(session)
    loop = await run_sync(records.read, path, Loop) if path else None
    if path is None or loop is None or loop.session != session.id:
        return
    said = await _answer(session, client)
    if f"<promise>{loop.promise}</promise>" in said or loop.iteration >= loop.most:
        done = loop.iteration < loop.most or f"<promise>{loop.promise}</promise>" in said
        path.unlink(missing_ok=True)
        await client.toast(
            "The loop is done." if done else f"The loop has ended after {loop.most} prompts.", tone="success" if done else "warning"
        )
        return
    if wake.closed_gate(session, "loop"):
        return
    loop.iteration += 1
    await run_sync(records.write, path, loop)
    fingerprint = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    wake.offer(session, wake.Offer(NAME, "loop", _prompt(loop), fingerprint, session.agent))


@rewrite(types={"session.error", "session.deleted"}, spec="session_event")
async def end(event: SessionEvent, session: Session) -> None:
    """A loop ends when its person stops the agent, and with its session."""
    error = event.properties.get("error")
    aborted = isinstance(error, dict) and error.get("name") in {"MessageAbortedError", "AbortError"}
    if (path := _file(session)) and (aborted or event.type == "session.deleted"):
        path.unlink(missing_ok=True)


async def _commanded(command: Typed | None, session: Session, config: Config) -> Inject | None:
    path = _file(session)
    if command is None or path is None or command.name not in {*STARTS, *ENDS}:
        return None
    if command.name in ENDS:
        there = path.exists()
        path.unlink(missing_ok=True)
        return Inject("[loop] The loop is cancelled; do not go on with it.", priority="high") if there else None
    if not config.enabled:
        return Inject("[loop] Loops are switched off here (matrix_loop.enabled is false): do the task as usual.", priority="high")
    given = command.given("max-iterations", "completion-promise")
    asked, count = given.options.get("completion-promise", ""), given.options.get("max-iterations", "")
    loop = Loop(
        session=session.id,
        task=given.text.strip()[:LONGEST] or "Complete what was asked for in this conversation.",
        promise=asked if PROMISE.fullmatch(asked) else f"DONE-{secrets.token_hex(3)}",
        most=min(max(int(count), 1), 1_000) if count.isascii() and count.isdigit() else config.default_max_iterations,
        word=STARTS[command.name],
    )
    await run_sync(records.write, path, loop)
    return Inject(f"[loop] {_rule(loop)}", priority="high")


def _prompt(loop: Loop) -> str:
    return (
        f"{loop.word}[matrix loop {loop.iteration}/{loop.most}] Your last answer did not say that the task is complete. Look at what is done, and go on "
        f"with what is not.\n{_rule(loop)}\n\nThe task:\n{loop.task}"
    )


def _rule(loop: Loop) -> str:
    return (
        f"Work until the whole task is done and checked. Only then, and not before, write <promise>{loop.promise}</promise>. "
        f"You are asked to go on up to {loop.most} times."
    )


async def _answer(session: Session, client: HostClient) -> str:
    """What the agent said last; ``""`` where the host does not tell."""
    try:
        found = last_answer(await client.messages(session.id))
    except ClientError:
        return ""
    return text_of(found) if found else ""


def _file(session: Session) -> Path | None:
    """The loop of a main session; sub-agents have none."""
    if not session.directory or session.parent:
        return None
    name = hashlib.sha256(session.id.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return Path(session.directory, ".matrixx", "loops", f"{name}.json")
