"""Show the lines of files that are read with the anchors that the hashline edit tool takes.

``12: text`` becomes ``12#VK|text``; ``12#VK`` is the line's anchor for the tool ``edit`` of ``matrixx-hashline-edit``, which the same
setting switches on. All else of the output, as warnings of the host, stays as it is.
"""

import re

from pydantic import BaseModel, ConfigDict, Field

from matrixx_builtin.services.lines import split, tagged
from matrixx_core import Inject, ToolResult, rewrite

SETTINGS_KEY = "experimental"

CUT = re.compile(r"\.\.\. \(line truncated to \d+ chars\)\Z")
"""How OpenCode 1.18 ends a line of which it shows only the beginning: its anchor would not be the whole line's."""

_LINE = re.compile(r"[ \t]*([0-9]{1,9})[:|] ?(.*)", re.DOTALL)
_START = re.compile(r"^<(?:content|file)>[ \t\r]*", re.MULTILINE)
_FAILED = re.compile(r"\s*error|(?s:.*)\bfailed\b", re.IGNORECASE)


class Config(BaseModel):
    model_config = ConfigDict(frozen=True)

    hashline_edit: bool = Field(default=False, description="Show read lines with the LINE#ID anchors of hashline-edit.")


def off_because(config: Config) -> str:
    """Why lines are shown as the host shows them, or ``""``."""
    return "" if config.hashline_edit else f"{SETTINGS_KEY}.hashline_edit is false"


@rewrite(tools={"read"})
def tool_execute_after(result: ToolResult) -> ToolResult | None:
    output = anchored(result.output)
    return None if output == result.output else result.with_output(output)


@rewrite(tools={"write"}, spec="tool_execute_after")
def count_lines(result: ToolResult) -> Inject | None:
    """How many lines were written, beside what the host says of them."""
    content = result.call.args.get("content")
    if not isinstance(content, str) or _FAILED.match(result.output):
        return None
    count = len(split(content))
    return Inject(
        f"{count} line{'' if count == 1 else 's'} written. Read the file to get their anchors before you edit it.", priority="low"
    )


def anchored(output: str) -> str:
    """The output with anchors on the numbered lines that begin its content; ``output`` itself where none are numbered."""
    opened = _START.search(output)
    at = opened.end() if opened else 0
    glued = opened is not None and not output.startswith("\n", at)
    at += opened is not None and not glued
    rows = output[at:].split("\n")
    count = _numbered(rows)
    if not count:
        return output
    lines = [_with_anchor(row) for row in rows[:count]]
    return output[:at].rstrip(" \t\r" if glued else "") + "\n" * glued + "\n".join([*lines, *rows[count:]])


def _numbered(rows: list[str]) -> int:
    """How many rows at the start have numbers one after the other: what follows is no line of the file."""
    last = None
    for count, row in enumerate(rows):
        found = _LINE.match(row)
        if found is None or (last is not None and int(found[1]) != last + 1):
            return count
        last = int(found[1])
    return len(rows)


def _with_anchor(row: str) -> str:
    found = _LINE.match(row)
    return row if found is None or CUT.search(found[2]) else tagged(int(found[1]), found[2])
