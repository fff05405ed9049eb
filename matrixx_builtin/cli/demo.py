"""``matrixx demo``."""

import sys
from functools import partial
from pathlib import Path

import click

from . import _options, _output


@click.command()
@click.option(
    "--html", type=click.Path(dir_okay=False, writable=True, path_type=Path), metavar="FILE", help="Write a page that shows it all, too."
)
@click.option("--host", type=click.Choice(["scripted", "opencode"]), default="scripted", show_default=True,
              help="Play the scripted session by itself, or in the real OpenCode with a scripted model.")  # fmt: skip
@click.option("--disable", multiple=True, metavar="NAME", help="A hook to leave out: see what happens without it.")
@click.option("--keep", is_flag=True, help="Keep the scratch folder, to look at what is left in it.")
@_options.as_json
def command(html: Path | None, host: str, disable: tuple[str, ...], keep: bool, as_json: bool) -> None:
    """Watch a coding agent's session go through all installed hooks.

    A scripted session in OpenCode's payloads is played in a scratch folder, with your hooks and without them. Calls that are let go are really
    carried out there, so that both can be compared. Your projects, settings and state are left alone.
    """
    if html and not html.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(html.absolute().parent)!r}; make it first", param_hint="--html")
    import anyio
    from rich.console import Console

    from ..demo import host as real
    from ..demo import page, run
    from ..demo.terminal import Terminal

    with _output.own_stdout() as out:
        stage = Terminal(Console(file=sys.stderr if as_json else out, highlight=False), steps=not as_json)
        if host == "opencode":
            report = real.run(stage, disabled=disable, keep=keep)
        else:
            report = anyio.run(partial(run.run, stage, disabled=disable, keep=keep))
        if html:
            html.write_text(page.page(report), "utf-8")
        if as_json:
            _output.print_json(report.model_dump(by_alias=True), out=out)
        else:
            stage.end(report, html)
