"""``matrixx replay FILE``."""

from collections.abc import Callable, Generator, Iterable
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import click

from . import _options, _output

LIMIT = 256 * 1024 * 1024
"""Bytes in one recorded line; a longer one is no recording."""


@click.command()
@click.argument("file", type=click.File("rb"))
@_options.project
@click.option("--config", type=click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path), multiple=True,
              metavar="FILE", help="A settings file that wins over those found.")  # fmt: skip
@click.option("--disable", multiple=True, metavar="NAME", help="A hook to leave out.")
@click.option("--host", callback=_options.host_name, default="opencode", show_default=True, help="The program whose hook calls these are.")
@_options.as_json
def command(file: IO[bytes], project: Path, config: tuple[Path, ...], disable: tuple[str, ...], host: str, as_json: bool) -> None:
    """Play recorded hook calls through the engine.

    FILE holds one JSON object a line: {"hook": ..., "input": {...}, "output": {...}}. No tool is executed, nothing is kept.
    """
    recording, name = _rewindable(file), str(getattr(file, "name", "<stdin>"))
    total = sum(1 for _ in _lines(recording, name))  # all of it is looked at before the first hook runs
    recording.seek(0)
    rows: list[tuple[Any, ...]] = []
    current: list[tuple[int, dict[str, Any]]] = []

    def lines() -> Generator[tuple[int, dict[str, Any]]]:
        for line in _output.with_progress(_lines(recording, name), total, "replay"):
            current[:] = [line]
            yield line

    with _output.own_stdout() as out:

        def emit(record: dict[str, Any]) -> None:
            if as_json:
                _output.print_json(record, out=out, indent=False)
                out.flush()
            else:
                rows.append(_row(*current[0], record))

        _play(host, lines(), emit, {"directory": project, "config": config, "disabled": disable})
    if not as_json and not rows:
        click.echo(f"{name} holds no recorded call.")
    elif not as_json:
        _output.print_table(("#", "hook", "verdict", "what the hooks did", "ms"), rows, right=("#", "ms"))


def _play(host: str, lines: Iterable[Any], emit: Callable[[dict[str, Any]], None], options: dict[str, Any]) -> None:
    import anyio

    from ..hosts import host_module
    from ..services.state import nothing_kept
    from ._engine import log_lines

    with log_lines(), nothing_kept():
        anyio.run(partial(host_module(host).play, lines, emit, **options))


def _row(number: int, line: dict[str, Any], record: dict[str, Any]) -> tuple[Any, ...]:
    inp = _object(line.get("input"))
    subject = _object(inp.get("event")).get("type") or inp.get("tool") or inp.get("toolID") or inp.get("command")
    verdict = _output.styled(record["verdict"], "bold red" if record["verdict"] == "block" else "green")
    did = [f"{one['plugin']}: {one['answer']}" for one in record["ran"] if one["answer"] != "none"]
    did += record["reason"].splitlines()[:1] if record["reason"] else []
    did += [f"asked {one['method']} {one['path']}" for one in record["requests"]]
    return number, f"{record['hook']} {subject or ''}".strip(), verdict, "\n".join(did), f"{sum(one['ms'] for one in record['ran']):.2f}"


def _lines(file: IO[bytes], name: str) -> Generator[tuple[int, dict[str, Any]]]:
    """Every recorded call with its line number; raises ``MatrixxError`` that names a line that is none."""
    from matrixx_core.errors import MatrixxError
    from matrixx_core.wire import decode

    number = 0
    while line := file.readline(LIMIT + 1):
        number += 1
        if not line.strip():
            continue
        if len(line) > LIMIT:
            raise MatrixxError(f"{name}, line {number}: longer than {LIMIT} bytes, so it is no recorded call")
        try:
            call = _object(decode(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line))
        except ValueError as error:
            raise MatrixxError(f"{name}, line {number}: not JSON ({error}); each line is one object") from None
        if not isinstance(call.get("hook"), str):
            raise MatrixxError(f'{name}, line {number}: not a recorded call, which is an object with a "hook" name')
        yield number, call


def _rewindable(file: IO[bytes]) -> IO[bytes]:
    """The file itself, or a temporary copy of a pipe."""
    if file.seekable():
        return file
    import shutil
    import tempfile

    copy = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process that reads it
    shutil.copyfileobj(file, copy)
    copy.seek(0)
    return copy


def _object(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
