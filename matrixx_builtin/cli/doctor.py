"""``matrixx doctor``."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import _limits, _options, _output

if TYPE_CHECKING:
    from matrixx_core.plan import Step

    from ..hosts.findings import Finding
    from ._engine import Project

MARKS = {"ok": ("ok", "green"), "warn": ("warn", "yellow"), "error": ("ERROR", "bold red")}


@click.command()
@_options.project
@click.option("--host", callback=_options.host_name, metavar="NAME", help="Only this agent, which is then expected to be here.")
@click.option("--canary", is_flag=True, help="Run the real agent of --host in a scratch project, offline, and prove that it obeys.")
@_options.as_json
def command(project: Path, host: str | None, canary: bool, as_json: bool) -> None:
    """Find what keeps the hooks from working.

    Exit code 1 when something does.
    """
    from dataclasses import asdict

    from ._engine import open_project

    if canary:
        _canary(host, as_json=as_json)
        return
    with _quiet(), _output.own_stdout() as out:
        opened = open_project(project)
        findings = list(examine(opened, host))
        limits = {name: _limits.limits_of(opened, name) for name in _connected(project, host)}
        if as_json:
            told = [finding for name, found in limits.items() for finding in _limits.findings(name, found)]
            _output.print_json([asdict(finding) for finding in (*findings, *told)], out=out)
    if not as_json:
        _show(findings)
        for name, found in limits.items():
            _limits.show(name, found)
    if any(finding.level == "error" for finding in findings):
        raise SystemExit(1)


def _canary(host: str | None, *, as_json: bool) -> None:
    from dataclasses import asdict

    from ..canary import canary
    from ..hosts import host_module, host_names

    if host is None:
        raise click.UsageError(f"--canary needs an agent: --host {'|'.join(host_names())}")
    lines = canary(host_module(host))
    if as_json:
        _output.print_json([asdict(line) for line in lines])
    else:
        marks = {True: _output.styled("held", "green"), False: _output.styled("NOT HELD", "bold red")}
        _output.print_table(("", f"in {host}", ""), [(marks[line.held], line.what, line.why) for line in lines])
    if not all(line.held for line in lines):
        raise SystemExit(1)


def examine(opened: Project, host: str | None = None) -> Iterator[Finding]:
    """Look at everything: settings, plugins, what they have done so far, and each agent."""
    from ..hosts import host_module, host_names

    project = opened.directory
    yield from _settings(opened)
    yield from _plugins(opened)
    yield from _activity(opened)
    yield from _tools(opened)
    yield from _warm_engine(project)
    for name in [host] if host else host_names():
        module = host_module(name)
        yield from module.findings(project, asked=host is not None)


def _connected(project: Path, host: str | None) -> list[str]:
    """The agents whose limits matter: the one asked for, else those that Matrixx is installed for."""
    from ..hosts import host_module, host_names

    return [host] if host else [name for name in host_names() if any(host_module(name).installed(where) for where in (project, None))]


def _quiet() -> AbstractContextManager[None]:
    from ._engine import log_lines

    return log_lines(logging.CRITICAL)  # all of it is among the findings


def _settings(opened: Project) -> Iterator[Finding]:
    from ..hosts.findings import Finding

    for problem in opened.settings.problems:
        yield Finding("warn", str(problem), "that part of the settings is not in force", f"correct it in {problem.where}")
    for line in opened.plugins.waiting:
        yield Finding("warn", line, "a project may not open a guard by itself", "look at it, then run: matrixx trust")
    for line in opened.plugins.problems:
        yield Finding("warn", line, "", "correct it where it is said")


def _plugins(opened: Project) -> Iterator[Finding]:
    from ..hosts.findings import Finding

    plugins = opened.plugins
    for one in plugins.failed:
        yield Finding("error", f"plugin {one.name!r} of {one.dist} was left out", one.reason, f"upgrade it, or: pip uninstall {one.dist}")
    for name, answers in opened.steps().items():
        if not answers:
            found = opened.found[name]
            why = "it answers no event, so nothing ever calls it"
            yield Finding("error", f"plugin {name!r} of {found.dist} has no hook", why, f"upgrade it, or: pip uninstall {found.dist}")
    on = len(plugins.order) - len(plugins.gates)
    yield Finding("ok", f"{on} hooks are on, {len(plugins.disabled)} disabled, {len(plugins.gates)} off by their own settings")


def _activity(opened: Project) -> Iterator[Finding]:
    """Hooks that nothing has called since the first call that was counted here."""
    from ..hosts.findings import Finding
    from ..services.state import kept_timings

    kept = kept_timings(str(opened.directory))
    if not kept:
        yield Finding(
            "warn", "no hook has been called in this project yet", "no agent has run here with Matrixx", "run your agent once here"
        )
        return
    since = time.strftime("%Y-%m-%d", time.localtime(min(one.first for one in kept)))
    last = time.strftime("%Y-%m-%d %H:%M", time.localtime(max(one.last for one in kept)))
    calls = sum(one.timing.calls for one in kept)
    yield Finding("ok", f"{calls} calls of hooks since {since}, the last at {last}")
    called = {one.plugin for one in kept}
    events = {name: answers for name, answers in opened.steps().items() if name not in opened.plugins.gates}
    never = sorted(name for name, answers in events.items() if name not in called and _is_counted(answers))
    if never:
        why = "what they wait for has not happened, or the host does not report it"
        yield Finding("warn", f"never called since {since}: {', '.join(never)}", why, "see what they wait for: matrixx hooks")
    failing = sorted({one.plugin for one in kept if one.timing.answers.get("error")})
    if failing:
        yield Finding("warn", f"have failed since {since}: {', '.join(failing)}", "their work was skipped or the call refused", _see_log())


def _is_counted(answers: list[tuple[str, Step]]) -> bool:
    from .hooks import PLAIN

    return any(event not in PLAIN for event, _ in answers)


def _see_log() -> str:
    from ..services.logs import log_file

    return f"see {log_file()}"


def _tools(opened: Project) -> Iterator[Finding]:
    from ..hosts.findings import Finding

    if "secret-leak-guard" in opened.plugins.order and not shutil.which("gitleaks"):
        yield Finding("ok", "gitleaks is not on PATH", "commits are scanned by the built-in rules alone; with it, by both")


def _warm_engine(project: Path) -> Iterator[Finding]:
    from ..daemon.examine import examine

    yield from examine(project)


def _show(findings: list[Finding]) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 1))
    for finding in findings:
        mark, style = MARKS[finding.level]
        told = _output.styled(finding.what, "bold" if finding.level == "error" else "")
        for line in filter(None, (finding.why, finding.way_out and f"-> {finding.way_out}")):
            told.append(f"\n{line}", style="dim")
        table.add_row(_output.styled(mark, style), told)
    _output.print_rich(table)
