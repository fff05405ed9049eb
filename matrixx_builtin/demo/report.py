"""What a run of the demo tells, the same for the terminal, the page and machines."""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Verdict: TypeAlias = Literal["blocked", "changed", "noted", "passed"]


class Told(BaseModel):
    """A part of the report."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HookRun(Told):
    """One call of one hook."""

    plugin: str
    wave: Literal["around", "observe", "guard", "rewrite"]
    ms: float
    answer: Literal["none", "block", "change", "inject", "error", "allow"]


class NoteTold(Told):
    """Text that a hook adds to what the model reads."""

    plugin: str
    text: str


class Call(Told):
    """One call of the host at the engine; ``ms`` is its wall time in the engine."""

    hook: str
    ms: float
    ran: tuple[HookRun, ...] = ()
    notes: tuple[NoteTold, ...] = ()
    changes: tuple[str, ...] = ()
    blocked_by: str = ""
    reason: str = Field(default="", description="What was hit and why.")
    instead: str = Field(default="", description="The allowed alternative.")
    refusal: str = Field(default="", description="All that the model, or the person, reads in place of a result.")
    routine: bool = Field(default=False, description="One of the requests to the model that no step is about.")

    @property
    def acted(self) -> bool:
        return any(one.answer != "none" for one in self.ran)


class StepTold(Told):
    """One step of the session and what became of it."""

    number: int
    title: str
    what: str = Field(description="The prompt, the tool, or the event.")
    action: str = Field(description="What the agent wanted, in one line.")
    verdict: Verdict
    blocked_by: str = ""
    result: str = ""
    missing: str = Field(default="", description="The hook that would have acted here, when it did not.")
    harm: str = Field(default="", description="What nobody stopped.")
    ms: float = 0.0
    calls: tuple[Call, ...] = ()


class HookRow(Told):
    """All calls of one hook in the session; times in milliseconds."""

    hook: str
    calls: int
    blocks: int
    changes: int
    notes: int
    errors: int
    p50_ms: float
    p95_ms: float


class Fact(Told):
    """One thing measured after the session, without hooks and with them."""

    name: str
    label: str
    without_hooks: int | str
    with_hooks: int | str
    better: bool


class Report(Told):
    """The whole run."""

    host: str
    seconds: float
    installed: tuple[str, ...]
    off: dict[str, str] = Field(default={}, description="Hooks that are installed and do nothing, and why.")
    steps: tuple[StepTold, ...] = ()
    hooks: tuple[HookRow, ...] = ()
    comparison: tuple[Fact, ...] = ()
    problems: tuple[str, ...] = ()
    kept: str = Field(default="", description="The scratch folder, when it was to be kept.")

    def count(self, verdict: Verdict) -> int:
        return sum(step.verdict == verdict for step in self.steps)


def hook_rows(steps: Sequence[StepTold]) -> tuple[HookRow, ...]:
    """The table of hooks, those that did most first."""
    runs: dict[str, list[HookRun]] = {}
    for step in steps:
        for call in step.calls:
            for one in call.ran:
                runs.setdefault(one.plugin, []).append(one)
    rows = [_row(plugin, ran) for plugin, ran in runs.items()]
    return tuple(sorted(rows, key=lambda row: (-row.blocks, -row.changes - row.notes, -row.calls, row.hook)))


def _row(plugin: str, ran: Sequence[HookRun]) -> HookRow:
    times = sorted(one.ms for one in ran)
    counts = [sum(one.answer == answer for one in ran) for answer in ("block", "change", "inject", "error")]
    return HookRow(
        hook=plugin,
        calls=len(ran),
        blocks=counts[0],
        changes=counts[1],
        notes=counts[2],
        errors=counts[3],
        p50_ms=_nearest(times, 0.5),
        p95_ms=_nearest(times, 0.95),
    )


def _nearest(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank percentile."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
