"""Which tools a host is known to offer, for hooks that send the model to one of them.

No host lists its tools. A hook that needs to know narrows an observer of ``tool_definition``, and of ``tool_execute_before``, to the
names it looks for, and notes here what it sees: a tool that is described to the model, or was called, is there.
"""

from weakref import WeakKeyDictionary

from matrixx_core import HostClient


def note(client: HostClient, tool: str) -> None:
    """The host behind this client offers a tool of this name."""
    _seen.setdefault(client, set()).add(tool)


def offered(client: HostClient) -> frozenset[str]:
    """The names noted so far; a tool that is not among them may be there all the same."""
    return frozenset(_seen.get(client, ()))


_seen: WeakKeyDictionary[HostClient, set[str]] = WeakKeyDictionary()
