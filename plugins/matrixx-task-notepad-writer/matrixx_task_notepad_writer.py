"""Keep a notepad for every task: begun when the task is made, stamped when it is done.

``.matrixx/notepads/<plan>/<n>-<subject>.md``, or ``adhoc/`` for a task of no plan. What the tools answered is never changed, and what
stands in a notepad only gets longer.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from anyio.to_thread import run_sync

from matrixx_builtin.services.notepads import Notepads
from matrixx_builtin.services.records import RecordError
from matrixx_builtin.services.tasks import TaskStore
from matrixx_core import Session, ToolResult, observe

ENDED = frozenset({"completed", "deleted"})

log = logging.getLogger("matrixx")


@observe(tools={"task_create", "task_update"})
async def tool_execute_after(result: ToolResult, session: Session) -> None:
    try:
        await run_sync(_keep, result, session.directory)
    except RecordError as error:
        log.warning("task-notepad-writer: %s", error)


def _keep(result: ToolResult, directory: str) -> None:
    answer = _object(result.output)
    pads = Notepads(directory)
    if result.call.tool == "task_create":
        for made in _objects(answer.get("tasks")):
            task = None if made.get("deduplicated") else TaskStore(directory).get(str(made.get("id")))
            if task is not None:
                pads.start(task.id, task.subject, _plan(task.metadata), str(task.metadata.get("priority") or "medium"))
        return
    changed = answer.get("task")
    if isinstance(changed, Mapping) and changed.get("status") in ENDED:
        pads.complete(str(changed.get("id")), _plan(changed.get("metadata")), str(changed["status"]))


def _plan(metadata: Any) -> str:
    """The plan that a task belongs to; ``""`` for none. Whether there is such a plan is the notepads' to know."""
    name = metadata.get("planName") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else ""


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    yield from (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else ()
