"""What is written down, once, as it is on the disk."""

from pathlib import Path

import pytest

from matrixx_builtin.services.effects.ledger import MOST, ROLES, Ledger


def test_the_same_thing_is_written_down_once() -> None:
    ledger = Ledger()
    for _ in range(3):
        ledger.touch("r", "a", ("/x",), "cat")
        ledger.run(("cat", "a"), "/x")
        ledger.fetch("https://a.example")
        ledger.doubt("code", "why")
    found = ledger.effects()
    assert (len(found.reads), len(found.runs), len(found.fetches), len(found.unknown)) == (1, 1, 1, 1)


@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_role_goes_to_its_lists(role: str) -> None:
    ledger = Ledger()
    ledger.touch(role, "a", ("/nowhere",), "how")
    found = ledger.effects()
    assert {kind for kind in ("reads", "writes", "deletes", "metadata") if getattr(found, kind)} == set(ROLES[role].kinds)


def test_a_move_is_in_three_lists() -> None:
    ledger = Ledger()
    ledger.move("a", "b", ("/x",), "mv")
    found = ledger.effects()
    assert (found.moves[0].source, found.moves[0].target) == (found.deletes[0], found.writes[0])


def test_a_place_that_may_be_either_is_both() -> None:
    ledger = Ledger()
    ledger.touch("w", "a", ("/x", "/y"), "how")
    assert [touch.path for touch in ledger.effects().writes] == ["/x/a", "/y/a"]


def test_a_link_on_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    ledger = Ledger()
    ledger.touch("r", "link", (str(tmp_path),), "cat")
    ledger.touch("d", "link", (str(tmp_path),), "rm")
    found, base = ledger.effects(), tmp_path.resolve()
    assert (found.reads[0].path, found.reads[0].given) == (f"{base}/real", "link")
    assert found.reads[0].link.endswith("/link")
    assert found.deletes[0].path == f"{base}/link"


def test_nothing_happens_to_what_is_no_file() -> None:
    ledger = Ledger()
    for place in ("/dev/null", "-", "", "/dev/stderr"):
        ledger.touch("w", place, ("/x",), "how")
    ledger.fetch("")
    assert ledger.effects().writes == ()


def test_work_runs_out() -> None:
    ledger = Ledger()
    assert ledger.spend(MOST)
    assert not ledger.spend()
    assert ledger.effects().unknown == ("limit: the call does more than is looked at",)
