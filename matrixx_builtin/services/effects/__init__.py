"""Tell what a tool call does to files, programs and the network, for any tool of any host."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from matrixx_builtin.services.effects.ledger import Ledger
from matrixx_builtin.services.effects.matching import covers, matching
from matrixx_builtin.services.effects.model import Effects, Mode, Move, Run, Touch
from matrixx_builtin.services.effects.paths import here
from matrixx_builtin.services.effects.shell import Shell
from matrixx_builtin.services.effects.tools import apply_tool
from matrixx_core.events import ToolCall

__all__ = ["Effects", "Mode", "Move", "Run", "Touch", "covers", "effects_of", "matching"]

_recent: deque[tuple[Mapping[str, Any], dict[str, Any], str, str, Effects]] = deque(maxlen=8)
"""The latest answers. The arguments are held themselves, so that "the same call" means these very objects and not a repetition after the
disk has changed."""


def effects_of(call: ToolCall) -> Effects:
    """Return what the call does; never raises, and answers from a small cache when several hooks ask about the same call."""
    for args, content, tool, directory, known in _recent:
        if args is call.args and tool == call.tool and directory == call.directory and content == args:
            return known
    found = _analysed(call)
    _recent.append((call.args, dict(call.args), call.tool, call.directory, found))
    return found


def _analysed(call: ToolCall) -> Effects:
    ledger = Ledger()
    try:
        apply_tool(Shell(ledger, call.directory or here()), call.tool, call.args)
    except Exception as error:  # noqa: BLE001 - a guard must get an answer: what was found so far, and that it is not all
        ledger.doubt("limit", f"the analysis stopped with {type(error).__name__}")
    return ledger.effects()
