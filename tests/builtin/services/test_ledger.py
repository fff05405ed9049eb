import pytest

from matrixx_builtin.services import ledger
from matrixx_core import Session


@pytest.fixture
def session() -> Session:
    return Session("ses_test")


@pytest.mark.parametrize("same", ["a\nb", "\ufeffa\nb", "a\r\nb\r\n", "  \na  \nb\n\n"])
def test_a_text_is_held_whatever_its_line_ends(session: Session, same: str) -> None:
    assert not ledger.holds(session, same)
    ledger.hold(session, "a\nb\n")
    assert ledger.holds(session, same)


def test_another_text_and_another_session_are_apart(session: Session) -> None:
    ledger.hold(session, "a")
    assert not ledger.holds(session, "b")
    assert not ledger.holds(Session("ses_other"), "a")


def test_a_summary_begins_anew(session: Session) -> None:
    ledger.hold(session, "a")
    ledger.forget(session)
    assert not ledger.holds(session, "a")


def test_lone_surrogates_nul_and_nothing_are_texts_like_others(session: Session) -> None:
    for text in ("\ud800", "\0", ""):
        ledger.hold(session, text)
        assert ledger.holds(session, text)


def test_the_oldest_is_dropped_when_there_are_too_many(session: Session) -> None:
    for number in range(ledger.MOST + 1):
        ledger.hold(session, str(number))
    assert not ledger.holds(session, "0")
    assert ledger.holds(session, "1")
