import json
from pathlib import Path

import pytest

from matrixx_builtin.services import belongings as ours
from matrixx_builtin.services.effects.matching import folded
from matrixx_core.settings import settings_files


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def kind(project: Path, path: Path) -> str:
    own = ours.belongings(str(project)).get(folded(str(path)))
    return own.kind if own else ""


def test_every_settings_file_that_the_engine_reads_is_ours(project: Path) -> None:
    assert {kind(project, path) for path in settings_files(project)} == {"settings"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("project/.opencode/plugin/matrixx.js", "plugin file"),
        ("home/.config/opencode/plugins/matrixx.js", "plugin file"),
        ("project/.opencode", "folder"),
        ("home/.config/matrixx", "folder"),
        ("project/.opencode/plugin/package.json", "neighbour"),
        ("home/.claude/settings.json", "hook entry"),
        ("project/.codex/config.toml", "hook entry"),
        ("state", "state"),
        ("project", ""),
        ("project/package.json", ""),
        ("project/matrixx_core/settings.py", ""),
        ("home/.config", ""),
    ],
)
def test_each_place_has_its_kind(project: Path, path: str, expected: str) -> None:
    assert kind(project, project.parent / path) == expected


def test_places_follow_the_variables_that_move_them(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = project.parent / "moved"
    assert kind(project, moved / "settings.json") == ""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(moved))
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(moved))
    assert kind(project, moved / "settings.json") == "hook entry"
    assert kind(project, moved / "matrixx.jsonc") == "settings"


def test_a_link_on_the_way_gives_a_second_name(project: Path) -> None:
    real = project.parent / "dotfiles"
    (real / "plugin").mkdir(parents=True)
    (project / ".opencode").symlink_to(real)
    assert kind(project, real / "plugin/matrixx.js") == "plugin file"
    assert kind(project, project / ".opencode/plugin/matrixx.js") == "plugin file"


def test_entries_are_told_with_the_keys_above_them() -> None:
    hook = {"type": "command", "command": "matrixx-hook"}
    text = "// a comment\n" + json.dumps(
        {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}, {"hooks": []}]}, "env": {"A": "Matrixx"}}
    )
    assert ours.entries(text) == {
        'hooks.PreToolUse: {"hooks": [{"command": "matrixx-hook", "type": "command"}], "matcher": "*"}',
        "env.A: Matrixx",
    }
    assert ours.entries("{}") == set()


@pytest.mark.parametrize("text", ["", "{", "hooks = 1\n[x]", "\0"])
def test_text_that_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ours.entries(text)


def test_a_file_that_cannot_be_read_holds_no_entry(tmp_path: Path) -> None:
    assert not ours.holds_entry(str(tmp_path / "none"))
    assert not ours.holds_entry(str(tmp_path))
    assert not ours.holds_entry("a\0b")
    (tmp_path / "x").write_bytes(b"\xff Matrixx")
    assert ours.holds_entry(str(tmp_path / "x"))
