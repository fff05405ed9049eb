"""``matrixx trust``."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import click

from . import _options, _output


@click.command()
@_options.project
@click.option("--withdraw", is_flag=True, help="Take the trust back.")
@_options.yes
def command(project: Path, withdraw: bool, yes: bool) -> None:
    """Let a project's settings loosen guards.

    Shows what the project's settings file would open. Trust holds for the file as it is now: a change of it waits again.
    """
    from matrixx_core import trust
    from matrixx_core.errors import MatrixxError

    from ._engine import log_lines, open_project

    with log_lines(logging.CRITICAL), _output.own_stdout():
        opened = open_project(project)
    files = [source.path for source in opened.settings.sources if source.scope == "project"]
    if not files:
        raise MatrixxError(f"{project} has no settings file; a project's settings are in {project / '.matrixx' / 'matrixx.jsonc'}")
    if withdraw:
        for path in files:
            click.echo(f"{path}: {'no longer trusted' if trust.withdraw(path) else 'was not trusted'}")
        return
    waiting = [source.path for source in opened.settings.sources if not source.trusted]
    if not waiting or not opened.plugins.waiting:
        click.echo("Nothing waits for trust here.")
        return
    click.echo("These settings wait for you:")
    for line in opened.plugins.waiting:
        click.echo(f"- {line}")
    if not yes:
        _ask(waiting)
    for path in waiting:
        click.echo(f"Trusted as it is now: {path} (sha256 {trust.trust(path)[:12]}...)")


def _ask(files: list[Path]) -> None:
    from matrixx_core.errors import MatrixxError

    if not sys.stdin.isatty():
        raise MatrixxError("nobody is there to answer; run `matrixx trust` in a terminal, or with --yes")
    click.confirm(f"Trust {', '.join(map(str, files))}?", abort=True)
