"""What stands for ``{{NAME}}`` in a scenario: made anew for every run, so that no secret-like text lies in the repository."""

import re
import secrets
import string
import zlib
from typing import TypeVar

T = TypeVar("T")

ALPHANUMERIC = string.digits + string.ascii_uppercase + string.ascii_lowercase
NAME = re.compile(r"\{\{([A-Z0-9_]+)\}\}")


def random_text(length: int, alphabet: str = ALPHANUMERIC) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


def github_token() -> str:
    """A classic token with the right checksum: six base-62 digits of the CRC-32 of the thirty before."""
    entropy = random_text(30)
    number, digits = zlib.crc32(entropy.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = ALPHANUMERIC[digit] + digits
    return f"ghp_{entropy}{digits}"


def stripe_key() -> str:
    """A live secret key of Stripe."""
    return f"sk_live_{random_text(24)}"


def made_values() -> dict[str, str]:
    """Fresh values for one run."""
    return {"GITHUB_TOKEN": github_token(), "STRIPE_KEY": stripe_key()}


def filled(value: T, values: dict[str, str]) -> T:
    """The value with every ``{{NAME}}`` inside it replaced; raises ``KeyError`` for a name that stands for nothing."""
    if isinstance(value, str):
        return NAME.sub(lambda found: values[found[1]], value)  # type: ignore[return-value]  # str in, str out
    if isinstance(value, dict):
        return {filled(key, values): filled(one, values) for key, one in value.items()}  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return type(value)(filled(one, values) for one in value)
    return value
