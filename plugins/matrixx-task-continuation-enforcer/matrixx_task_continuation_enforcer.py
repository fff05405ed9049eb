"""Let a session that falls idle go on while tasks of its own are open.

It only offers a prompt: whether one is sent, and that it ends when nothing changes any more, is the wake arbiter's to decide
(not after a stop, an abort, or while the person is asked; three prompts at most without progress).
"""

import hashlib
from collections.abc import Sequence

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services import wake
from matrixx_builtin.services.agents import role_of
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.tasks import TaskStore
from matrixx_core import HostClient, Session, SessionEvent, rewrite
from matrixx_core.errors import ClientError

NAME = "task-continuation-enforcer"

CLOSED = frozenset({"completed", "cancelled", "deleted", "blocked"})

MOST, LONGEST = 20, 200
"""Tasks that the prompt lists, and characters of each."""


class Config(BaseModel):
    """Settings of ``task-continuation-enforcer``."""

    model_config = ConfigDict(frozen=True)

    todos: bool = Field(default=True, description="Go on for the host's own todo list as well, where it has one.")


@rewrite(types={"session.idle"})
async def session_event(event: SessionEvent, session: Session, client: HostClient, config: Config) -> None:
    if session.parent:
        return
    lines = [*await run_sync(_tasks, session), *(await _todos(session, client) if config.todos else ())]
    if not lines or await role_of(session, client) == "planner":
        return
    fingerprint = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    wake.offer(session, wake.Offer(NAME, "tasks", _prompt(lines), fingerprint, session.agent))


def _prompt(lines: Sequence[str]) -> str:
    more = [f"- and {len(lines) - MOST} more"] if len(lines) > MOST else []
    return "\n".join(
        [
            f"[task continuation] {len(lines)} of your tasks are not done. Go on with the next one without asking.",
            (
                "First look through the list: close what is already done, and mark what you work at as in progress. If all that is left waits for "
                "the user, say what you need and stop."
            ),
            *lines[:MOST],
            *more,
        ]
    )


def _tasks(session: Session) -> list[str]:
    """What this session's own tasks leave open; blocked and abandoned ones are no work."""
    try:
        found = TaskStore(session.directory).open({session.id}) if session.directory else []
    except RecordError:
        return []
    return [_line(task.status, task.subject, task.id) for task in found]


async def _todos(session: Session, client: HostClient) -> list[str]:
    try:
        found = await client.todo(session.id)
    except ClientError:
        return []
    texts = ((todo.get("status"), todo.get("content")) for todo in found)
    return [
        _line(str(status), content) for status, content in texts if isinstance(content, str) and content.strip() and status not in CLOSED
    ]


def _line(status: str, subject: str, task_id: str = "") -> str:
    return f"- [{status}] {' '.join(subject.split())[:LONGEST]}" + (f" ({task_id})" if task_id else "")
