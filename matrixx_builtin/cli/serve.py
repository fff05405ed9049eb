"""``matrixx serve HOST``."""

import click

from . import _options


@click.command()
@click.argument("host", callback=_options.host_name)
def command(host: str) -> None:
    """Answer a host program, which starts this itself."""
    from ..hosts import host_module

    host_module(host).serve()
