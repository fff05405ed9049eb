"""What installed hooks cannot do on a host, as its adapter declares it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from . import _output

if TYPE_CHECKING:
    from ..hosts import Limit
    from ..hosts.findings import Finding
    from ._engine import Project


def limits_of(opened: Project, host: str) -> list[Limit]:
    """The project's hooks that cannot do all of their work on a host."""
    from ..hosts import host_module, limits_on

    return limits_on(host_module(host), opened.steps())


def show(host: str, limits: Sequence[Limit]) -> None:
    """One line a hook; nothing where all can do all of their work."""
    if not limits:
        return
    click.echo(f"\nWhat installed hooks cannot do in {host}; it is a limit of the agent, and nothing is wrong:\n")
    rows = [(limit.plugin, "no" if limit.whole else "partly", "; ".join(limit.denied)) for limit in limits]
    _output.print_table(("hook", "acts", f"what {host} never lets a hook do"), rows, whole=("hook", "acts"))


def findings(host: str, limits: Sequence[Limit]) -> Iterator[Finding]:
    """The same for machines."""
    from ..hosts.findings import Finding

    for limit in limits:
        what = "cannot act" if limit.whole else "cannot do all of its work"
        why = f"{host} never lets a hook {'; '.join(limit.denied)}"
        yield Finding("warn", f"{limit.plugin!r} {what} in {host}", why, "nothing to do: it is a limit of the host")
