from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from matrixx_core.loading import load
from matrixx_core.sections import shared_by
from matrixx_core.settings import Names, Settings, load_settings


class Cuts(BaseModel):
    cut: int = 0
    limits: dict[str, int] = {}


class Edits(BaseModel):
    edit: bool = False


def plugin(config: type[BaseModel], key: str) -> Any:
    return SimpleNamespace(Config=config, SETTINGS_KEY=key)


def loaded(raw: dict[str, Any], **plugins: Any) -> tuple[dict[str, Any], list[str]]:
    settings = Settings.of(raw)
    settings.names.keys["experimental"] = ("auto_resume",)
    found = load(plugins, settings)
    return {name: config.model_dump() for name, config in found.configs.items()}, sorted(problem.message for problem in settings.problems)


@pytest.mark.parametrize("shared", ["experimental", "tools.output"])
def test_of_a_shared_section_each_plugin_gets_its_own_keys(shared: str) -> None:
    values: Any = {"cut": 5, "edit": True}
    for key in reversed(shared.split(".")):
        values = {key: values}
    configs, told = loaded(values, cuts=plugin(Cuts, shared), edits=plugin(Edits, shared))
    assert configs == {"cuts": {"cut": 5, "limits": {}}, "edits": {"edit": True}}
    assert told == []


def test_a_plugins_own_section_wins_over_a_shared_one_and_is_merged_with_it() -> None:
    raw = {"experimental": {"cut": 1, "limits": {"a": 1, "b": 1}}, "hooks": {"cuts": {"limits": {"b": 2}}}}
    assert loaded(raw, cuts=plugin(Cuts, "experimental"))[0] == {"cuts": {"cut": 1, "limits": {"a": 1, "b": 2}}}


def test_a_key_of_a_shared_section_that_nobody_reads_is_told_once_with_the_name_that_was_meant() -> None:
    raw = {"experimental": {"cutt": 1, "auto_resume": True, "hook_timing": False, "// a remark": 1}}
    _, told = loaded(raw, cuts=plugin(Cuts, "experimental"), edits=plugin(Edits, "experimental"))
    assert told == ["no hook reads experimental.cutt; did you mean 'cut'?; it is ignored"]


def test_the_engines_own_section_is_looked_at_even_where_no_plugin_reads_it() -> None:
    assert loaded({"experimental": {"hook_timming": True}})[1] == [
        "no hook reads experimental.hook_timming; did you mean 'hook_timing'?; it is ignored"
    ]


def test_the_options_of_every_hook_are_not_set_by_a_shared_section() -> None:
    settings = Settings.of({"experimental": {"deadline_ms": 10}})
    found = load({"cuts": plugin(Cuts, "experimental")}, settings)
    assert found.options["cuts"].deadline_ms == 5_000
    assert [problem.message for problem in settings.problems] == ["no hook reads experimental.deadline_ms; it is ignored"]


def test_a_section_of_one_plugin_is_its_own_and_its_mistakes_are_told_where_they_stand() -> None:
    raw = {"security": {"cuts": {"cut": "many", "edit": True}}, "hooks": {"cuts": {"cutt": 1}}}
    configs, told = loaded(raw, cuts=plugin(Cuts, "security.cuts"), edits=plugin(Edits, "security.edits"))
    assert configs["cuts"] == {"cut": 0, "limits": {}}
    assert told == [
        "hooks.cuts.cutt is no setting of hook 'cuts'; did you mean 'cut'?; it is ignored",
        "security.cuts.cut: Input should be a valid integer, unable to parse string as an integer; it is ignored",
        "security.cuts.edit is no setting of hook 'cuts'; it is ignored",
    ]


def test_where_a_plugin_takes_any_key_only_the_engines_own_section_is_looked_at() -> None:
    class Anything(Cuts):
        model_config = ConfigDict(extra="allow")

    anything = {"cut": 1, "neo": {"model": "x"}}
    assert loaded({"agents": anything}, cuts=plugin(Anything, "agents"), edits=plugin(Edits, "agents"))[1] == []
    told = loaded({"experimental": anything}, cuts=plugin(Anything, "experimental"), edits=plugin(Edits, "experimental"))[1]
    assert told == ["no hook reads experimental.neo; it is ignored"]


def test_what_an_untrusted_project_says_in_a_shared_section_is_told_with_its_line(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(tmp_path / "state"))
    file = tmp_path / "matrixx.jsonc"
    file.write_text('{\n  "tasks": {\n    "cut": 3,\n    "cutt": 3\n  }\n}')
    settings = load_settings(tmp_path, names=Names(sections={"tasks"}))
    found = load({"cuts": plugin(Cuts, "tasks"), "edits": plugin(Edits, "tasks")}, settings)
    assert found.configs["cuts"].model_dump() == {"cut": 3, "limits": {}}
    assert list(map(str, settings.problems)) == [f"{file}:4: no hook reads tasks.cutt; did you mean 'cut'?; it is ignored"]


def test_odd_keys_of_a_stranger_share_nothing() -> None:
    modules = {"a": SimpleNamespace(SETTINGS_KEY=None), "b": SimpleNamespace(), "c": SimpleNamespace(SETTINGS_KEY=5, Config=int)}
    assert shared_by(modules) == {"experimental"}
    assert shared_by({**modules, "d": SimpleNamespace(SETTINGS_KEY="5")}) == {"experimental", "5"}
