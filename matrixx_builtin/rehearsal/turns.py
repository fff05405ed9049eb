"""What a scripted model says, turn by turn, and what it was asked."""

import re
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

NAME = re.compile(r"\{\{([A-Z0-9_]+)\}\}")


class Told(BaseModel):
    """A table of a script; a key that it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Call(Told):
    """One tool call of the model: canonical tool name and arguments, or the arguments as raw, perhaps broken, JSON."""

    tool: str
    args: dict[str, Any] = {}
    raw: str = ""
    id: str = Field(
        default="", description="Its id, for a server that gives odd ones; results are told apart by the number after the last `_`."
    )


class Turn(Told):
    """One answer of the model: a call (or several side by side), or words that end its turn, or an error of its server."""

    say: str = ""
    think: str = Field(default="", description="What the model thinks before it says or calls anything (OpenAI's protocol).")
    tool: str = ""
    args: dict[str, Any] = {}
    raw: str = ""
    calls: tuple[Call, ...] = ()
    error: int = Field(default=0, description="HTTP status to answer with instead.")
    body: dict[str, Any] = Field(default={}, description="The body of that error.")
    usage: dict[str, int] = Field(default={}, description="Token counts to report, by the protocol's names.")
    uncounted: bool = Field(default=False, description="Its calls are a runner's own, which expectations do not count.")
    save: dict[str, str] = Field(default={}, description="Values that only the results of its calls tell: name and regular expression.")

    @property
    def made_calls(self) -> tuple[Call, ...]:
        return (Call(tool=self.tool, args=self.args, raw=self.raw), *self.calls) if self.tool else self.calls


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request; ``call`` counts the call from 1 whose result this is."""

    role: str
    text: str
    call: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the model: who asked, the messages, and the whole body as sent."""

    kind: str
    messages: tuple[Message, ...]
    body: str


def filled(value: T, values: dict[str, str]) -> T:
    """The value with every ``{{NAME}}`` inside it replaced; raises ``KeyError`` for a name that stands for nothing."""
    if isinstance(value, str):
        return NAME.sub(lambda found: values[found[1]], value)  # type: ignore[return-value]  # str in, str out
    if isinstance(value, dict):
        return {filled(key, values): filled(one, values) for key, one in value.items()}  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return type(value)(filled(one, values) for one in value)
    return value
