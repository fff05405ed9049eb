"""Write down what every hook did and how long it took, for `matrixx timing`."""

import time
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import anyio.to_thread

from matrixx_core import hookimpl, observe
from matrixx_core.host import Host
from matrixx_core.timing import Timing

from ..services import state

INTERVAL = 30.0
"""Seconds at least between two writes while sessions go on."""

Rows = list[tuple[str, str, Timing]]


@dataclass(slots=True)
class Unsaved:
    """When a host's timings were last written down, and what could not be."""

    since: float = field(default_factory=time.monotonic)
    rows: Rows = field(default_factory=Rows)


_open: WeakKeyDictionary[Host, Unsaved] = WeakKeyDictionary()
"""The hosts that are open in this process: an event does not say whose it is."""


@hookimpl
def host_opened(host: Any) -> None:
    _open[host] = Unsaved()


@observe(types={"session.idle"})
async def session_event() -> None:
    for host, unsaved in list(_open.items()):
        if time.monotonic() - unsaved.since >= INTERVAL:
            unsaved.since = time.monotonic()
            rows, unsaved.rows = [*unsaved.rows, *host.timings.take()], []
            if not await anyio.to_thread.run_sync(state.keep_timings, host.directory, rows):
                unsaved.rows += rows


@hookimpl
def host_closed(host: Any) -> None:
    unsaved = _open.pop(host, Unsaved())
    state.keep_timings(host.directory, [*unsaved.rows, *host.timings.take()])
