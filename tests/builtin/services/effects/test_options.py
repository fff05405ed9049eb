"""Arguments, sorted by a short description."""

import pytest

from matrixx_builtin.services.effects.options import parsed, spec_of


@pytest.mark.parametrize(
    ("args", "operands", "values"),
    [
        (["a", "b"], ["a", "b"], []),
        (["-o", "x", "a"], ["a"], [("-o", "x")]),
        (["-ox", "a"], ["a"], [("-o", "x")]),
        (["-o=x", "a"], ["a"], [("-o", "x")]),
        (["--out", "x"], [], [("--out", "x")]),
        (["--out=x"], [], [("--out", "x")]),
        (["-vo", "x"], [], [("-o", "x")]),
        (["-vox"], [], [("-o", "x")]),
        (["-o"], [], [("-o", "")]),
        (["--", "-o"], ["-o"], []),
        (["-"], ["-"], []),
        (["--unknown=x"], [], [("--unknown", "x")]),
        (["--two", "a", "b", "c"], ["c"], [("--two", "b")]),
    ],
)
def test_options_take_their_values(args: list[str], operands: list[str], values: list[tuple[str, str]]) -> None:
    found = parsed("r* -o/--out=w --two=2r", args)
    assert (found.operands, found.values) == (operands, values)


def test_flags_are_known_one_by_one_and_together() -> None:
    assert {"-a", "-b", "-ab", "--long"} <= parsed("", ["-ab", "--long"]).flags


def test_in_place_options_may_have_a_suffix() -> None:
    assert "-i" in parsed("r* -i^", ["-i.bak"]).flags
    assert parsed("r* --in-place^", ["--in-place=.bak"]).has("--in-place")


def test_wrappers_stop_at_the_command() -> None:
    assert parsed("0 -u=-", ["-u", "root", "cat", "-n"], stop_at_operand=True).operands == ["cat", "-n"]


def test_the_place_of_two_dashes_is_remembered() -> None:
    assert parsed("r*", ["a", "--", "b"]).after_dashes == 1
    assert parsed("r*", ["a"]).after_dashes is None


def test_a_description_is_taken_apart() -> None:
    spec = spec_of("p r* -e/--regexp=p! -o=w -i^")
    assert spec.operands == ("p", "r*")
    assert spec.values == {"-e": "p", "--regexp": "p", "-o": "w"}
    assert (spec.sparing, spec.in_place) == ({"-e", "--regexp"}, {"-i"})
