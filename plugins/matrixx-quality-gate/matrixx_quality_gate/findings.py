"""What linters print, read as findings, and which of them an edit has brought in."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

MOST_READ = 2_000
"""Findings read from one run; a file with more is told about in numbers only."""


class Finding(NamedTuple):
    """One complaint; ``file`` as the linter wrote it, lines and columns count from 1 (0: not said)."""

    file: str
    line: int
    column: int
    text: str

    def key(self, lines: Sequence[str]) -> tuple[str, str]:
        """What stays the same when the finding moves with its line: the words without numbers, and the line's own text."""
        there = lines[self.line - 1].strip() if 0 < self.line <= len(lines) else ""
        return _NUMBER.sub("#", self.text), there


Parser: TypeAlias = Callable[[str], Iterator[Finding]]

_NUMBER = re.compile(r"\d+")
_LINE = re.compile(
    r"^(?P<file>(?:[A-Za-z]:)?[^:\n]{1,4096}):(?P<line>\d{1,9}):(?:(?P<column>\d{1,9}):?)?[ \t]*(?P<text>\S[^\n]*)$", re.MULTILINE
)
_ANNOTATION = re.compile(r"^::(?:error|warning|notice) (?P<fields>[^\n]*?)::(?P<text>[^\n]*)$", re.MULTILINE)
_FIELD = re.compile(r"(\w+)=([^,]*)")
_ESCAPES = {"%0A": " ", "%0D": " ", "%3A": ":", "%2C": ",", "%25": "%"}


def in_lines(output: str) -> Iterator[Finding]:
    """``file:line:column: text``, as compilers and most linters print it."""
    for found in _LINE.finditer(output):
        yield Finding(found["file"], int(found["line"]), int(found["column"] or 0), found["text"])


def in_annotations(output: str) -> Iterator[Finding]:
    """``::error title=...,file=...,line=...::text``, GitHub's workflow commands (Biome)."""
    for found in _ANNOTATION.finditer(output):
        said = {key: _plain(value) for key, value in _FIELD.findall(found["fields"])}
        text = f"{said.get('title', '')} {_plain(found['text'])}".strip()
        yield Finding(said.get("file", ""), _count(said.get("line")), _count(said.get("col")), text)


def in_eslint_json(output: str) -> Iterator[Finding]:
    """ESLint's JSON; a message without a line is about the run and not about the file."""
    try:
        files, _ = json.JSONDecoder().raw_decode(output.lstrip())  # warnings of Node.js may follow
    except (ValueError, RecursionError):
        return
    for file in files if isinstance(files, list) else ():
        messages = file.get("messages") if isinstance(file, dict) else None
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict) and _count(message.get("line")):
                text = f"{message.get('ruleId') or 'error'} {message.get('message')}"
                yield Finding(str(file.get("filePath")), _count(message["line"]), _count(message.get("column")), text)


def brought_in(new: Sequence[Finding], old: Sequence[Finding] | None, before: str, now: str) -> list[Finding]:
    """The findings of the text ``now`` that the text ``before`` did not have, in their given order.

    ``old`` are the findings of ``before``; where they are not known (``None``), it is those on lines that are new.
    """
    changed = changed_lines(before, now)
    if old is None:
        return [finding for finding in new if finding.line in changed]
    there, lines = before.splitlines(), now.splitlines()
    known = Counter(finding.key(there) for finding in old)
    fresh: set[int] = set()
    for index in sorted(range(len(new)), key=lambda index: new[index].line in changed):  # what stayed has the older right
        key = new[index].key(lines)
        if known[key]:
            known[key] -= 1
        else:
            fresh.add(index)
    return [new[index] for index in sorted(fresh)]


def changed_lines(before: str, now: str) -> set[int]:
    """Numbers, from 1, of the lines of ``now`` that ``before`` did not have; a line that only moved is not among them."""
    old, new = before.splitlines(), now.splitlines()
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    tail = next((index for index in range(shorter - head) if old[-1 - index] != new[-1 - index]), shorter - head)
    known = Counter(old[head : len(old) - tail])
    changed: set[int] = set()
    for number, line in enumerate(new[head : len(new) - tail], head + 1):
        if known[line]:
            known[line] -= 1
        else:
            changed.add(number)
    return changed


def _plain(text: str) -> str:
    for escape, letter in _ESCAPES.items():
        text = text.replace(escape, letter)
    return text


def _count(value: Any) -> int:
    try:
        return max(0, int(value))
    except (TypeError, ValueError, OverflowError):
        return 0
