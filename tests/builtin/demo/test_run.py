"""The whole demo through the command line, with every shipped hook installed."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from matrixx_builtin.cli import cli
from matrixx_builtin.demo import script

from .conftest import Shown, demonstrate

STEPS = script.load({"GITHUB_TOKEN": "", "STRIPE_KEY": "", "DATABASE_PASSWORD": ""}, Path("/shop")).steps
VERDICTS = {"block": {"blocked"}, "help": {"changed", "noted"}, "pass": {"passed", "changed", "noted"}}


@pytest.mark.parametrize("expected", STEPS, ids=lambda step: step.title)
def test_every_step_goes_as_the_script_says(told: Shown, expected: script.Step) -> None:
    step = told.step(expected.title)
    assert step["verdict"] in VERDICTS[expected.expect]
    assert not step["missing"]
    if expected.expect == "block":
        assert step["blocked_by"] == expected.by
    elif expected.expect == "help":
        assert any(ran["plugin"] == expected.by and ran["answer"] in {"change", "inject"} for call in step["calls"] for ran in call["ran"])


@pytest.mark.parametrize(
    ("fact", "without", "with_hooks"),
    [
        ("keys_read", 2, 0),
        ("keys_on_disk", 1, 0),
        ("keys_in_git", 1, 0),
        ("env_file", "overwritten", "as you left it"),
        ("lines_lost", 10, 0),
        ("tests", "fail", "pass"),
        ("waited", 1, 0),
        ("jobs", 1, 0),
        ("switched_off", 1, 0),
    ],
)
def test_what_is_left_behind_is_measured_in_both_runs(told: Shown, fact: str, without: object, with_hooks: object) -> None:
    found = next(one for one in told.report["comparison"] if one["name"] == fact)
    assert (found["without_hooks"], found["with_hooks"]) == (without, with_hooks)
    assert found["better"]


def test_hints_come_from_hooks_alone(told: Shown) -> None:
    hints = next(one for one in told.report["comparison"] if one["name"] == "hints")
    assert hints["without_hooks"] == 0
    assert hints["with_hooks"] >= 5
    assert hints["better"]


def test_the_model_reads_less_than_half_of_the_tokens(told: Shown) -> None:
    tokens = next(one for one in told.report["comparison"] if one["name"] == "tokens")
    assert tokens["with_hooks"] < tokens["without_hooks"] / 2


def test_the_table_counts_what_the_steps_show(told: Shown) -> None:
    runs = [ran for step in told.report["steps"] for call in step["calls"] for ran in call["ran"]]
    for row in told.report["hooks"]:
        own = [ran["answer"] for ran in runs if ran["plugin"] == row["hook"]]
        assert (row["calls"], row["blocks"], row["changes"]) == (len(own), own.count("block"), own.count("change"))
        assert 0 < row["p50_ms"] <= row["p95_ms"]
    assert {row["hook"] for row in told.report["hooks"]} >= {step.by for step in STEPS if step.by}


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "STRIPE_KEY", "DATABASE_PASSWORD"])
def test_no_key_of_the_run_is_in_anything_that_it_wrote(told: Shown, shown: Shown, name: str) -> None:
    for run in (told, shown):
        body = run.keys[name][8:-4]  # what a masked form may not show either
        assert body not in run.output and body not in run.page
        assert body in f"{run.keys}"


def test_nothing_is_left_and_the_persons_files_and_environment_are_as_before(told: Shown, shown: Shown) -> None:
    for run in (told, shown):
        assert run.left == []
        assert run.touched == ["config/matrixx/matrixx.jsonc"]
        assert run.environment_kept


def test_people_see_each_step_with_its_verdict_the_table_and_the_comparison(shown: Shown) -> None:
    words = " ".join(shown.output.split())
    for step in STEPS:
        assert " ".join(step.title.split()) in words
    assert "What each hook did" in words and "without hooks" in words
    assert "\x1b" not in shown.output
    assert max(map(len, shown.output.splitlines()[:100])) <= 100


@pytest.mark.parametrize("options", [["--html", "/nowhere/demo.html"], ["--host", "vim"], ["--fast"]])
def test_a_wrong_option_is_one_line_before_anything_is_played(options: list[str]) -> None:
    result = CliRunner().invoke(cli, ["demo", *options])
    assert result.exit_code == 2
    assert result.stdout == "" and result.stderr.count("\n") == 1 and options[-1].removesuffix("/demo.html") in result.stderr


def test_a_misspelt_hook_is_told_and_changes_nothing(tmp_path: Path) -> None:
    run = demonstrate(tmp_path, "--json", "--disable", "env-file-write-gard")
    assert "the command line" not in run.report["off"].values()
    assert any("did you mean 'env-file-write-guard'" in problem for problem in run.report["problems"])


def test_a_hook_that_is_left_out_leaves_its_step_to_nobody_and_the_facts_say_so(tmp_path: Path) -> None:
    run = demonstrate(tmp_path, "--json", "--disable", "env-file-write-guard", "--keep")
    step = run.step("heredoc")
    assert (step["verdict"], step["missing"], bool(step["harm"])) == ("changed", "env-file-write-guard", True)
    assert [name for name, why in run.report["off"].items() if why == "the command line"] == ["env-file-write-guard"]
    env = next(one for one in run.report["comparison"] if one["name"] == "env_file")
    assert (env["with_hooks"], env["better"]) == ("overwritten", False)
    assert "Nobody acted" in run.page
    kept = Path(run.report["kept"])
    assert kept.parent == tmp_path / "tmp" and "STRIPE_KEY=<your key>" in (kept / "with/.env").read_text()
