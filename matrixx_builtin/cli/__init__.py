"""The command ``matrixx``, a module a sub-command: ``cli/<name>.py`` holds its ``command``."""

from importlib import import_module
from pathlib import Path

import click

from matrixx_core.errors import MatrixxError


class Commands(click.Group):
    """Sub-commands by the modules beside this file; none is imported before it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"{__name__}.{cmd_name}").command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="matrixx-core", prog_name="matrixx")
def cli() -> None:
    """Hooks that keep AI coding agents safe and helped, in the agent that you already use."""


def main() -> None:
    """Run the command line; what goes wrong on purpose is one line on standard error and exit code 2."""
    try:
        cli()
    except MatrixxError as error:
        click.echo(f"matrixx: {error}", err=True)
        raise SystemExit(2) from None
