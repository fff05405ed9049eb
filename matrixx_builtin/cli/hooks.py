"""``matrixx hooks``."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _options, _output

if TYPE_CHECKING:
    from matrixx_core.markers import Subjects

    from ._engine import Project

PLAIN = {"host_opened", "host_closed", "tools"}
"""Hookspecs that are plain pluggy calls outside the waves; nobody may stop or change anything there."""

MOST_SHOWN = 2
"""Tools of one answer that a person is shown; ``--json`` has all."""

STYLES = {"on": "green", "disabled": "dim", "failed": "bold red"}


@click.command()
@_options.project
@_options.as_json
def command(project: Path, as_json: bool) -> None:
    """List the installed hooks in their run order."""
    from ._engine import log_lines, open_project

    with log_lines(), _output.own_stdout() as out:
        opened = open_project(project)
        rows = listing(opened)
        if as_json:
            _output.print_json(rows, out=out)
    if not as_json:
        _output.print_table(
            ("#", "hook", "state", "wave", "answers"),
            [line for row in rows for line in _lines(row, opened)],
            right=("#",),
            whole=("hook", "state", "wave"),
        )


def listing(opened: "Project") -> list[dict[str, Any]]:
    """Every installed plugin: those that run in their order, then the others by name."""
    plugins, steps = opened.plugins, opened.steps()
    failed = {one.name for one in plugins.failed}
    rows: list[dict[str, Any]] = []
    for name in sorted(opened.found, key=lambda name: (plugins.order.get(name, len(opened.found)), name)):
        found = opened.found[name]
        gate = plugins.gates.get(name)
        state = "failed" if name in failed else "disabled" if name in plugins.disabled else f"off: {gate}" if gate else "on"
        events = [
            {"event": event, "wave": "observe" if event in PLAIN else step.wave, "tools": _tools(step.subjects)}
            for event, step in steps.get(name, ())
        ]
        order = plugins.order.get(name)
        rows.append(
            {
                "name": name,
                "dist": found.dist,
                "version": found.version,
                "summary": found.summary,
                "state": state,
                "events": events,
                "order": order,
            }
        )
    return rows


def _tools(subjects: "Subjects") -> list[str] | None:
    """The tools or types that are wanted; ``"!x"`` is all but x, null is all."""
    if not subjects.others:
        return sorted(subjects.names)
    return [f"!{name}" for name in sorted(subjects.names)] or None


def _lines(row: dict[str, Any], opened: "Project") -> Iterator[tuple[Any, ...]]:
    """A line an answer; the first also says whose they are, and one that is not on says why in their place."""
    state, _, gate = str(row["state"]).partition(": ")
    why = ({one.name: one.reason for one in opened.plugins.failed} | opened.plugins.disabled).get(row["name"], gate)
    answers = list(dict.fromkeys((one["wave"], f"{one['event']}{_shown(one['tools'])}") for one in row["events"]))
    order = "" if row["order"] is None else row["order"] + 1
    head = (order, _output.styled(row["name"], "bold"), _output.styled(state, STYLES.get(state, "yellow")))
    for told in [("", why)] if why else answers or [("", "")]:
        yield (*head, *told)
        head = ("", "", "")


def _shown(tools: list[str] | None) -> str:
    if not tools:
        return ""
    if len(tools) <= MOST_SHOWN:
        return f" ({', '.join(tools)})"
    return f" (all but {len(tools)})" if tools[0].startswith("!") else f" ({', '.join(tools[:MOST_SHOWN])} +{len(tools) - MOST_SHOWN})"
