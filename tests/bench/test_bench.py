"""The benchmark measures what it says, without judging how fast this machine is."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from matrixx_builtin import bench
from matrixx_builtin.bench import measuring
from matrixx_builtin.bench.measuring import Case, Skipped
from matrixx_builtin.cli import cli

TINY = 0.01


def measured(row: str) -> list[Case]:
    found = list(bench.run([row], TINY))
    if skipped := [one for one in found if isinstance(one, Skipped)]:
        pytest.skip(str(skipped[0]))
    return [one for one in found if isinstance(one, Case)]


@pytest.mark.parametrize("row", ["dispatch", "secrets", "commit", "clients", "memory"])
def test_a_row_compares_something_that_takes_time_with_a_baseline(row: str) -> None:
    for case in measured(row):
        assert case.row == row
        assert case.amount > 0
        assert case.base > 0
        assert case.ratio > 0


def test_a_call_that_no_hook_wants_makes_no_round_trip() -> None:
    trips = measured("unwanted")[-1]
    assert trips.unit == "calls"
    assert trips.amount == 0
    assert trips.base > 0


def test_every_contender_has_as_many_turns_as_the_others_and_the_ratio_is_of_the_same_turn() -> None:
    slow: Iterator[float] = iter([99.0, 4.0, 20.0, 6.0])
    fast: Iterator[float] = iter([99.0, 2.0, 2.0, 2.0])
    taken = measuring.turns({"slow": lambda: next(slow), "fast": lambda: next(fast)}, 3)
    case = measuring.compared("row", taken, "slow", "fast")
    assert (case.amount, case.base, case.ratio) == (6.0, 2.0, 3.0)


def test_without_javascript_the_rest_of_a_row_is_measured_and_the_gap_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUN_BIN", raising=False)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    *cases, skipped = bench.run(["dispatch"], TINY)
    assert [case.baseline for case in cases if isinstance(case, Case)] == ["anyio task groups"]
    assert "neither bun nor node" in str(skipped)


def test_the_command_writes_json_and_names_the_rows_it_has() -> None:
    written = CliRunner().invoke(cli, ["bench", "--json", "unwanted"])
    rows = json.loads(written.stdout)
    assert all(row["row"] == "unwanted" for row in rows)
    unknown = CliRunner().invoke(cli, ["bench", "unwnted"])
    assert unknown.exit_code == 2
    assert "dispatch" in unknown.output
