"""The canary: a hook of a scratch project that the real host program must obey, in every way that a call can come.

An adapter that can be tried has ``rehearse(cage)``: it plays the cage's calls in its program, offline, with a scripted
model, and gives the requests that the model got (``matrixx doctor --canary``).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

from matrixx_core.errors import MatrixxError

from ..rehearsal.turns import Request
from .cage import DENIED, FREE, SONG, Cage, cage


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that must hold, and what was seen instead where it does not."""

    what: str
    held: bool
    why: str = ""


LINES = {
    "main": "a denied write in the main session",
    "child": "a denied write in a child session",
    "mcp": "a denied write by an MCP tool",
    "patch": "a denied write in a patch",
}
"""By the name of the file that must not come to be."""


def canary(host: ModuleType) -> list[Line]:
    """Try a host program with its adapter; raises ``MatrixxError`` if the program is not there or does not start."""
    if not hasattr(host, "rehearse"):
        raise MatrixxError(f"the adapter {host.__name__} has no canary")
    with cage() as made:
        requests: Sequence[Request] = host.rehearse(made)
        return list(seen(made, requests))


def seen(made: Cage, requests: Sequence[Request]) -> Iterator[Line]:
    """What held, by the files of the cage's project and by what the model was sent."""
    yield _line("a write that nobody denies", (made.project / FREE).is_file(), "the file is not there: the agent did not work at all")
    for name, what in LINES.items():
        asker = "subagent" if name == "child" else "main"
        written = (made.project / made.file(name)).exists()
        told = _heard(requests, f"{made.file(name)} {DENIED}", asker)
        yield _line(what, not written and told, "the file was written" if written else "the model has not read the refusal")
    yield _line("a note beside a call reaches the model", _heard(requests, SONG), "no request held it")


def _line(what: str, held: bool, why: str) -> Line:  # noqa: FBT001
    return Line(what, held, "" if held else why)


def _heard(requests: Iterable[Request], text: str, asker: str = "main") -> bool:
    return any(text in message.text for request in requests if request.kind == asker for message in request.messages)
