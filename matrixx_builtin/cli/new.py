"""``matrixx new NAME``."""

from importlib.metadata import version
from pathlib import Path

import click

from . import _options


@click.command()
@click.argument("name")
@click.option("--dir", "parent", type=_options.FOLDER, default=".", metavar="DIR", help="Where the hook's folder is made.")
def command(name: str, parent: Path) -> None:
    """Write the three files of a new hook."""
    from matrixx_core.errors import MatrixxError
    from matrixx_core.testing.contract import NAME

    from ._template import files

    name = name.removeprefix("matrixx-")
    if not NAME.fullmatch(name):
        raise MatrixxError(f"{name!r} is no name for a hook: write lower-case words with '-' between, for example 'no-force-push'")
    folder = parent / f"matrixx-{name}"
    if folder.exists():
        raise MatrixxError(f"{folder} exists; choose another name, or remove it")
    folder.mkdir()
    for path, text in files(name, version("matrixx-core")).items():
        (folder / path).write_text(text, "utf-8")
        click.echo(f"Wrote {folder / path}")
    click.echo(f"Install it with: pip install -e {folder}\nThen: matrixx hooks, and: matrixx check {folder}")
