"""``matrixx tool NAME ARGS``."""

import sys
from pathlib import Path
from typing import Any

import click

from . import _options, _output


@click.command()
@click.argument("name")
@click.argument("args", default="{}")
@_options.project
@_options.as_json
def command(name: str, args: str, project: Path, as_json: bool) -> None:
    """Run one tool of a plugin, with all hooks around the call.

    ARGS are the tool's arguments as a JSON object, or - to read them from standard input. Exit code 1 when the tool, or a
    guard, refuses.
    """
    import anyio

    from ._arguments import read_object
    from ._engine import log_lines

    arguments = read_object(sys.stdin.read() if args == "-" else args)
    with log_lines(), _output.own_stdout() as out:
        answer = anyio.run(_run, name, arguments, project)
        if as_json:
            _output.print_json(answer, out=out)
        else:
            print(answer["output"] if answer["ok"] else f"matrixx: {answer['error']}", file=out if answer["ok"] else sys.stderr)
    raise SystemExit(0 if answer["ok"] else 1)


async def _run(name: str, args: dict[str, Any], project: Path) -> dict[str, Any]:
    from matrixx_core.events import ToolCall
    from matrixx_core.host import Host
    from matrixx_core.tools import ToolError
    from matrixx_core.watchdog import watching

    call = ToolCall(session_id="shell", call_id="shell", tool=name, args=args, directory=str(project))
    async with Host.open(project) as host:
        with watching(host.rules.running):
            try:
                done = await host.call_tool(call)
            except ToolError as error:
                return {"ok": False, "output": "", "error": str(error)}
    return {"ok": True, "output": done.output, "error": None}
