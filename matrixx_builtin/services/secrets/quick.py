"""Run our own rules over a text; what they find is a span, a rule and a severity."""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .judgement import SHORTEST_VALUE, assigned_severity, basic_login, login_severity, token_severity
from .rules import (
    BARE,
    BASE64_CHARACTERS,
    BASE64_RUN,
    BESIDE,
    FLAG_LOGIN,
    KEYWORDS,
    NAME_CHARACTERS,
    PEM_BODY,
    PEM_HEADER,
    QUOTED,
    SHORTEST_BASE64,
    TOKEN_RULES,
    URL_LOGIN,
    Severity,
    TokenRule,
    assignment,
)

LONGEST_PEM = 32_768
"""Characters after a key's header within which its end is looked for; a 16,384 bit RSA key takes 12,700."""


class Span(NamedTuple):
    """A piece of a text that is a secret. ``rank`` tells, of two that overlap, which names it better (lower does)."""

    start: int
    end: int
    rank: int
    rule: str
    description: str
    severity: Severity
    value: str


def quick_spans(text: str) -> Iterator[Span]:
    """All secrets that our own rules see."""
    for rule in TOKEN_RULES:
        for match in rule.pattern.finditer(text):
            yield from token_spans(rule, match)
    yield from structural_spans(text, {"private-key": [], "login": [], "assignment": [range(len(text))]})


def structural_spans(text: str, clues: Mapping[str, Sequence[range]]) -> Iterator[Span]:
    """Secrets told by what stands around them, where there are clues of their kinds; assignments within these ranges only."""
    if "private-key" in clues:
        yield from _private_keys(text)
    if "login" in clues:
        yield from _logins(text)
    yield from _assignments(text, clues.get("assignment", ()))


def token_spans(rule: TokenRule, match: re.Match[str] | None) -> Iterator[Span]:
    """The match as a finding, unless it is a placeholder."""
    if match and (severity := token_severity(match[0])):
        worst: Severity = "warn" if "warn" in {severity, rule.severity} else "block"
        yield Span(match.start(), match.end(), 0, rule.id, rule.description, worst, match[0])


def unwrapped(text: str) -> Iterator[tuple[int, int, str]]:
    """The plausible base64 runs of a text: where each is, and the text in it. One layer, never more than the run itself."""
    marks = _ascii(text).translate(_BASE64_MARKS)
    wanted, place = b"+" * SHORTEST_BASE64, 0
    while (start := marks.find(wanted, place)) >= 0:
        match = BASE64_RUN.match(text, start)
        if match is None:
            return
        place = match.end()
        inner = _decoded(match[0])
        if inner:
            yield start, match.end(), inner


def ascii_lower(text: str) -> str:
    """Lower case that keeps every position: ``str.lower`` would lengthen some letters."""
    return text.lower() if text.isascii() else _ascii(text).lower().decode("ascii")


def _ascii(text: str) -> bytes:
    return text.encode("ascii", "replace")


_BASE64_MARKS = bytes(ord("+") if chr(code) in BASE64_CHARACTERS else ord(" ") for code in range(256))


def _decoded(run: str) -> str:
    """The text in a run; a word that touches the run (``path/…``) shifts it, so each of the four alignments is tried."""
    packed = "".join(run.split()).translate(_URL_SAFE)
    for shift in range(4):
        piece = packed[shift : len(packed) - ((len(packed) - shift) % 4 == 1)]
        try:
            data = base64.b64decode(piece + "=" * (-len(piece) % 4))
        except (binascii.Error, ValueError):
            continue
        if len(data.translate(None, _UNPRINTABLE)) >= 0.9 * len(data):
            return data.decode("utf-8", "replace")
    return ""


_URL_SAFE = str.maketrans("-_", "+/")
_UNPRINTABLE = bytes(code for code in range(256) if not (32 <= code < 127 or code in b"\t\n\r"))


def _private_keys(text: str) -> Iterator[Span]:
    place = 0
    while header := PEM_HEADER.search(text, place):
        place = header.end()
        body = PEM_BODY.match(text, place)
        if body is None or token_severity(body[1]) is None:
            continue
        dashes = text.find("-----", body.end(), place + LONGEST_PEM)
        end = text.find("-----", dashes + 5, dashes + 60) + 5 if text.startswith("-----END", dashes) else -1
        place = max(end, body.end())
        yield Span(header.start(), place, 0, "private-key", "private key", "block", text[header.start() : place])


def _logins(text: str) -> Iterator[Span]:
    for match in URL_LOGIN.finditer(text):
        if severity := login_severity(match[1], match[2], match[3], text[max(0, match.start() - 5) : match.start()]):
            yield Span(match.start(2), match.end(2), 1, "url-password", "password in an address", severity, match[2])
    for match in FLAG_LOGIN.finditer(text):
        if severity := login_severity(match[1], match[2]):
            yield Span(match.start(2), match.end(2), 1, "login-flag", "password in a -u flag", severity, match[2])


def _assignments(text: str, where: Iterable[range]) -> Iterator[Span]:
    low = ascii_lower(text) if where else ""
    for piece in where:
        for word in KEYWORDS:
            yield from _assignments_of(word, assignment(word).finditer(low, piece.start, piece.stop), text)


def _assignments_of(word: str, matches: Iterable[re.Match[str]], text: str) -> Iterator[Span]:
    for match in matches:
        start = match.end()
        quoted = text[start - 1] in "\"'`"
        value = (QUOTED if quoted else BARE).match(text, start)
        if value is None or value.end() - start < SHORTEST_VALUE or not (quoted or _is_literal(text, start, value.end())):
            continue
        head = _name_before(text, match.start())
        if match["comma"] and text[max(0, match.start() - len(head) - 2) : match.start()][:1] != "(":
            continue
        tail = text[match.start() : match.start() + 48]
        name = head + tail[: len(word)] + _leading(tail[len(word) :])
        severity = _assigned_severity(name, value[0], (match["scheme"] or "").strip(), quoted=quoted)
        if severity and (match["gap"] is None or head.startswith("-") or (severity == "block" and (quoted or BESIDE.fullmatch(value[0])))):
            yield Span(start, value.end(), 3, "assigned-credential", "value given to a credential's name", severity, value[0])


def _is_literal(text: str, start: int, end: int) -> bool:
    """Whether an unquoted value can be one: what is called, indexed, or an argument, is code."""
    return text[start - 1] != "(" and text[end : end + 1] not in _CALLS


def _assigned_severity(name: str, value: str, scheme: str, *, quoted: bool) -> Severity | None:
    login = basic_login(value) if scheme == "basic" else None
    return login_severity(*login) if login else assigned_severity(name, value, quoted=quoted)


_CALLS = ("(", "[", "{")


def _name_before(text: str, place: int) -> str:
    r"""The name's part before a keyword, without an escape (``\n``) or a percent sequence that only looks like a part of it."""
    before = text[max(0, place - 40) : place]
    head = before[len(before.rstrip(NAME_CHARACTERS)) :]
    mark = before[-len(head) - 1 : -len(head) or None][:1]
    if mark == "\\" and head[:1] in ("n", "r", "t"):
        return head[1:]
    return head[2:] if mark == "%" else head


def _leading(text: str) -> str:
    return text[: len(text) - len(text.lstrip(NAME_CHARACTERS))]


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """The spans in order of place; of those that overlap the worst, and of equally bad ones the best named."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.rank)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
        elif _better(span) < _better(kept[-1]):
            kept[-1] = span
    return kept


def _better(span: Span) -> tuple[bool, int]:
    return (span.severity != "block", span.rank)
