"""``LINE#ID`` anchors: a line's number and two letters of its content, so that an edit by a stale reader is noticed.

The ids are those of the seed, letter for letter (spec tool-hooks 2.15): prompts and models that know them keep working.
There are 256 of them, so about one wrong line in 256 passes: whoever replaces a file also checks that the file as a whole is
the one that was read.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from xxhash import xxh32_intdigest

LETTERS = "ZPMQVRWSNKTXJBYH"
"""One letter for each value of four bits (spec)."""

SPACE = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript calls white space; Python's own set has others."""

LONGEST = 200
"""Characters looked at for an anchor: what follows is the line's text."""

CONTEXT = 2
"""Lines shown on both sides of one that has changed (spec)."""

SAYS_SOMETHING = re.compile(r"[^\W_]")
"""A letter or a number of any script."""

ID = f"[{LETTERS}]{{2}}"
EXACT = re.compile(rf"([0-9]+)#({ID})")
EMBEDDED = re.compile(rf"(?<![\w#])([0-9]+)#({ID})(?![A-Za-z0-9])")
UNNUMBERED = re.compile(rf"(.*)#({ID})")
PREFIX = re.compile(rf"[ \t]*(?:>>>[ \t]*)?[0-9]{{1,9}}#{ID}\|")
_NO_SPACE = str.maketrans("", "", SPACE)


class AnchorError(ValueError):
    """An anchor is none, or does not fit the text; the message tells the model how to mend it."""


class StaleAnchors(AnchorError):
    """Lines have changed since they were read; the message shows them with fresh anchors."""


@dataclass(frozen=True, slots=True, order=True)
class Anchor:
    """A line, counted from 1, and the two letters that it had when it was read."""

    line: int
    id: str

    def __str__(self) -> str:
        return f"{self.line}#{self.id}"


def line_id(number: int, text: str) -> str:
    """The two letters of a line; one without any letter or number is bound to its place."""
    return _hashed(number, text.replace("\r", "").rstrip(SPACE))


def anchor(number: int, text: str) -> Anchor:
    """The anchor of a line as it is now."""
    return Anchor(number, line_id(number, text))


def fits(one: Anchor, text: str) -> bool:
    """Whether the line is still the one that was read; the seed's older ids, blind to all white space, count too."""
    return one.id == line_id(one.line, text) or one.id == _hashed(one.line, text.translate(_NO_SPACE))


def split(text: str) -> list[str]:
    """The lines as hosts count them: only a line feed ends one, and the last one need not be ended."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def tagged(number: int, line: str) -> str:
    """``N#ID|line``."""
    return f"{number}#{line_id(number, line)}|{line}"


def render(text: str) -> str:
    """The text with every line as ``N#ID|line``."""
    return "\n".join(tagged(number, line) for number, line in enumerate(split(text), 1))


def parse_anchor(given: str) -> Anchor:
    """An anchor out of what a model wrote: diff marks, blanks and the line's text around it are no fault.

    Raises ``AnchorError`` for what holds none.
    """
    cleaned = _cleaned(given)
    found = EXACT.fullmatch(cleaned) or EMBEDDED.search(cleaned)
    if found and len(found[1]) <= 9 and int(found[1]) > 0:
        return Anchor(int(found[1]), found[2])
    if unnumbered := UNNUMBERED.fullmatch(cleaned):
        raise AnchorError(f"{given[:80]!a}: {unnumbered[1][:40]!a} is no line number; write the line's number before #{unnumbered[2]}")
    raise AnchorError(f"{given[:80]!a} is no anchor; take it from the line as it was read: 12#{LETTERS[4]}{LETTERS[9]}")


def resolve(given: str, lines: Sequence[str]) -> Anchor:
    """``parse_anchor`` for these lines; the error names the line that has the id, where just one has."""
    try:
        return parse_anchor(given)
    except AnchorError as error:
        if found := UNNUMBERED.fullmatch(_cleaned(given)):
            holders = [number for number, line in enumerate(lines, 1) if line_id(number, line) == found[2]]
            if len(holders) == 1:
                raise AnchorError(f"{error}; did you mean {holders[0]}#{found[2]}?") from None
        raise


def check(anchors: Iterable[Anchor], lines: Sequence[str]) -> None:
    """Let only fresh anchors pass: raises ``AnchorError`` for one outside the text, ``StaleAnchors`` for changed lines."""
    wanted = sorted(set(anchors))
    if outside := [one for one in wanted if one.line > len(lines)]:
        raise AnchorError(f"{outside[0]} is outside the text, which has {len(lines)} lines; read it again")
    if stale := [one for one in wanted if not fits(one, lines[one.line - 1])]:
        raise StaleAnchors(
            f"{len(stale)} line{'s have' if len(stale) > 1 else ' has'} changed since it was read. Nothing was written. "
            f"These anchors are fresh, use them:\n{excerpt({one.line for one in stale}, lines)}"
        )


def excerpt(changed: Collection[int], lines: Sequence[str]) -> str:
    """These lines, marked ``>>>``, and those around them, with their anchors."""
    near = sorted({number for line in changed for number in range(line - CONTEXT, line + CONTEXT + 1) if 0 < number <= len(lines)})
    rows: list[str] = []
    for before, number in zip((0, *near), near, strict=False):
        if rows and number > before + 1:
            rows.append("    ...")
        rows.append(f"{'>>>' if number in changed else '   '} {tagged(number, lines[number - 1])}")
    return "\n".join(rows)


def _cleaned(given: str) -> str:
    start = given.strip()[:LONGEST].split("|", 1)[0]
    return re.sub(r"\s*#\s*", "#", re.sub(r"^(>>>|[+-])\s*", "", start)).strip()


def _hashed(number: int, text: str) -> str:
    value = xxh32_intdigest(_utf8(text), 0 if SAYS_SOMETHING.search(text) else number) & 0xFF
    return LETTERS[value >> 4] + LETTERS[value & 0xF]


def unanchored(lines: Sequence[str]) -> list[str]:
    """Lines without the anchors that a model copied along; only where most of them have one is that what happened."""
    filled = [line for line in lines if line.strip()]
    copied = [line for line in filled if PREFIX.match(line)]
    return [PREFIX.sub("", line, count=1) for line in lines] if copied and 2 * len(copied) >= len(filled) else list(lines)


def whole(text: str) -> str:
    """The text with every half of a surrogate pair made U+FFFD, so that it can be written anywhere."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _utf8(text: str) -> bytes:
    """As JavaScript encodes it: half a surrogate pair is U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return whole(text).encode()
