"""``matrixx serve HOST``."""

import click

from ..hosts import host_module, host_names


@click.command()
@click.argument("host", type=click.Choice(host_names()))
def command(host: str) -> None:
    """Answer a host's hook calls on standard input and output; the host starts this itself."""
    host_module(host).serve()
