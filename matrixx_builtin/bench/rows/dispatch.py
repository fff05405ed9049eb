"""Seventeen plain hooks in three waves, with isolation and timing, against the same shape elsewhere."""

import asyncio
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import anyio

from matrixx_core.events import ToolCall
from matrixx_core.host import Host
from matrixx_core.loading import load
from matrixx_core.markers import guard, observe, rewrite

from ..javascript import driver, name, runtime
from ..measuring import Case, Contender, Skipped, compared, times, turns

SHAPE = {observe: 4, guard: 7, rewrite: 6}
"""How many hooks of each wave: the peer's seventeen (PERF 3)."""

HOOKS, MODELS, GROUPS = "17 hooks", "17 hooks, the event made too", "anyio task groups"


def cases(scale: float) -> Iterator[Case]:
    repeat = times(scale, 400, least=20)
    host = Host(
        load({f"hook-{index}": _plugin(mark) for index, mark in enumerate(mark for mark, count in SHAPE.items() for _ in range(count))})
    )
    call = _call()

    async def ours() -> None:
        await host.tool_execute_before(call)

    async def with_models() -> None:
        await host.tool_execute_before(_call())

    contenders: dict[str, Contender] = {
        HOOKS: _looped(ours, repeat),
        MODELS: _looped(with_models, repeat),
        GROUPS: _looped(_groups, repeat // 20),
    }
    rounds = times(scale, 51)
    try:
        with driver() as js:
            shape = f"{name(runtime())} Promise.all"
            taken = turns({**contenders, shape: lambda: float(js.ask("waves", repeat=repeat * 10))}, rounds)
            yield compared("dispatch", taken, HOOKS, shape, "6")
            yield compared("dispatch", taken, MODELS, shape, "25 us")
    except Skipped as skipped:
        taken = turns(contenders, rounds)
        yield compared("dispatch", taken, HOOKS, GROUPS, "0.05")
        raise Skipped("dispatch", skipped.why) from None
    yield compared("dispatch", taken, HOOKS, GROUPS, "0.05")


def _call() -> ToolCall:
    return ToolCall(session_id="s", tool="write", args={"filePath": "/a", "content": "x"}, call_id="c")


def _plugin(mark: Any) -> SimpleNamespace:
    def tool_execute_before(call: ToolCall) -> None:  # noqa: ARG001  as real hooks have it
        return None

    return SimpleNamespace(tool_execute_before=mark(tool_execute_before))


async def _groups() -> None:
    async def hook(_call: object) -> None:
        return None

    for count in list(SHAPE.values())[:2]:
        async with anyio.create_task_group() as group:
            for _ in range(count):
                group.start_soon(hook, None)
    for _ in range(list(SHAPE.values())[2]):
        await hook(None)


def _looped(work: Any, repeat: int) -> Contender:
    async def turn() -> float:
        for _ in range(repeat // 10):  # the caches belong to whoever ran before
            await work()
        started = time.perf_counter()
        for _ in range(repeat):
            await work()
        return (time.perf_counter() - started) / repeat

    return lambda: asyncio.run(turn())
