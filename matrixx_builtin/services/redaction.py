"""Keep secrets out of what people and models read: logs, traces, toasts, reasons."""

import hmac
import secrets as randomness

from .secrets.quick import quick_spans, unwrapped, without_overlaps

MARK = "[REDACTED]"
SHOWN = 4
"""Characters left at either end of a value of more than eight, enough to recognise which key it was."""

_KEY = randomness.token_bytes(32)


def redact(text: str) -> str:
    """Replace every secret that our own rules see (warnings too) by its masked form; never raises, linear in the text."""
    spans = [*quick_spans(text)]
    for start, end, inner in unwrapped(text):
        spans += [span._replace(start=start, end=end, value=text[start:end]) for span in quick_spans(inner)][:1]
    if not spans:
        return text
    pieces: list[str] = []
    place = 0
    for start, end in _merged([(span.start, span.end) for span in without_overlaps(spans)] + [(span.start, span.end) for span in spans]):
        pieces += [text[place:start], mask(text[start:end])]
        place = end
    return _without("".join([*pieces, text[place:]]), {span.value for span in spans})


def mask(value: str) -> str:
    """One value, masked: its first and last four characters when it has more than eight, a private key's header line."""
    if value.startswith("-----BEGIN"):
        header = value[: value.find("-----", 10) + 5]
        return f"{header}\n…{MARK}"
    return f"{value[:SHOWN]}…{value[-SHOWN:]}{MARK}" if len(value) > 2 * SHOWN else f"…{MARK}"


def fingerprint(value: str) -> str:
    """What tells two secrets apart without telling either: HMAC-SHA256 under a key that lives as long as this process."""
    return hmac.digest(_KEY, value.encode("utf-8", "surrogatepass"), "sha256").hex()


MOST_REPEATED = 32
"""Values that are looked for a second time outside the places where a rule saw them; keeps the work linear."""


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _without(text: str, values: set[str]) -> str:
    for value in sorted(values, key=len, reverse=True)[:MOST_REPEATED]:
        if value in text:
            text = text.replace(value, mask(value))
    return text
