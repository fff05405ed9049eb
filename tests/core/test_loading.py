"""One broken plugin is named and the rest works (C20); a disabled one is never imported."""

import sys
from pathlib import Path

import pytest

from matrixx_core.host import Host
from matrixx_core.loading import Plugins, installed, load, load_installed, run_order
from matrixx_core.settings import Settings, load_settings
from matrixx_core.testing import call
from matrixx_core.trust import trust

from .conftest import MakeDist

GUARD = """
'''Stop everything.'''
from matrixx_core import Block, ToolCall, guard
from pydantic import BaseModel, Field
from matrixx_core.settings import TIGHTENS

class Config(BaseModel):
    enabled: bool = True
    patterns: tuple[str, ...] = Field(("a",), json_schema_extra=TIGHTENS)
    allowed: tuple[str, ...] = ()

@guard
def tool_execute_before(call: ToolCall, config: Config) -> Block | None:
    return Block("no") if config.enabled else None
"""
HELPER = GUARD.replace("guard", "rewrite").replace("Block", "Inject")


def alone(make_dist_names: set[str], settings: Settings | None = None) -> Plugins:
    found = {name: one for name, one in installed().items() if name in make_dist_names}
    return load_installed(settings, found=found)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("raise RuntimeError('at import')", "RuntimeError: at import"),
        ("raise SystemExit(3)", "ended the process|SystemExit"),
        ("import not_there_at_all", "No module named 'not_there_at_all'"),
        ("", "No module named"),
        ("from matrixx_core import not_yet_there", "needs another matrixx-core than the installed"),
        ("from matrixx_core import guard\n@guard\ndef tool_execute_befor(call) -> None: ...", "did you mean 'tool_execute_before'?"),
        ("from matrixx_core import guard\n@guard\ndef tool_execute_before(cal) -> None: ...", "cal"),
    ],
)
def test_a_broken_plugin_is_named_with_its_distribution_and_the_rest_works(make_dist: MakeDist, source: str, reason: str) -> None:
    make_dist("works", GUARD)
    make_dist("broken", source, dist="their-broken-dist")
    plugins = alone({"works", "broken"})
    assert list(plugins.order) == ["works"]
    [failed] = plugins.failed
    assert (failed.name, failed.dist) == ("broken", "their-broken-dist")
    assert any(part in failed.reason for part in reason.split("|")), failed.reason


def test_a_disabled_plugin_is_never_imported(make_dist: MakeDist, home: Path, project: Path) -> None:
    make_dist("off", "raise RuntimeError('imported')", module="their_off_module")
    user = home / ".config" / "matrixx" / "matrixx.json"
    user.parent.mkdir(parents=True)
    user.write_text('{"disabled_hooks": ["off"]}')
    plugins = alone({"off"}, load_settings(project))
    assert (plugins.failed, list(plugins.disabled)) == ([], ["off"])
    assert plugins.manager.is_blocked("off") and "their_off_module" not in sys.modules


def test_an_untrusted_project_may_switch_off_a_helper_but_no_guard(make_dist: MakeDist, project: Path) -> None:
    make_dist("their-guard", GUARD)
    make_dist("their-helper", HELPER)
    (project / "matrixx.json").write_text('{"disabled_hooks": ["their-guard", "their-helper"]}')
    plugins = alone({"their-guard", "their-helper"}, load_settings(project))
    assert list(plugins.disabled) == ["their-helper"]
    assert list(plugins.order) == ["their-guard"]
    assert "matrixx trust" in plugins.waiting[0] and "matrixx.json:1" in plugins.waiting[0]


def test_an_untrusted_project_may_tighten_a_guard_but_not_open_it(make_dist: MakeDist, project: Path) -> None:
    make_dist("their-guard", GUARD)
    (project / "matrixx.json").write_text(
        '{"hooks": {"their-guard": {"patterns": ["b"], "allowed": ["c"], "enabled": false, "on_failure": "allow"}}}'
    )
    plugins = alone({"their-guard"}, load_settings(project))
    config = plugins.configs["their-guard"].model_dump()
    assert config == {"enabled": True, "patterns": ("a", "b"), "allowed": ()}
    assert plugins.options["their-guard"].on_failure == "block"
    assert len(plugins.waiting) == 3


