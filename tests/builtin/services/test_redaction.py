"""What logs, toasts and reasons show of a secret."""

import pytest
from builtin.services.secret_samples import SECRETS, Maker, containers
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixx_builtin.services.redaction import MARK, fingerprint, mask, redact
from matrixx_builtin.services.secrets.scanner import scan_with

NAMES = ("github classic", "anthropic", "jwt", "generic password", "short password", "postgres url", "openssh", "aws pair")


@pytest.mark.parametrize("name", SECRETS)
def test_no_part_of_a_secret_longer_than_its_ends_is_left(name: str) -> None:
    for seed in range(3):
        secret = SECRETS[name](Maker(seed))
        for text in containers(secret).values():
            shown = redact(text)
            assert MARK in shown, text
            assert all(finding.value not in shown for finding in scan_with(text, kingfisher=False))


@pytest.mark.parametrize(
    ("value", "shown"),
    [("", f"…{MARK}"), ("12345678", f"…{MARK}"), ("123456789", f"1234…6789{MARK}"), ("abcdefghijkl", f"abcd…ijkl{MARK}")],
)
def test_a_long_value_keeps_its_ends_and_a_short_one_nothing(value: str, shown: str) -> None:
    assert mask(value) == shown


def test_a_private_key_keeps_its_header_line() -> None:
    key = Maker(1).pem("RSA ")
    assert redact(f"a\n{key}\nb") == f"a\n{key.splitlines()[0]}\n…{MARK}\nb"


def test_a_value_is_hidden_wherever_else_it_stands() -> None:
    value = Maker(2).body(20)
    assert value not in redact(f"DB_PASSWORD={value}\nand once more: {value}, {value}")


def test_redacting_twice_changes_nothing_more() -> None:
    text = "\n".join(SECRETS[name](Maker(3)) for name in NAMES)
    assert redact(redact(text)) == redact(text)


def test_ordinary_text_is_left_as_it_is() -> None:
    assert redact("token count: 12, see https://example.org/a?b=c") == "token count: 12, see https://example.org/a?b=c"


def test_fingerprints_tell_values_apart_by_all_of_them() -> None:
    one, other = "abcd" + "1" * 20 + "wxyz", "abcd" + "2" * 20 + "wxyz"
    assert mask(one) == mask(other)
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(one) == fingerprint(one)
    assert one not in fingerprint(one) and len(fingerprint("\ud800")) == 64


PIECES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "password=",
            '"api_key": "',
            "://u:",
            "@h",
            "Bearer ",
            " -u a:",
            "\\n",
            "%3D",
            "=",
            "é",
            "\ud800",
            "\0",
            "-----BEGIN PRIVATE KEY-----\n",
        ]
    ),
    st.builds(lambda name, seed: SECRETS[name](Maker(seed)), st.sampled_from(sorted(SECRETS)), st.integers(0, 50)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_any_text_is_scanned_and_redacted_without_an_error_and_no_found_secret_is_left(text: str) -> None:
    shown = redact(text)
    for finding in scan_with(text, kingfisher=False):
        assert finding.value not in shown
        assert 0 <= finding.start < finding.end <= len(text)
        assert finding.line == text.count("\n", 0, finding.start) + 1
        assert finding.value not in repr(finding)
