"""Show what is on when the first session of a host begins.

One line: the version, how many hooks are on, and where to look when one could not be loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from weakref import WeakKeyDictionary

from matrixx_core import HostClient, SessionEvent, hookimpl, observe


@dataclass(slots=True)
class Shown:
    """What the line says, and whether it was shown."""

    text: str
    done: bool = False


_hosts: WeakKeyDictionary[HostClient, Shown] = WeakKeyDictionary()
"""The line of each host that is alive."""


@hookimpl
def host_opened(host: Any) -> None:
    plugins = host.plugins
    on = len(plugins.order) - len(plugins.gates)
    failed = f", {len(plugins.failed)} could not be loaded (run: matrixx doctor)" if plugins.failed else ""
    _hosts[host.rules.client] = Shown(f"{version('matrixx-core')}: {on} hooks are on{failed}.")


@observe(types={"session.created"})
async def session_event(event: SessionEvent, client: HostClient) -> None:
    shown = _hosts.get(client)
    info = event.properties.get("info")
    if shown is None or shown.done or (isinstance(info, Mapping) and info.get("parentID")):
        return
    shown.done = True
    await client.toast(shown.text)
