"""The command ``matrixx``, a module a sub-command: ``cli/<name>.py`` holds its ``command``.

These modules import what is heavy inside their functions: ``matrixx --help`` reads every one of them.
"""

import difflib
from importlib import import_module
from pathlib import Path
from typing import Any

import click


class OneLine(click.ClickException):
    """What went wrong and the way out, in one line on standard error; exit code 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"matrixx: {' '.join(self.format_message().split())}", file=file, err=file is None)


class Commands(click.Group):
    """Sub-commands by the modules beside this file; none is imported before it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"{__name__}.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and (close := difflib.get_close_matches(args[0], names, n=1)):
            ctx.fail(f"no such command {args[0]!r}; did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.exceptions.NoArgsIsHelpError:  # it is the help itself
            raise
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else ctx.command_path
            raise OneLine(f"{error.format_message().rstrip('.')} (see `{path} --help`)") from None
        except click.ClickException as error:
            raise OneLine(error.format_message()) from None
        except OSError as error:
            if not error.filename:  # a closed pipe, for one, is click's to handle
                raise
            way_out = "; look at its owner and rights" if isinstance(error, PermissionError) else ""
            raise OneLine(f"{error.filename}: {error.strerror}{way_out}") from None
        except Exception as error:
            from matrixx_core.errors import MatrixxError  # it brings pydantic, which --help does not need

            if isinstance(error, MatrixxError):
                raise OneLine(str(error)) from None
            raise


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="matrixx-core", prog_name="matrixx")
def cli() -> None:
    """Hooks that keep AI coding agents safe and helped, in the agent that you already use."""


def main() -> None:
    """Run the command line."""
    cli(prog_name="matrixx")
