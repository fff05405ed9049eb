"""``matrixx explain TOOL ARGS``."""

import sys
from pathlib import Path
from typing import Any

import click

from . import _options, _output


@click.command()
@click.argument("tool")
@click.argument("args")
@_options.project
@click.option("--session-agent", metavar="NAME", default="", help="The agent that runs the session.")
@_options.as_json
def command(tool: str, args: str, project: Path, session_agent: str, as_json: bool) -> None:
    """Tell what the hooks would do to one call.

    ARGS are the tool's arguments as a JSON object, or - to read them from standard input. Nothing is executed.
    """
    import anyio

    from ..services.state import nothing_kept
    from ._arguments import read_object
    from ._engine import log_lines

    arguments = read_object(sys.stdin.read() if args == "-" else args)
    with log_lines(), nothing_kept(), _output.own_stdout() as out:
        record = anyio.run(_explain, tool, arguments, project, session_agent)
        if as_json:
            _output.print_json(record, out=out)
    if not as_json:
        _show(record)


async def _explain(tool: str, args: dict[str, Any], project: Path, agent: str) -> dict[str, Any]:
    from dataclasses import asdict

    from matrixx_core.events import ToolCall
    from matrixx_core.host import Host
    from matrixx_core.watchdog import watching

    from ..hosts import records
    from ..services.effects import effects_of

    call = ToolCall(session_id="explain", call_id="explain", tool=tool, args=args, directory=str(project))
    async with Host.open(project) as host:
        host.sessions[call.session_id].agent = agent
        with watching(host.rules.running):
            outcome = await host.tool_execute_before(call)
    return {
        **records.verdict([outcome]),
        "args": dict(outcome.event.args),
        "effects": asdict(effects_of(call)),
        "notes": records.notes([outcome]),
        "ran": records.ran([outcome]),
    }


def _show(record: dict[str, Any]) -> None:
    style = "bold red" if record["verdict"] == "block" else "bold green"
    _output.print_rich(_output.styled(record["verdict"], style))
    if record["reason"]:
        _output.print_rich(record["reason"])
    for note in record["notes"]:
        _output.print_rich(_output.styled(f"Note of {note['plugin']}: ", "cyan"), note["text"])
    effects = [(kind, _effect(one)) for kind, touched in record["effects"].items() for one in touched]
    if effects:
        click.echo()
        _output.print_table(("effect", "on"), effects)
    ran = [(one["plugin"], one["wave"], one["answer"], f"{one['ms']:.2f}") for one in record["ran"]]
    click.echo()
    _output.print_table(("hook", "wave", "answer", "ms"), ran, right=("ms",))


def _effect(one: Any) -> str:
    if isinstance(one, str):
        return one
    if "source" in one:
        return f"{one['source']['path']} -> {one['target']['path']}"
    return " ".join(one["argv"] or (one["program"],)) if "argv" in one else f"{one['path']} ({one['how']})"
