"""A hook that never returns is interrupted, whatever it is stuck in (C18)."""

import time
from collections.abc import Callable
from types import ModuleType

import anyio
import pytest

from matrixx_core import Block, ToolCall, guard, rewrite
from matrixx_core.dispatch import Outcome
from matrixx_core.testing import Rig, call
from matrixx_core.watchdog import watching


def hanging(hang: Callable[[], None], mark: Callable[..., object]) -> ModuleType:
    def tool_execute_before(call: ToolCall) -> None:
        hang()

    module = ModuleType("hangs")
    vars(module)["tool_execute_before"] = mark(tool_execute_before)
    return module


def spin() -> None:
    while True:
        pass


def stubborn() -> None:
    try:
        time.sleep(600)
    except Exception:  # noqa: BLE001  that is what stubborn means
        time.sleep(600)


def watched(rig: Rig) -> Outcome[ToolCall]:
    async def run() -> Outcome[ToolCall]:
        with watching(rig.host.rules.running):
            return await rig.host.tool_execute_before(call("bash"))

    return anyio.run(run)


@pytest.mark.parametrize("hang", [lambda: time.sleep(600), spin, stubborn], ids=["sleeps", "spins", "catches everything"])
def test_a_plain_guard_that_hangs_blocks_and_is_named(hang: Callable[[], None]) -> None:
    outcome = watched(Rig(hanging(hang, guard), settings={"hangs": {"deadline_ms": 200}}))
    assert outcome.blocked_by == "hangs"
    assert "no answer within 200 ms" in outcome.refusal


def test_a_plain_rewriter_that_hangs_is_skipped() -> None:
    outcome = watched(Rig(hanging(spin, rewrite), settings={"hangs": {"deadline_ms": 200}}))
    assert outcome.block is None and outcome.ran[0].answer == "error"


def test_a_guard_that_may_fail_open_does() -> None:
    outcome = watched(Rig(hanging(spin, guard), settings={"hangs": {"deadline_ms": 200, "on_failure": "allow"}}))
    assert outcome.block is None


def test_a_waiting_guard_that_hangs_blocks_at_its_deadline() -> None:
    @guard
    async def tool_execute_before(call: ToolCall) -> Block | None:
        await anyio.sleep(600)
        return None

    module = ModuleType("waits")
    vars(module)["tool_execute_before"] = tool_execute_before
    outcome = Rig(module, settings={"waits": {"deadline_ms": 100}}).before("bash")
    assert "no answer within 100 ms" in outcome.refusal


def test_two_engines_in_one_process_are_both_watched() -> None:
    first, second = (Rig(hanging(spin, guard), settings={"hangs": {"deadline_ms": 200}}) for _ in range(2))

    async def run() -> Outcome[ToolCall]:
        with watching(first.host.rules.running), watching(second.host.rules.running):
            return await first.host.tool_execute_before(call("bash"))

    assert anyio.run(run).blocked_by == "hangs"
