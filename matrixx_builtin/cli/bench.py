"""``matrixx bench``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from . import _options, _output

if TYPE_CHECKING:
    from ..bench.measuring import Case, Skipped


@click.command()
@click.argument("rows", nargs=-1, metavar="[ROW]...")
@_options.as_json
def command(rows: tuple[str, ...], as_json: bool) -> None:
    """Measure how fast Matrixx is here.

    The rows are ratios to baselines of the same minute. ROWs are unwanted, dispatch, bridge, secrets, commit, start, clients and memory; all of them (under a minute) unless given.
    """
    from .. import bench

    for row in rows:
        if row not in bench.ROWS:
            raise click.BadParameter(f"no row {row!r}; there are: {', '.join(bench.ROWS)}")
    chosen = rows or bench.ROWS

    def measured() -> Iterator[list[Case | Skipped]]:
        for row in chosen:
            yield list(bench.run([row]))

    with _output.own_stdout() as out:
        found = [one for several in _output.with_progress(measured(), len(chosen), "Measuring") for one in several]
        if as_json:
            _output.print_json([_machine(one) for one in found], out=out)
    if not as_json:
        _show(found)


def _machine(one: Case | Skipped) -> dict[str, object]:
    return {"row": one.row, "skipped": one.why} if isinstance(one, Exception) else asdict(one)


def _show(found: list[Case | Skipped]) -> None:
    rows = [
        (one.row, one.case, _amount(one.amount, one.unit), one.baseline, _amount(one.base, one.unit), _ratio(one.ratio), one.goal)
        for one in found
        if not isinstance(one, Exception)
    ]
    _output.print_table(
        ("row", "what", "takes", "baseline", "takes ", "ratio", "goal"),
        rows,
        right=("takes", "takes ", "ratio"),
        title="Medians; the ratio is the median over the rounds",
    )
    for one in found:
        if isinstance(one, Exception):
            click.echo(f"{one.row} was left out: {one.why}")


def _amount(amount: float, unit: str) -> str:
    if unit == "s":
        for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "us")):
            if amount * factor >= 1:
                return f"{amount * factor:.3g} {name}"
        return f"{amount * 1e9:.0f} ns"
    return f"{amount / 1e6:.1f} MB" if unit == "B" else f"{amount:g}"


def _ratio(ratio: float) -> str:
    return f"1/{1 / ratio:,.0f}" if 0 < ratio < 0.1 else f"{ratio:.2f}"
