"""Show what an installation changes, ask, and change it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..hosts.changes import Installation


def carry_out(installation: Installation, *, done: str, dry_run: bool, yes: bool) -> bool:
    """Make the changes, or only show them; false when nothing was changed."""
    if not installation.changes:
        click.echo("Nothing to change.")
    for change in installation.changes:
        if dry_run:
            click.echo(change.diff, nl=False)
            continue
        verb = "Remove" if change.after is None else "Write" if change.before is None else "Replace"
        if not yes and sys.stdin.isatty() and not click.confirm(f"{verb} {change.path}?", default=True):
            raise click.Abort
        change.make()
        click.echo(f"{done} {change.path}")
    return bool(installation.changes) and not dry_run
