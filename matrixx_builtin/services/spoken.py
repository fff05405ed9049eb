"""What a person says in a prompt, apart from what they paste: words that switch something on count only there."""

import re
from collections.abc import Iterator

_REMINDER = re.compile(r"<(/?)system-reminder\b[^<>]{0,200}>", re.IGNORECASE)
_FENCE = re.compile("```")
_INLINE = re.compile(r"`[^`\n]{1,500}`")

LOOKED_AT = 20_000
"""Characters of a prompt that are searched for words; behind that stands pasted text, not a wish."""

START, END = r"(?<![\w./\\@:-])", r"(?![\w/\\-]|[.:@]\w)"
"""Around a word on its own: no part of a path, a file name or an option."""


def spoken(text: str) -> str:
    """The text without reminders, fenced and inline code."""
    text = "".join(_outside(text[:LOOKED_AT], _REMINDER))
    return _INLINE.sub(" ", "".join(_outside(text, _FENCE)))


def _outside(text: str, mark: re.Pattern[str]) -> Iterator[str]:
    """The pieces outside of marked blocks. A closing tag closes; a mark without closing form opens and closes in turn."""
    at, inside = 0, False
    for found in mark.finditer(text):
        closes = bool(found.group(1)) if mark.groups else inside
        if not inside:
            yield text[at : found.start()]
            yield " "
        at, inside = found.end(), not closes
    if not inside:
        yield text[at:]
