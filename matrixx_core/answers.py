"""What a hook may answer: nothing, a stop, some text to add, or the event changed."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .events import Event, Place

Priority: TypeAlias = Literal["critical", "high", "normal", "low"]


@dataclass(frozen=True, slots=True)
class Block:
    """Stop the event.

    ``reason`` says what was hit and why, ``instead`` the allowed alternative, ``person`` what the user can do about it
    (unless said: switch the hook off). All are read by the model, so none may hold the matched secret.
    """

    reason: str
    instead: str = ""
    person: str = ""


@dataclass(frozen=True, slots=True)
class Done(Block):
    """The call need not run any more: the model reads ``reason`` alone, as what came of it, and not as a refusal."""


@dataclass(frozen=True, slots=True)
class Allow:
    """Grant a permission that the person configured to be granted; only ``permission_asked`` takes it."""


@dataclass(frozen=True, slots=True)
class Inject:
    """Add text to the event, after every rewriter has run; ``priority`` decides what an exhausted budget drops."""

    text: str
    at: Place = "end"
    priority: Priority = "normal"


LONGEST = 1_200
"""Characters of each part of a refusal."""

_CONTROLS = re.compile("[^\\n\\t\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\U0010ffff]")

Answer: TypeAlias = Event | Block | Allow | Inject | None


def refusal(block: Block, plugin: str) -> str:
    """What the model reads in place of a result: what was hit, by which hook, the alternative, and the way out."""
    if isinstance(block, Done):
        return block.reason
    lines = [f"Blocked by Matrixx hook {plugin!r}: {_readable(block.reason)}"]
    if block.instead:
        lines.append(f"Instead: {_readable(block.instead)}")
    person = _readable(block.person) or f'switch this hook off with "disabled_hooks": ["{plugin}"] in matrixx.jsonc'
    lines.append(f"Do not look for another way to the same effect; if it is needed, ask the user, who can {person}.")
    return "\n".join(lines)


def _readable(text: str) -> str:
    """The text without control characters and what is over ``LONGEST``, which no model needs to be told."""
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return _CONTROLS.sub("?", short)
