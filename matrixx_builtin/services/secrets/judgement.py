"""Tell a secret from a placeholder, a digest, a variable and a word."""

import base64
import binascii
import math
from collections import Counter
from itertools import pairwise

from .rules import (
    CREDENTIAL_ENDINGS,
    CREDENTIAL_WORDS,
    DIGEST,
    EXPRESSION,
    HARMLESS_ENDINGS,
    KEY_OWNERS,
    LOCAL_HOSTS,
    MOCK_WORDS,
    NAME_WORD,
    PLACEHOLDER_WORDS,
    PUBLIC_JWT,
    PUBLIC_SAMPLES,
    SEQUENCES,
    UUID,
    VARIABLE,
    WEAK_PASSWORD,
    Severity,
)

SHORTEST_VALUE = 6
"""A shorter value of an assignment is no secret worth a word."""
SHORTEST_MIXED, SHORTEST_PLAIN = 12, 16
"""From these lengths a random value is refused: with three kinds of characters, with two."""
LONGEST_WORDS = 64
"""Longer values that are not random are text, not a password."""
RANDOM_CHANGES = 0.24
"""Changes between kinds of characters per step, from which text counts as random: base62 has about 0.5, hex 0.47, camelCase 0.18."""
RANDOM_ENTROPY = 2.9
"""Bits per character that a random value has at least: 16 random hex digits have 3.0 or more nine times in ten."""
POOREST = 2.5
"""Bits per character under which a token is a pattern, not a secret; 32 random hex digits have about 3.6."""


def entropy(text: str) -> float:
    """Shannon entropy in bits per character."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values()) if text else 0.0


def is_placeholder(value: str) -> bool:
    """Whether the value only stands for a secret: a word for it, a template, a keyboard run, a filler."""
    if VARIABLE.fullmatch(value) or value.startswith(PUBLIC_JWT) or value in PUBLIC_SAMPLES:
        return True
    low = value.lower()
    return (
        any(word in low for word in PLACEHOLDER_WORDS)
        or any(run in low for run in SEQUENCES)
        or entropy(value) < min(POOREST, len(value) / 6)
    )


def token_severity(value: str) -> Severity | None:
    """How bad a token of a known shape is; ``None``: a placeholder of that shape."""
    if value.startswith("eyJ"):
        return _jwt_severity(value)
    return None if is_placeholder(value) else "block"


def assigned_severity(name: str, value: str, *, quoted: bool) -> Severity | None:
    """How bad it is to give this value to something of this name; ``None``: not at all."""
    if len(value) < SHORTEST_VALUE or (not quoted and _is_code(value)) or any(mark in value for mark in _NOT_IN_VALUES):
        return None
    if len(value) > LONGEST_WORDS and not looks_random(value):
        return None
    if not is_credential_name(name) or WEAK_PASSWORD.fullmatch(value) or value.lower() == name.lower():
        return None
    if DIGEST.match(value) or is_placeholder(value):
        return None
    if (inner := packed_text(value)) is not None:
        return assigned_severity(name, inner, quoted=True)
    low = value.lower()
    return "block" if looks_random(value) and not any(word in low for word in MOCK_WORDS) else "warn"


_NOT_IN_VALUES = (" ", "\t", "://", "()")


def login_severity(user: str, password: str, host: str = "", scheme: str = "") -> Severity | None:
    """How bad a password beside a user name is, in an address or a ``-u`` flag."""
    if is_placeholder(password) or WEAK_PASSWORD.fullmatch(password) or password.lower() == user.lower() or len(password) < 4:
        return None
    if looks_random(password):
        return "block"
    return "warn" if host.lower() in LOCAL_HOSTS or not host or scheme.endswith(("http", "https")) else "block"


def looks_random(value: str) -> bool:
    """Whether a machine drew the value: long enough, several kinds of characters, changing often."""
    kinds = value.encode("ascii", "replace").translate(_KINDS, _SYMBOLS)
    used = len(set(kinds)) + (len(kinds) < len(value))
    with_digits = b"0" in kinds
    shortest = SHORTEST_MIXED if used >= 3 and with_digits else SHORTEST_PLAIN if with_digits else 2 * SHORTEST_PLAIN
    if len(value) < shortest or len(set(kinds)) < 2 or _changes(kinds) < RANDOM_CHANGES * (len(kinds) - 1):
        return False
    return entropy(value) >= RANDOM_ENTROPY and not UUID.fullmatch(value)


def _kind(code: int) -> int:
    return ord("0") if 48 <= code < 58 else ord("A") if 65 <= code < 91 else ord("a")


_KINDS = bytes(map(_kind, range(256)))
_SYMBOLS = bytes(code for code in range(256) if not chr(code).isalnum() or code > 127)


def is_credential_name(name: str) -> bool:
    """Whether a variable, key, flag or header of this name holds a credential."""
    words = [word.lower() for word in NAME_WORD.findall(name[:120])]
    if not words or words[-1] in HARMLESS_ENDINGS or "public" in words:
        return False
    if any(word in CREDENTIAL_WORDS or word.endswith(CREDENTIAL_ENDINGS) for word in words):
        return True
    return any(later == "key" and earlier in KEY_OWNERS for earlier, later in pairwise(words))


def basic_login(encoded: str) -> tuple[str, str] | None:
    """The user and password of a ``Basic`` authorization."""
    try:
        user, colon, password = base64.b64decode(encoded + "==").decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return (user, password) if colon else None


def packed_text(value: str) -> str | None:
    """The text that a value is the base64 of, as Kubernetes writes its secrets; ``None``: it is something else."""
    if len(value) < SHORTEST_PLAIN or len(value) % 4 or not value.removesuffix("=").removesuffix("=").isalnum():
        return None
    try:
        inner = base64.b64decode(value, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return inner if inner.isprintable() else None


def _jwt_severity(value: str) -> Severity | None:
    payload = value.split(".")[1] if value.count(".") >= 2 else ""
    if payload.startswith(PUBLIC_JWT) or entropy(value) < POOREST:
        return None
    try:
        claims = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    except (binascii.Error, ValueError):
        return "block"
    return "warn" if b'"role":"anon"' in claims.replace(b" ", b"") else "block"


def _is_code(value: str) -> bool:
    """Whether an unquoted value is an expression or a word of prose; one with a digit in it is neither for sure."""
    return EXPRESSION.fullmatch(value) is not None and not any(map(str.isdigit, value))


def _changes(kinds: bytes) -> int:
    """Steps from one kind to another; the capital that begins a word counts once, with the step into it."""
    return sum(map(kinds.count, (b"0a", b"0A", b"a0", b"A0", b"aA", b"AAa")))
