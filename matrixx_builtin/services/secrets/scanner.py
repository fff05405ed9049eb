"""Find secrets in decoded text: our own rules always, kingfisher's as soon as they are loaded."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import anyio.to_thread

from .engine import KINGFISHER
from .judgement import assigned_severity, entropy, is_placeholder, looks_random
from .quick import Span, quick_spans, unwrapped, without_overlaps
from .rules import DIGEST, UUID, Severity

INLINE = 64 * 1024
"""Characters that are scanned at once on the caller's thread (kingfisher takes 0.16 ms for 50 KB); more goes to a worker thread."""
ENOUGH = 100
"""Secrets after which a text is not searched any further."""
DEEPEST = 32
"""Levels of lists and mappings that are looked into; no host's tool nests its arguments deeper than five."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret: which rule saw it, and where. ``value`` stays out of the repr, and belongs in no message."""

    rule: str
    description: str
    field: str
    line: int
    start: int
    end: int
    value: str = dataclasses.field(repr=False)
    severity: Severity = "block"

    @property
    def where(self) -> str:
        """Rule, field and line, for a reason."""
        return f"{self.rule} in {self.field or 'the text'}, line {self.line}"


def scan(text: str, field: str = "") -> tuple[Finding, ...]:
    """Find the secrets of one decoded text, in order of place; for up to 64 KiB (``INLINE``), more belongs in ``scan_all``."""
    return scan_with(text, field, kingfisher=KINGFISHER.ready)


def scan_with(text: str, field: str = "", *, kingfisher: bool) -> tuple[Finding, ...]:
    """As ``scan``, with our own rules alone or with kingfisher's (where they are loaded)."""
    spans = list(_enough(KINGFISHER.spans(text) if kingfisher and KINGFISHER.ready else quick_spans(text)))
    for start, end, inner in unwrapped(text):
        spans += [span._replace(start=start, end=end, rank=span.rank + 4) for span in quick_spans(inner)]
        if len(spans) >= ENOUGH:
            break
    return tuple(_located(text, field, without_overlaps(spans))) if spans else ()


def scan_fields(fields: Mapping[str, str]) -> tuple[Finding, ...]:
    """Find the secrets of named texts; the name of a field may itself make its text a credential."""
    return tuple(finding for name, text in fields.items() for finding in (*scan(text, name), *_named(name, text)))


async def scan_all(fields: Mapping[str, str]) -> tuple[Finding, ...]:
    """Find the secrets of named texts of any size; over 64 KiB in all a worker thread does it."""
    KINGFISHER.warm()
    if sum(map(len, fields.values())) <= INLINE:
        return scan_fields(fields)
    return await anyio.to_thread.run_sync(scan_fields, fields, abandon_on_cancel=True)


def strings_of(value: object) -> dict[str, str]:
    """All texts of a tool's arguments by their path (``edits[0].newString``), decoded as the tool gets them; keys are texts too."""
    found: dict[str, str] = {}
    todo: list[tuple[str, object, int]] = [("", value, 0)]
    while todo:
        path, item, depth = todo.pop()
        if isinstance(item, str):
            found[path] = item
        elif depth > DEEPEST:
            found[path] = str(item)
        elif isinstance(item, Mapping):
            inside = cast("Mapping[object, object]", item)
            found |= {f"{path}{{key {place}}}": str(key) for place, key in enumerate(inside) if not _is_tame(key)}
            todo += [(f"{path}.{_tame(key)}" if path else _tame(key), inner, depth + 1) for key, inner in reversed(list(inside.items()))]
        elif isinstance(item, Sequence) and not isinstance(item, bytes | bytearray):
            listed = list(enumerate(cast("Sequence[object]", item)))
            todo += [(f"{path}[{place}]", inner, depth + 1) for place, inner in reversed(listed)]
    return found


def random_words(text: str, threshold: float, field: str = "") -> tuple[Finding, ...]:
    """Words that look drawn at random though nothing names them: warnings, for text that a person has typed."""
    spans = [
        Span(match.start(), match.end(), 9, "high-entropy-token", "random-looking word", "warn", match[0])
        for match in _WORD.finditer(text)
        if looks_random(match[0]) and entropy(match[0]) >= threshold and not _is_ordinary(match[0])
    ]
    return tuple(_located(text, field, spans))


_WORD = re.compile(r"[A-Za-z0-9+/=_-]{20,512}+", re.ASCII)


def _is_ordinary(word: str) -> bool:
    return bool(is_placeholder(word) or DIGEST.match(word) or UUID.fullmatch(word) or word.count("/") > len(word) / 20)


def _enough(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans, until there are more to refuse a text for than anybody will read."""
    bad = 0
    for span in spans:
        yield span
        bad += span.severity == "block"
        if bad >= ENOUGH:
            return


def _located(text: str, field: str, spans: Iterable[Span]) -> Iterator[Finding]:
    line, counted = 1, 0
    for span in spans:
        line += text.count("\n", counted, span.start)
        counted = span.start
        yield Finding(span.rule, span.description, field, line, span.start, span.end, span.value, span.severity)


def _named(name: str, text: str) -> Iterator[Finding]:
    """The whole text as the value of its field's name: ``env.DB_PASSWORD``."""
    severity = assigned_severity(name.rpartition(".")[2], text, quoted=True) if len(text) <= 512 and "\n" not in text else None
    if severity:
        yield Finding("assigned-credential", "value given to a credential's name", name, 1, 0, len(text), text, severity)


def _is_tame(key: object) -> bool:
    return isinstance(key, str) and len(key) <= 64 and key.replace("_", "a").replace("-", "a").isalnum() and not looks_random(key)


def _tame(key: object) -> str:
    return str(key) if _is_tame(key) else "…"