def test_an_untrusted_project_may_set_what_a_helper_does_but_not_what_guards_go_by(make_dist: MakeDist, project: Path) -> None:
    make_dist("their-helper", HELPER.replace("TIGHTENS", "TRUSTED_ONLY"))
    file = project / "matrixx.json"
    file.write_text('{"hooks": {"their-helper": {"patterns": ["b"], "allowed": ["c"]}}}')
    plugins = alone({"their-helper"}, load_settings(project))
    assert plugins.configs["their-helper"].model_dump() == {"enabled": True, "patterns": ("a",), "allowed": ("c",)}
    assert len(plugins.waiting) == 1 and "hooks.their-helper.patterns" in plugins.waiting[0]
    trust(file)
    plugins = alone({"their-helper"}, load_settings(project))
    assert plugins.configs["their-helper"].model_dump() == {"enabled": True, "patterns": ("b",), "allowed": ("c",)}
    assert plugins.waiting == []


def test_a_wrong_setting_costs_only_itself(make_dist: MakeDist) -> None:
    make_dist("their-guard", GUARD)
    settings = Settings.of({"hooks": {"their-guard": {"patterns": 3, "allowed": ["x"], "allowd": 1, "deadline_ms": "soon"}}})
    plugins = alone({"their-guard"}, settings)
    assert plugins.configs["their-guard"].model_dump() == {"enabled": True, "patterns": ("a",), "allowed": ("x",)}
    assert plugins.options["their-guard"].deadline_ms == 5_000
    told = "\n".join(map(str, settings.problems))
    assert "did you mean 'allowed'?" in told and "their-guard.patterns" in told and "their-guard.deadline_ms" in told


def test_a_plugin_may_be_off_by_its_own_gate() -> None:
    class Gated:
        @staticmethod
        def off_because(config: object) -> str:
            return "experimental.thing is not set"

    assert load({"gated": Gated}).gates == {"gated": "experimental.thing is not set"}


def test_two_distributions_of_one_name_are_told(make_dist: MakeDist, caplog: pytest.LogCaptureFixture) -> None:
    make_dist("twice", GUARD, dist="matrixx-twice")
    make_dist("twice", GUARD, dist="another-twice")
    assert installed()["twice"].dist == "matrixx-twice"
    assert "matrixx-twice and another-twice both bring a plugin named 'twice'" in caplog.text


def test_an_essential_plugin_stays_on(make_dist: MakeDist) -> None:
    make_dist("must", GUARD, group="matrixx.essentials")
    plugins = load_installed(None, ["must"], {name: one for name, one in installed().items() if name == "must"})
    assert list(plugins.order) == ["must"] and "is essential" in plugins.problems[0]


def test_a_circle_in_run_after_is_told_by_name_and_nobody_is_lost() -> None:
    class A:
        RUN_AFTER = ("b",)

    class B:
        RUN_AFTER = ("a",)

    with pytest.raises(ValueError, match=r"RUN_AFTER goes in a circle: .*a.* after .*b"):
        run_order({"a": A, "b": B})
    plugins = load({"a": A, "b": B})
    assert list(plugins.order) == ["a", "b"] and "circle" in plugins.problems[0]


async def changed(project: Path, text: str) -> list[bool]:
    async with Host.open(project) as host:
        before = (await host.tool_execute_before(call("bash"))).block
        (project / "matrixx.json").write_text(text)
        after = (await host.tool_execute_before(call("bash"))).block
    return [before is not None, after is not None]


def test_changed_settings_hold_from_the_next_event_on(
    make_dist: MakeDist, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import anyio

    make_dist("their-guard", GUARD)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project.parent))
    (project.parent / "matrixx").symlink_to(project)  # the user's folder, so that trust plays no part
    assert anyio.run(changed, project, '{"disabled_hooks": ["their-guard"]}') == [True, False]


@pytest.mark.parametrize(("variable", "value"), [("MATRIXX_DISABLED_HOOKS", "x,their-guard"), ("MATRIXX_DISABLED", "1")])
def test_the_engines_own_environment_switches_off(
    make_dist: MakeDist, project: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    import anyio

    make_dist("their-guard", GUARD)
    monkeypatch.setenv(variable, value)
    assert anyio.run(changed, project, "{}") == [False, False]


def test_a_section_of_no_installed_hook_is_told_with_its_line_and_the_name_that_was_meant(make_dist: MakeDist, tmp_path: Path) -> None:
    make_dist("works", GUARD)
    folder = tmp_path / "project" / ".matrixx"
    folder.mkdir(parents=True)
    (folder / "matrixx.jsonc").write_text('{"hooks": {\n  "works": {"patterns": ["b"]},\n  "wroks": {"patterns": ["c"]}}}')
    settings = load_settings(tmp_path / "project")
    plugins = alone({"works"}, settings)
    told = f"{folder / 'matrixx.jsonc'}:3: hooks.wroks is the section of no installed hook; did you mean 'works'?"
    assert told in map(str, settings.problems)
    assert getattr(plugins.configs["works"], "patterns") == ("a", "b")  # noqa: B009  the model is the plugin's own
