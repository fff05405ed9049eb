"""``matrixx uninstall HOST``."""

from pathlib import Path

import click

from . import _installing, _options


@click.command()
@click.argument("host", callback=_options.host_name)
@_options.place
@click.option("--dry-run", is_flag=True, help="Show the exact change and make none.")
@_options.yes
def command(host: str, project: Path, everywhere: bool, dry_run: bool, yes: bool) -> None:
    """Take away from an agent what install wrote."""
    from ..hosts import host_module

    removal = host_module(host).removal(None if everywhere else project)
    _installing.carry_out(removal, done="Removed", dry_run=dry_run, yes=yes)
    for line in removal.advice:
        click.echo(f"- {line}")
