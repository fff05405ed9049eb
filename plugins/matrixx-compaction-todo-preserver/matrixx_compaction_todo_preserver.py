"""Carry the open todos of a conversation over its summary.

The summary is asked to name them; where the host has lost its list then, the model is asked to write it again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matrixx_builtin.services import context
from matrixx_core import HostClient, Inject, Session, SessionEvent, rewrite
from matrixx_core.errors import ClientError

CLOSED = frozenset({"completed", "cancelled"})

MOST, LONGEST = 40, 200
"""Todos that are told of, and characters of each: together within the budget of notes."""

NAME = "compaction-todo-preserver"


@dataclass(slots=True)
class Todos:
    """The todos, a line each, as they stood when the summary was written."""

    lines: tuple[str, ...] = ()


@rewrite
async def session_compacting(session: Session, client: HostClient) -> Inject | None:
    lines = await _open(session, client)
    session.state(Todos).lines = lines or ()
    if not lines:
        return None
    return Inject("\n".join(["The todo list is not done. Name every open todo in the summary, with its state:", *lines]))


@rewrite(types={"session.compacted"})
async def session_event(event: SessionEvent, session: Session, client: HostClient) -> None:
    """Ask for the list again if it is gone; a host that keeps its list needs no help."""
    todos = session.state(Todos)
    lines, todos.lines = todos.lines, ()
    if lines and await _open(session, client) == ():
        text = "The todo list was lost when this conversation was summarised. Write it again with your todo tool:"
        context.add(session, "\n".join([text, *lines]), source=NAME, priority="high")


async def _open(session: Session, client: HostClient) -> tuple[str, ...] | None:
    """The todos that are still to be done; ``None`` where the host has no list to tell of."""
    try:
        found = await client.todo(session.id)
    except ClientError:
        return None
    return tuple(_lines(found))


def _lines(todos: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    for todo in todos[:MOST]:
        content, status = todo.get("content"), todo.get("status")
        if isinstance(content, str) and content.strip() and status not in CLOSED:
            yield f"- [{status if isinstance(status, str) else 'pending'}] {' '.join(content.split())[:LONGEST]}"
