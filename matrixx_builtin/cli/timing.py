"""``matrixx timing``."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _options, _output

if TYPE_CHECKING:
    from ..services.state import Kept

COUNTED = {"blocks": "block", "changes": "change", "notes": "inject", "errors": "error"}
"""The columns that count answers, each with the answer it counts."""

TIMES = ("p50", "p95", "max")


@click.command()
@click.option("--project", type=_options.FOLDER, metavar="DIR", help="Only this project's folder; all projects unless given.")
@click.option("--reset", is_flag=True, help="Forget all of it and count again.")
@_options.as_json
def command(project: Path | None, reset: bool, as_json: bool) -> None:
    """Tell what each hook did and how long it took."""
    from matrixx_core.errors import MatrixxError

    from ..services import state

    where = str(project) if project else None
    if reset:
        if not state.forget_timings(where):
            raise MatrixxError(f"{state.database()} cannot be written; close other programs that hold it, or remove it")
        click.echo("Forgotten.")
        return
    kept = state.kept_timings(where)
    rows = summed(kept)
    if as_json:
        _output.print_json(rows)
    elif not rows:
        click.echo("No hook has been called yet. Connect an agent with: matrixx install")
    else:
        _show(rows, min(one.first for one in kept))


def _show(rows: list[dict[str, Any]], first: float) -> None:
    numbers = ("calls", *TIMES, *COUNTED.values())
    shown = [(row["hook"], row["calls"], *(f"{row[key]:.2f}" for key in TIMES), *(row[key] or "" for key in COUNTED)) for row in rows]
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(first))
    _output.print_table(("hook", *numbers), shown, right=numbers, title=f"Since {since}; p50, p95 and max in ms")


def summed(kept: Iterable[Kept]) -> list[dict[str, Any]]:
    """One row a hook, over all its events and projects; times are in ms, percentiles within 19 %."""
    from matrixx_core.timing import Timing

    totals: dict[str, Timing] = {}
    for one in kept:
        totals.setdefault(one.plugin, Timing()).merge(one.timing)
    return [
        {
            "hook": plugin,
            "calls": total.calls,
            "p50": round(total.percentile(0.5), 4),
            "p95": round(total.percentile(0.95), 4),
            "max": round(total.max_ns / 1e6, 4),
            **{column: total.answers.get(answer, 0) for column, answer in COUNTED.items()},
        }
        for plugin, total in sorted(totals.items())
    ]
