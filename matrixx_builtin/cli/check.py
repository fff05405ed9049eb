"""``matrixx check FOLDER``."""

from pathlib import Path

import click

from . import _options, _output


@click.command()
@click.argument("folder", type=_options.FOLDER)
@_options.as_json
def command(folder: Path, as_json: bool) -> None:
    """Hold a hook's folder to the promises.

    Exit code 1 when one is broken.
    """
    from matrixx_core.testing import contract

    with _output.own_stdout() as out:
        problems = list(contract.problems(folder))
        if as_json:
            _output.print_json(problems, out=out)
    if not as_json:
        for problem in problems:
            click.echo(f"- {problem}")
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        click.echo(f"{count} in {folder}" if problems else f"{folder} keeps every promise")
    if problems:
        raise SystemExit(1)
