"""What a dispatch did, in the words of the machine contract (``matrixx replay`` and ``matrixx explain``)."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from matrixx_core.dispatch import Outcome

Record: TypeAlias = dict[str, Any]


def verdict(outcomes: Sequence[Outcome[Any]]) -> Record:
    """``verdict``, and with a block the ``reason`` that the model reads and whom it comes from; else both are null."""
    blocked = next((outcome for outcome in outcomes if outcome.block), None)
    if blocked is None:
        return {"verdict": "allow", "reason": None, "blocked_by": None}
    return {"verdict": "block", "reason": blocked.refusal, "blocked_by": blocked.blocked_by}


def notes(outcomes: Sequence[Outcome[Any]]) -> list[Record]:
    """Every note with its plugin, in run order."""
    return [{"plugin": note.plugin, "text": note.text} for outcome in outcomes for note in outcome.notes]


def ran(outcomes: Sequence[Outcome[Any]]) -> list[Record]:
    """Every hook that was called. A granted permission counts as ``none``: our answer to a host is never ``allow``."""
    return [
        {
            "plugin": one.plugin,
            "wave": one.wave,
            "ms": round(one.ns / 1e6, 4),
            "answer": "none" if one.answer == "allow" else one.answer,
        }
        for outcome in outcomes
        for one in outcome.ran
    ]
