"""The secret scan in process, against one start of gitleaks, or of a bare interpreter where that is not installed."""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterator

import anyio

from ...services import secrets
from ..measuring import PYTHON, Case, Contender, bare_python, compared, spawned, timed, times, turns
from .bridge import code

SIZES = {"1 KB": (1_000, 50, "1/5000"), "50 KB": (50_000, 4, "1/500"), "1 MB": (1_000_000, 1, "1/40")}
"""By name: characters, scans a turn, and the goal against a gitleaks start."""

NEAR_MISSES = ("sk-", "ghp_", "eyJ", "xoxb-", "AKIA")
HOSTILE = 64_000
"""Characters of one repeated prefix that a rule almost takes."""


def cases(scale: float) -> Iterator[Case]:
    secrets.wait_ready()
    spawn, contender = _spawn()
    texts = {size: {"content": code(length)} for size, (length, _, _) in SIZES.items()}
    scans: dict[str, Contender] = {size: _scanned(texts[size], SIZES[size][1]) for size in SIZES}
    hostile = {f"near misses {prefix}": _scanned({"content": prefix * (HOSTILE // len(prefix))}, 1) for prefix in NEAR_MISSES}
    plain = {"plain text": _scanned({"content": code(HOSTILE)}, 1)}
    taken = turns({**scans, **hostile, **plain, spawn: contender}, times(scale, 9))
    for size, (_, _, goal) in SIZES.items():
        yield compared("secrets", taken, size, spawn, goal if spawn != PYTHON else "")
    worst = max(hostile, key=lambda one: compared("", taken, one, "plain text").ratio)
    yield compared("secrets", taken, worst, "plain text", "25")
    taken = turns(
        {"longest stall beside 1 MB": lambda: _stalled(texts["1 MB"]), "with nothing beside": lambda: _stalled(None)}, times(scale, 9)
    )
    yield compared("secrets", taken, "longest stall beside 1 MB", "with nothing beside", "25 ms")


def _spawn() -> tuple[str, Contender]:
    if program := shutil.which("gitleaks"):
        return "gitleaks stdin", spawned(program, "stdin", "--no-banner", feed=code(1_000).encode())
    return PYTHON, bare_python


def _scanned(fields: dict[str, str], repeat: int) -> Contender:
    work: Callable[[], object] = lambda: secrets.scan_fields(fields)  # noqa: E731
    return timed(work, repeat)


def _stalled(fields: dict[str, str] | None) -> float:
    """The longest that a task which wakes each millisecond had to wait."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            started = time.perf_counter()
            await anyio.sleep(0.001)
            longest = max(longest, time.perf_counter() - started - 0.001)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            await anyio.sleep(0.01)
            if fields:
                await secrets.scan_all(fields)
            await anyio.sleep(0.01)
            group.cancel_scope.cancel()

    asyncio.run(work())
    return longest
