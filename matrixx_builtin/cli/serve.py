"""``matrixx serve HOST``."""

import gc

import click

from . import _options


@click.command()
@click.argument("host", callback=_options.host_name)
def command(host: str) -> None:
    """Answer a host program, which starts this itself."""
    gc.disable()  # what a start makes is there to stay; the adapter enables it again when it is ready
    from ..hosts import host_module

    host_module(host).serve()
