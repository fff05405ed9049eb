"""The demo on a terminal: one block a step while it runs, then the tables."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from .report import Call, HookRun, Report, StepTold
from .telling import clip

WIDEST = 100
"""Columns beyond which lines only get harder to read."""

NARROWEST = 60

STAND_INS = "The tools are stand-ins without OpenCode's own limits (its grep stops at 100 matches); the same in the real program"
"""What a person should know who compares a scripted session with a real one."""

STYLES = {"blocked": "bold white on red", "changed": "bold black on yellow", "noted": "bold black on cyan", "passed": "green"}
WAVES = {"around": "around", "observe": "look", "guard": "judge", "rewrite": "change"}
ANSWERS = {
    "block": ("blocked", "bold red"),
    "change": ("changed", "yellow"),
    "inject": ("noted", "cyan"),
    "error": ("failed", "bold magenta"),
}


class Terminal:
    """A stage for people; without a terminal the same as plain text. Without ``steps`` only long waits are told."""

    def __init__(self, console: Console, *, steps: bool = True) -> None:
        self.console, self.steps = console, steps
        console.width = max(NARROWEST, min(console.width, WIDEST))
        self._installed: Sequence[str] = ()

    def opened(self, hooks: Sequence[str]) -> None:
        self._installed = hooks
        if not self.steps:
            return
        title = Text.assemble(("Matrixx demo  ", "bold"), f"a coding agent's session through {len(hooks)} hooks, in a scratch project")
        self.console.print(title, end="\n\n")

    def step(self, step: StepTold) -> None:
        if not self.steps:
            return
        grid = _grid()
        grid.add_row(Text(f"{step.number}"), _chip(step.verdict), Text(step.title, style="bold"), _ms(step.ms) if step.calls else Text())
        grid.add_row(Text(), Text(step.what, style="dim"), _action(step), Text())
        for call in step.calls:
            if call.acted and not call.routine:
                _add_call(grid, call)
        if step.missing:
            grid.add_row(Text(), Text("nobody", style="bold magenta"), Text(absence(step, self._installed), style="magenta"), Text())
        self.console.print(grid)

    @contextmanager
    def busy(self, what: str) -> Generator[None]:
        """A spinner with its words, on a terminal only."""
        if not self.console.is_terminal:
            yield
            return
        with self.console.status(f"{what} …"):
            yield

    def end(self, report: Report, page: Path | None = None) -> None:
        """The tables after the last step, and where to go from here."""
        self.console.print()
        self.console.print(_hooks(report), comparison(report))
        for problem in report.problems:
            self.console.print(Text(f"! {problem}", style="magenta"))
        for name, why in report.off.items():
            self.console.print(Text(f"off: {name} ({why})", style="dim"))
        if report.kept:
            self.console.print(f"The scratch folder is kept: {report.kept}", soft_wrap=True)
        self.console.print(summary(report))
        if report.host == "scripted":
            self.console.print(Text(f"{STAND_INS}: matrixx demo --host opencode", style="dim"))
        if page:
            self.console.print(f"The page is written: {page}", soft_wrap=True)
        else:
            self.console.print(Text("Next: matrixx demo --html demo.html · matrixx hooks · matrixx install opencode", style="dim"))


def _grid() -> Table:
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(width=3, justify="right", style="dim")
    grid.add_column(width=10, no_wrap=True, overflow="crop")
    grid.add_column(ratio=1, overflow="fold")
    grid.add_column(width=9, justify="right", style="dim")
    return grid


def _chip(verdict: str) -> Text:
    return Text(f" {verdict.upper()} ", style=STYLES[verdict])


def _action(step: StepTold) -> RenderableType:
    text = Text(clip(step.action, 110), style="dim")
    if step.result:
        text.append(f" → {step.result}" if step.action else step.result, style="not dim")
    return text


def _add_call(grid: Table, call: Call) -> None:
    for one in call.ran:
        if one.answer in ANSWERS:
            word, style = ANSWERS[one.answer]
            line = Text.assemble((one.plugin, style), f" {word}")
            grid.add_row(Text(), Text(WAVES[one.wave], style=style), line, _ms(one.ms))
            for text in _said(call, one):
                grid.add_row(Text(), Text(), Text(text), Text())


def _said(call: Call, ran: HookRun) -> list[str]:
    if call.blocked_by == ran.plugin and ran.answer in {"block", "error"}:
        return [clip(call.reason, 110), *([f"Instead: {clip(call.instead, 100)}"] if call.instead else [])]
    if ran.answer == "inject":
        return [f"“{clip(note.text, 106)}”" for note in call.notes if note.plugin == ran.plugin]
    return list(call.changes[:3]) if ran.answer == "change" else []


def _hooks(report: Report) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, title="What each hook did", title_style="bold", title_justify="left", pad_edge=False)
    table.add_column("hook")
    errors = any(row.errors for row in report.hooks)
    for name in ("calls", "blocks", "changes", "notes", *(("errors",) if errors else ()), "p50 ms", "p95 ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in report.hooks:
        counts = [row.blocks, row.changes, row.notes, *([row.errors] if errors else [])]
        table.add_row(row.hook, str(row.calls), *(str(count or "·") for count in counts), f"{row.p50_ms:.2f}", f"{row.p95_ms:.2f}")
    return table


def comparison(report: Report) -> RenderableType:
    """What was measured after both runs."""
    table = Table(box=box.SIMPLE_HEAD, title="The same session", title_style="bold", title_justify="left", pad_edge=False)
    table.add_column("measured afterwards", ratio=1)
    table.add_column("without hooks", justify="right")
    table.add_column("with hooks", justify="right")
    for fact in report.comparison:
        bad, good = ("red", "green") if fact.better else ("", "")
        table.add_row(fact.label, Text(shown(fact.without_hooks), style=bad), Text(shown(fact.with_hooks), style=good))
    return table


def shown(value: int | str) -> str:
    """A fact's value for people."""
    return f"{value:,}" if isinstance(value, int) else value


def summary(report: Report) -> Text:
    """The run in one line."""
    spent = sum(one.ms for step in report.steps for call in step.calls for one in call.ran)
    counts = ", ".join(f"{report.count(verdict)} {verdict}" for verdict in ("blocked", "changed", "noted", "passed"))
    return Text.assemble(
        (f"{len(report.steps)} steps: {counts}. ", "bold"), f"All hooks together: {spent:.0f} ms of {report.seconds:.1f} s."
    )


def absence(step: StepTold, installed: Sequence[str]) -> str:
    """Why nobody acted in a step where a shipped hook would have, and what that means."""
    why = "had nothing to say" if step.missing in installed else "is not installed, or off"
    return f"{step.missing} {why}{f': {step.harm}' if step.harm else ''}"


def _ms(ms: float) -> Text:
    return Text(f"{ms:.2f} ms")
