"""What the functions of programming languages do with a path."""

import pytest

from matrixx_builtin.services.effects.calls import CALLS, call_named, is_mode, mode_role, only_speaks
from matrixx_builtin.services.effects.ledger import ROLES


@pytest.mark.parametrize(
    ("mode", "role"),
    [
        ("r", "r"),
        ("rb", "r"),
        ("w", "w"),
        ("wb", "w"),
        ("x", "w"),
        ("a", "a"),
        ("ab+", "a"),
        ("r+", "b"),
        ("<", "r"),
        (">", "w"),
        (">>", "a"),
        ("+<", "b"),
        ("os.O_WRONLY", "w"),
        ("O_RDWR", "b"),
        ("O_APPEND", "a"),
        ("", "r"),
    ],
)
def test_a_mode_tells_the_role(mode: str, role: str) -> None:
    assert mode_role(mode) == role


def test_a_path_is_no_mode() -> None:
    assert is_mode("rb")
    assert is_mode(">")
    assert is_mode("<:utf8")
    assert not is_mode(".env")
    assert not is_mode("")


def test_some_names_need_their_owner() -> None:
    assert call_named("file.read")
    assert call_named("fs.writefilesync")
    assert call_named("stream.read") is None
    assert call_named("nothing") is None


def test_speaking_is_no_doing() -> None:
    assert only_speaks("console.log")
    assert not only_speaks("fs.unlink")


def test_every_role_is_known() -> None:
    assert {letter for call in CALLS.values() for letter in call.roles} <= {*ROLES, ">"}
