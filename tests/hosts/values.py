"""What stands for ``{{NAME}}`` in a scenario: made anew for every run, so that no secret-like text lies in the repository."""

import secrets
import string
import zlib

ALPHANUMERIC = string.digits + string.ascii_uppercase + string.ascii_lowercase


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
