"""Shell words as text: what quoting, braces and splitting make of them.

While a word is put together, a character that quoting made plain carries ``PLAIN`` before it, and text that only the
running shell can know starts with ``DYNAMIC`` and, within a word, stops at ``END``. None of these is part of a real argument.
"""

import re
from itertools import pairwise, product

PLAIN = "\0"
DYNAMIC = "\1"
END = "\2"
MOST = 64
"""How many words one word may become."""
LONGEST_TEXT = 1 << 20
"""How long a text may grow before its end is called unknown."""

_SPECIAL = re.compile(r"[\s*?\[\]{},~\\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_WINDOWS = re.compile(r"(?:[A-Za-z]:|[\w.-]+)(?:\\[\w.-]+)+|\.{1,2}(?:\\[\w.-]+)+")
_INNER = re.compile(rf"(?<=[\w.-]){DYNAMIC}[^{END}{DYNAMIC}]*{END}(?=[\w.-])")
_BLANK = re.compile(r"(?<!\0)[ \t\n]+")
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|0?[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_CHARS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def names(text: str) -> list[str]:
    """Return the words of a table's line."""
    return text.split()


def quoted(text: str) -> str:
    """Mark every special character of the text as plain."""
    return _SPECIAL.sub(lambda found: PLAIN + found[0], text.replace(PLAIN, ""))


def bare(text: str) -> list[str]:
    """Mark what backslashes make plain in an unquoted word; one that reads like a Windows path may be meant as such."""
    if "\\" not in text:
        return [text]
    marked = _ESCAPED.sub(lambda found: "" if found[1] == "\n" else PLAIN + found[1], text)
    return [marked, text.replace("\\", "/")] if _WINDOWS.fullmatch(text) else [marked]


def in_double_quotes(text: str) -> str:
    """Return the text that stands between double quotes as the program gets it."""
    return re.sub(r'\\([$`"\\\n])', lambda found: "" if found[1] == "\n" else found[1], text) if "\\" in text else text


def split_values(text: str) -> str:
    """Mark the value of an unquoted expansion: it is split and globbed, but its braces and tildes are plain."""
    return re.sub(r"[{},~\\]", lambda found: PLAIN + found[0], text.replace(PLAIN, ""))


def ansi(text: str) -> str:
    """Decode the inside of ``$'...'`` (and of ``printf``'s first word)."""
    return _ANSI.sub(lambda found: _ansi_char(found[1]), text) if "\\" in text else text


def _ansi_char(code: str) -> str:
    if code[0] in "xuU" and len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c" and len(code) > 1:
        return chr(ord(code[1]) & 0x1F)
    return _ANSI_CHARS.get(code, code)


def joined(parts: list[list[str]]) -> list[str]:
    """Return every way to put one alternative of each part together, up to ``MOST``."""
    if all(len(part) == 1 for part in parts):
        return [limited("".join(part[0] for part in parts), LONGEST_TEXT)]
    return [limited("".join(choice), LONGEST_TEXT // MOST) for choice, _ in zip(product(*parts), range(MOST), strict=False)]


def limited(text: str, most: int) -> str:
    """Cut a text that is too long, and mark its end as unknown."""
    return text if len(text) <= most else text[:most] + DYNAMIC


def finished(marked: str) -> list[str]:
    """Return the words that a marked word becomes: braces expanded, split at blanks, marks dropped."""
    if DYNAMIC in marked and (without := _INNER.sub("", marked)) != marked:
        # What stands in the middle of a name may well be nothing: .e${x}nv
        return [*_finished(marked), *_finished(without)]
    return _finished(marked)


def _finished(marked: str) -> list[str]:
    braced = dict.fromkeys(_braces(marked)) if "{" in marked else [marked]
    return [plain(piece) for word in braced for piece in (_BLANK.split(word) if _BLANK.search(word) else [word])]


def plain(marked: str) -> str:
    """Drop the marks of quoting."""
    return marked.replace(PLAIN, "") if PLAIN in marked else marked


def shown(text: str) -> str:
    """Drop the marks of what is not known, for people to read."""
    return text.replace(DYNAMIC, "").replace(END, "") if DYNAMIC in text or END in text else text


def is_dynamic(text: str) -> bool:
    """Whether a part of the text is known to the running shell only."""
    return DYNAMIC in text


def _braces(marked: str) -> list[str]:
    words, done = [marked], list[str]()
    while words and len(words) + len(done) <= MOST:
        word = words.pop(0)
        group = _group(word)
        if group is None:
            done.append(word)
            continue
        start, end, choices = group
        words[:0] = [word[:start] + choice + word[end + 1 :] for choice in choices]
    return done + words


def _group(word: str) -> tuple[int, int, list[str]] | None:
    """Find the first ``{a,b}`` or ``{a..c}`` that is not quoted."""
    opened: list[tuple[int, list[int]]] = []
    for at, char in enumerate(word[:4096]):
        if at and word[at - 1] == PLAIN:
            continue
        if char == "{":
            opened.append((at, []))
        elif char == "," and opened:
            opened[-1][1].append(at)
        elif char == "}" and opened:
            start, commas = opened.pop()
            choices = _choices(word, start, at, commas)
            if choices:
                return start, at, choices
    return None


def _choices(word: str, start: int, end: int, commas: list[int]) -> list[str]:
    if commas:
        edges = [start, *commas, end]
        return [word[left + 1 : right] for left, right in pairwise(edges)]
    ends = re.fullmatch(r"(\d{1,4}|[A-Za-z])\.\.(\d{1,4}|[A-Za-z])", word[start + 1 : end])
    if not ends or ends[1].isdigit() != ends[2].isdigit():
        return []
    if ends[1].isdigit():
        low, high = sorted((int(ends[1]), int(ends[2])))
        return [str(number) for number in range(low, high + 1)][:MOST]
    low, high = sorted((ord(ends[1]), ord(ends[2])))
    return [chr(code) for code in range(low, high + 1)]


_DIGITS = str.maketrans("0123456789abcdef", "".join(map(chr, range(0xC0, 0xD0))))
_BACK = {new: old for old, new in _DIGITS.items()}
_OTHERS = re.compile(r"[^\x00-\x7f]+")
_SHELTERED = re.compile("\xff([\xc0-\xcf]+)\xfe")


def sheltered(text: str) -> bytes:
    """The text for the parser, everything but ASCII written in letters below U+0100.

    tree-sitter-bash 0.25 asks the C library's ``isalnum`` about any character after ``{``; beyond U+00FF that reads outside of a table, and
    ends the process.
    """
    return _OTHERS.sub(lambda run: f"\xff{run[0].encode('utf-8', 'replace').hex().translate(_DIGITS)}\xfe", text).encode()


def unsheltered(text: bytes) -> str:
    """The text as it was before ``sheltered``; half of an escape becomes a replacement character."""
    return _SHELTERED.sub(lambda run: bytes.fromhex(run[1].translate(_BACK)).decode("utf-8", "replace"), text.decode("utf-8", "replace"))
