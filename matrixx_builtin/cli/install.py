"""``matrixx install HOST``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _installing, _limits, _options, _output

if TYPE_CHECKING:
    from ..hosts import Limit


@click.command()
@click.argument("host", required=False, callback=_options.host_name)
@_options.place
@click.option("--dry-run", is_flag=True, help="Show the exact change and make none.")
@click.option("--fail-closed", is_flag=True, help="Refuse what guards would judge while the engine cannot be reached.")
@_options.yes
@_options.as_json
def command(host: str | None, project: Path, everywhere: bool, dry_run: bool, fail_closed: bool, yes: bool, as_json: bool) -> None:
    """Connect the hooks to an agent.

    Without HOST: list the agents found on this machine.
    """
    from ..hosts import host_module

    if host is None:
        _list(project, as_json=as_json)
        return
    if as_json:
        raise click.UsageError("--json is for the list of agents, without HOST")
    module = host_module(host)
    installation = module.installation(None if everywhere else project, fail_closed=fail_closed)
    _installing.carry_out(installation, done="Wrote", dry_run=dry_run, yes=yes)
    for line in installation.advice:
        click.echo(f"- {line}")
    _limits.show(host, _limits_of(project, host))


def _list(project: Path, *, as_json: bool) -> None:
    from ..hosts import host_module, host_names

    rows: list[dict[str, Any]] = []
    for name in host_names():
        module = host_module(name)
        places = {where: module.installed(directory) for where, directory in (("project", project), ("global", None))}
        rows.append(
            {"host": name, "found": module.found() or None, **{where: str(path) if path else None for where, path in places.items()}}
        )
    if as_json:
        _output.print_json(rows)
        return
    _output.print_table(("agent", "found at", "installed"), [_row(row) for row in rows])
    found = [row for row in rows if row["found"]]
    for row in found:
        if not (row["project"] or row["global"]):
            click.echo(f"Connect it with: matrixx install {row['host']}")
    if not found:
        click.echo("None of them is on this machine's PATH.")


def _row(row: dict[str, Any]) -> tuple[str, str, str]:
    places = [row[where] for where in ("project", "global") if row[where]]
    return row["host"], row["found"] or "not found", "\n".join(places) or "no"


def _limits_of(project: Path, host: str) -> list[Limit]:
    from ._engine import log_lines, open_project

    with log_lines(), _output.own_stdout():
        return _limits.limits_of(open_project(project), host)
