"""``matrixx tools``."""

from pathlib import Path

import click

from . import _options, _output


@click.command()
@_options.project
@_options.as_json
def command(project: Path, as_json: bool) -> None:
    """List the tools that plugins bring for the model."""
    from ._engine import log_lines, open_project

    with log_lines(), _output.own_stdout() as out:
        tools = open_project(project).plugins.tools
        rows = [
            {"name": name, "plugin": plugin, "description": one.description, "parameters": one.parameters}
            for name, (plugin, one) in sorted(tools.items())
        ]
        if as_json:
            _output.print_json(rows, out=out)
    if not as_json:
        _output.print_table(("tool", "from", "what it does"), [(row["name"], row["plugin"], row["description"]) for row in rows])
