"""``matrixx serve HOST`` and ``matrixx serve daemon``."""

import gc
from pathlib import Path

import click

from . import _options


class Served(click.Group):
    """The host programs with an adapter, and the warm engine."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from ..hosts import host_names

        return [*host_names(), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if command := super().get_command(ctx, cmd_name):
            return command
        name = _options.host_name(ctx, click.Argument(["host"]), cmd_name)
        return click.Command(cmd_name, callback=lambda: _serve(str(name)), help=f"Answer {name}, which starts this itself.")


@click.group(cls=Served, subcommand_metavar="HOST|daemon")
def command() -> None:
    """Answer a host program, which starts this itself."""


@command.command()
@_options.project
@click.option("--stop", is_flag=True, help="End the one that runs.")
@click.option("--handed", default="", hidden=True)
def daemon(project: Path, stop: bool, handed: str) -> None:
    """Keep the engine of a project warm for command and HTTP hooks.

    The first hook starts it, and it ends when nobody needs it.
    """
    from .. import daemon as warm

    if stop:
        click.echo("stopped" if warm.stop(project) else "none runs for this project")
    else:
        warm.serve(project, [int(number) for number in handed.split(",") if number])


def _serve(host: str) -> None:
    gc.disable()  # what a start makes is there to stay; the adapter enables it again when it is ready
    from ..hosts import host_module

    host_module(host).serve()
