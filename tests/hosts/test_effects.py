"""Every hook acts in the real host programs, and what it brings about is gone when it is switched off."""

from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.cli._engine import open_project
from matrixx_builtin.hosts import host_module, limits_on
from matrixx_core.host import Host
from matrixx_core.loading import ESSENTIALS, installed, load_installed

from .played import Played, problems
from .programs import NAMES, runner_of
from .scenario import load, scenario_files

RUNS = [pytest.param(path, where, id=f"{path.stem}-{where}") for path in scenario_files() for where in load(path).where]
FIRST = [pytest.param(path, load(path).where[0], id=path.stem) for path in scenario_files()]


@pytest.mark.parametrize(("path", "where"), RUNS)
def test_the_hook_acts(host: Any, path: Path, where: str) -> None:
    played = _play(host, path, where)
    assert [f"{one.model_dump(exclude_unset=True)}: {why}" for one, why in problems(played)] == []
    assert played.unplayed == 0 or "prompt_block" in played.scenario.needs, f"turns are left; the person was shown {played.told!r}"


@pytest.mark.parametrize(("path", "where"), FIRST)
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


FED_BY = {"tools": "tools", "shell_env": "shell_env", "message_transform": "messages_transform", "definitions": "tool_definition"}
"""Abilities that a host has by feeding a hookspec."""


@pytest.mark.parametrize("name", NAMES)
def test_every_hook_is_proven_in_a_host_or_reported_as_unable_to_act_there(name: str, tmp_path: Path) -> None:
    abilities, host = runner_of(name).ABILITIES, host_module(name.replace("_", "-"))
    reported = {limit.plugin for limit in limits_on(host, open_project(tmp_path).steps())}
    unproven: dict[str, set[str]] = {}
    for scenario in map(load, scenario_files()):
        lacking = min((scenario.abilities - abilities[where] for where in scenario.where), key=len)
        unproven.setdefault(scenario.hook, set(lacking)).intersection_update(lacking)
    lacking_undeclared = {
        hook: {one for one in lacking if FED_BY.get(one, "") in host.obeyed() or one not in FED_BY} for hook, lacking in unproven.items()
    }
    assert [hook for hook, lacking in unproven.items() if lacking and hook not in reported and lacking_undeclared[hook]] == []


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
