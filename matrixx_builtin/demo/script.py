"""The session as written down in ``session.toml``, filled in for one run."""

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

Kind: TypeAlias = Literal["prompt", "tool", "request", "compaction", "idle"]

LOG_BYTES = 300_000
"""Size of the made-up server log."""


class Step(BaseModel):
    """One thing that happens in the session; the file's head says what the fields mean."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    prompt: str = ""
    tool: str = ""
    args: Mapping[str, Any] = {}
    raw: str = Field(default="", description="Arguments as the model wrote them, when they are no JSON.")
    event: Literal["", "request", "compaction", "idle"] = ""
    say: str = ""
    expect: Literal["block", "help", "pass"] = "pass"
    by: str = ""
    after_block: bool = False
    needs: tuple[str, ...] = ()
    harm: str = ""

    @property
    def kind(self) -> Kind:
        return self.event or ("tool" if self.tool else "prompt")


class Script(BaseModel):
    """The scratch project's files, and the steps in order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: Mapping[str, str]
    steps: tuple[Step, ...]

    @property
    def commands(self) -> frozenset[str]:
        """The only shell commands that the demo will run."""
        return frozenset(str(step.args["command"]) for step in self.steps if step.tool == "bash")


def load(keys: Mapping[str, str], project: Path) -> Script:
    """The script for one project, with these keys in their places."""
    raw = tomllib.loads(files("matrixx_builtin.demo").joinpath("session.toml").read_text("utf-8"))
    values = {**keys, "PROJECT": str(project), "SERVER_LOG": server_log()}
    return Script.model_validate(_filled(raw, values))


def server_log() -> str:
    """Lines of a server under load, most of them errors."""
    line = "2026-05-04T{:02}:{:02}:{:02}Z ERROR checkout: voucher gave a total of {}.00 for cart {:06}, expected more; see ticket SHOP-{}\n"
    lines = (line.format(n // 3600 % 24, n // 60 % 60, n % 60, n % 7, n * 37 % 1_000_000, n % 977) for n in range(LOG_BYTES // 107))
    return "".join(lines)


def _filled(value: T, values: Mapping[str, str]) -> T:
    """The value with every placeholder inside it replaced."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: values[found[1]], value)  # type: ignore[return-value]  # str in, str out
    if isinstance(value, dict):
        return {key: _filled(one, values) for key, one in value.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [_filled(one, values) for one in value]  # type: ignore[return-value]
    return value


_PLACEHOLDER = re.compile(r"\{\{([A-Z_]+)\}\}")
