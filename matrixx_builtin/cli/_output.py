"""What the commands write: JSON for machines, tables for people; rich is imported only for the latter."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds of work after which a progress bar appears."""


def print_json(value: Any, *, out: IO[str] | None = None, indent: bool = True) -> None:
    """Write one JSON value; ``indent=False`` keeps it on one line."""
    from matrixx_core.wire import encode

    if not indent:
        (out or sys.stdout).write(encode(value).decode() + "\n")
        return
    import json

    click.echo(json.dumps(json.loads(encode(value)), indent=2, ensure_ascii=True), file=out)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[str] = (), whole: Sequence[str] = (), title: str = ""
) -> None:
    """Write a table for a person; a cell that is not a string is shown by ``str``.

    ``right`` names columns of numbers, ``whole`` those of names: neither is broken into lines.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=column in {*right, *whole}, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    print_rich(table)


def print_rich(*things: Any) -> None:
    """Write anything that rich can render to standard output."""
    from rich.console import Console

    Console(file=sys.stdout, highlight=False).print(*things)


def styled(text: str, style: str) -> Any:
    """Text in a rich style (``"red"``, ``"dim"`` ...), never read as markup."""
    from rich.text import Text

    return Text(text, style=style)


@contextmanager
def own_stdout() -> Generator[IO[str]]:
    """Keep standard output for what we write to the stream given; what plugins and programs print goes to standard error."""
    out = sys.stdout
    out.flush()
    try:
        real = out.fileno() == 1
    except (OSError, ValueError, AttributeError):  # a test's or an embedding program's stream
        real = False
    if not real:
        with redirect_stdout(sys.stderr):
            yield out
        return
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr), open(kept, "w", encoding="utf-8", closefd=False) as ours:
            yield ours
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def with_progress(work: Iterable[T], total: int, what: str) -> Generator[T]:
    """Hand the work on; a progress bar appears on a terminal's standard error when it takes over a second."""
    if not sys.stderr.isatty():
        yield from work
        return
    started = time.monotonic()
    bar: Progress | None = None
    try:
        for done, one in enumerate(work):
            yield one
            if bar is None and time.monotonic() - started > PATIENCE:
                bar = _bar(total, what)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=done + 1)
    finally:
        if bar is not None:
            bar.stop()


def _bar(total: int, what: str) -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(what, total=total)
    bar.start()
    return bar
