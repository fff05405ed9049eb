"""Every hook acts in the real host programs, and what it brings about is gone when it is switched off."""

from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.hosts import blind_spots, host_module
from matrixx_core.host import Host
from matrixx_core.loading import ESSENTIALS, installed, load_installed
from matrixx_core.plan import Step

from .played import Played, problems
from .programs import NAMES, runner_of
from .scenario import load, scenario_files

RUNS = [pytest.param(path, where, id=f"{path.stem}-{where}") for path in scenario_files() for where in load(path).where]


@pytest.mark.parametrize(("path", "where"), RUNS)
def test_the_hook_acts(host: Any, path: Path, where: str) -> None:
    played = _play(host, path, where)
    assert [f"{one.model_dump(exclude_unset=True)}: {why}" for one, why in problems(played)] == []
    assert played.unplayed == 0 or "prompt_block" in played.scenario.needs, f"turns are left; the person was shown {played.told!r}"


@pytest.mark.parametrize(("path", "where"), RUNS)
def test_nothing_of_it_happens_without_the_hook(host: Any, path: Path, where: str) -> None:
    played = _play(host, path, where, without=load(path).hook)
    failed = {id(one): why for one, why in problems(played)}
    told = [one.model_dump(exclude_unset=True) for one in played.scenario.expect if not one.always and id(one) not in failed]
    assert told == [], "this holds without the hook too, so it proves nothing"
    assert [failed[id(one)] for one in played.scenario.expect if one.always and id(one) in failed] == []
    assert played.unplayed == 0 or "wake" in played.scenario.needs, f"turns are left; the person was shown {played.told!r}"


def test_every_shipped_hook_and_every_essential_guard_has_a_scenario() -> None:
    shipped = {folder.name.removeprefix("matrixx-") for folder in Path(__file__).parents[2].glob("plugins/matrixx-*")} - {"all"}
    assert shipped | essential_guards() == {load(path).hook for path in scenario_files()}


@pytest.mark.parametrize("name", NAMES)
def test_every_hook_is_proven_in_a_host_or_reported_as_unable_to_act_there(name: str) -> None:
    abilities = runner_of(name).ABILITIES
    can = {load(path).hook for path in scenario_files() if any(load(path).abilities <= abilities[where] for where in load(path).where)}
    reported = {plugin for plugin, _ in blind_spots(hook_steps(), host_module(name.replace("_", "-")).obeyed())}
    assert {load(path).hook for path in scenario_files()} - can - reported == set()


def hook_steps() -> dict[str, list[tuple[str, Step]]]:
    """What each installed hook answers, by its name."""
    steps: dict[str, list[tuple[str, Step]]] = {}
    for event, plans in Host(load_installed()).plans.items():
        for step in plans.steps:
            steps.setdefault(step.plugin, []).append((event, step))
    return steps


def test_every_tool_of_a_plugin_is_called_in_a_scenario() -> None:
    called = {call.tool for path in scenario_files() for call in load(path).calls}
    assert load_installed().tools.keys() - called == set()


def essential_guards() -> set[str]:
    guards = {step.plugin for step in Host(load_installed()).plans["tool_execute_before"].steps if step.wave == "guard"}
    return {name for name, found in installed().items() if found.group == ESSENTIALS} & guards


@pytest.mark.parametrize("path", scenario_files(), ids=lambda path: path.stem)
def test_a_scenario_is_named_for_its_hook(path: Path) -> None:
    assert path.stem.startswith(load(path).hook)


def _play(host: Any, path: Path, where: str, without: str = "") -> Played:
    scenario = load(path)
    if lacking := scenario.abilities - host.abilities[where]:
        pytest.skip(f"this host cannot {', '.join(sorted(lacking))}")
    played: Played = host.play(scenario, where, without=without)
    return played
