import json

from builtin.cli.samples import Run

from matrixx_builtin.services.state import keep_timings
from matrixx_core.timing import AnswerKind, Timing


def counted(*calls: tuple[int, AnswerKind]) -> Timing:
    timing = Timing()
    for ns, answer in calls:
        timing.add(ns, answer)
    return timing


def fill() -> None:
    usual: list[tuple[int, AnswerKind]] = [(1_000_000, "none")] * 98
    guard = counted((2_000_000, "block"), *usual, (9_000_000, "error"))
    keep_timings("/one", [("guard", "tool_execute_before", guard), ("notes", "chat_message", counted((1_000, "inject")))])
    keep_timings("/two", [("guard", "tool_execute_before", counted((5_000_000, "none")))])


def test_all_projects_are_summed_by_hook(matrixx: Run) -> None:
    fill()
    guard, notes = json.loads(matrixx("timing", "--json").stdout)
    assert list(guard) == ["hook", "calls", "p50", "p95", "max", "blocks", "changes", "notes", "errors"]
    assert (guard["hook"], guard["calls"], guard["max"], guard["blocks"], guard["errors"]) == ("guard", 101, 9.0, 1, 1)
    assert 1.0 <= guard["p50"] <= 1.2 and guard["p50"] <= guard["p95"] <= guard["max"]
    assert (notes["notes"], notes["changes"]) == (1, 0)


def test_one_project_can_be_picked_and_forgotten(matrixx: Run, project: object) -> None:
    fill()
    keep_timings(str(project), [("mine", "tool_execute_before", counted((1, "none")))])
    assert [row["hook"] for row in json.loads(matrixx("timing", "--json", "--project", ".").stdout)] == ["mine"]
    assert matrixx("timing", "--reset", "--project", ".").exit_code == 0
    assert [row["hook"] for row in json.loads(matrixx("timing", "--json").stdout)] == ["guard", "notes"]
    matrixx("timing", "--reset")
    assert json.loads(matrixx("timing", "--json").stdout) == []


def test_a_person_gets_a_table_or_the_next_step(matrixx: Run) -> None:
    assert "matrixx install" in matrixx("timing").stdout
    fill()
    shown = matrixx("timing").stdout
    assert "Since" in shown and "guard" in shown and "101" in shown and "9.00" in shown
