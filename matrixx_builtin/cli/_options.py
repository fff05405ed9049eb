"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)

project = click.option("--project", type=FOLDER, default=".", metavar="DIR", help="The project's folder; the current one unless given.")
as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON for machines.")
everywhere = click.option("--global", "everywhere", is_flag=True, help="For all projects of this user.")
yes = click.option("--yes", is_flag=True, help="Do not ask.")


def place(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--project DIR`` or ``--global``."""
    return project(everywhere(command))


def host_name(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Check the name of an adapter; a callback, so that no adapter is looked for before a name is given."""
    from ..hosts import host_names

    if value is not None and value not in (names := host_names()):
        raise click.BadParameter(f"no adapter for {value!r} is installed; there are: {', '.join(names)}")
    return value
