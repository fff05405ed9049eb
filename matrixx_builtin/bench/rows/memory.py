"""Memory after many sessions were opened, worked in and deleted, all installed hooks in the process."""

import gc
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import anyio

from matrixx_core.host import Host

from ...hosts.opencode.adapter import OpenCode
from ..measuring import Case, Skipped, scratch, times

SESSIONS, TRACED = 10_000, 200


def cases(scale: float) -> Iterator[Case]:
    sessions, traced = times(scale, SESSIONS), times(scale, TRACED)
    with scratch() as folder:
        rss, kept = anyio.run(_lived, folder / "project", sessions, traced)
    if rss:
        yield Case("memory", f"resident, after {sessions} sessions", rss[1], "before them", rss[0], rss[1] / rss[0], "flat", "B")
    yield Case("memory", f"Python objects, after {traced} more", kept[1], "before them", kept[0], kept[1] / kept[0], "flat", "B")
    if not rss:
        raise Skipped("memory", f"the resident size of a process is not read on {sys.platform}")


async def _lived(project: Path, sessions: int, traced: int) -> tuple[tuple[int, int] | None, tuple[int, int]]:
    async with Host.open(project) as host:
        opencode = OpenCode(host)

        async def live(count: int) -> None:
            for number in range(count):
                await _session(opencode, f"ses_{number}", project)
            gc.collect()

        await live(max(sessions // 10, 1))
        before = _resident()
        await live(sessions)
        after = _resident()
        tracemalloc.start()
        await live(traced)
        first = tracemalloc.get_traced_memory()[0]
        await live(traced)
        last = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    return (before, after) if before and after else None, (first, last)


async def _session(opencode: OpenCode, name: str, project: Path) -> None:
    await opencode.event({"type": "session.created", "properties": {"info": {"id": name}}})
    call = {"tool": "bash", "sessionID": name, "callID": f"call_{name}", "args": {"command": "ls"}}
    await opencode.hook("tool.execute.before", call, {"args": call["args"]})
    await opencode.hook("tool.execute.after", call, {"title": "", "output": f"{project}\n", "metadata": {}})
    await opencode.event({"type": "session.deleted", "properties": {"info": {"id": name}}})


def _resident() -> int:
    """Bytes of this process in memory; 0 where that cannot be read."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096
    except OSError:
        return 0
