"""What ``matrixx doctor`` finds wrong with Claude Code's side."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.daemon.ports import forget
from matrixx_builtin.hosts.claude_code import install, switches
from matrixx_builtin.hosts.claude_code.examine import examine
from matrixx_builtin.hosts.claude_code.install import installation, settings_file
from matrixx_builtin.hosts.findings import Finding


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of this machine's user is read, PATH has a Claude Code and no compiler."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    for name, value in {"HOME": home, "MATRIXX_STATE_DIR": home / "state", "PATH": home / "bin"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setattr(switches, "MANAGED", tmp_path / "managed")
    claude(home, "echo '2.1.332 (Claude Code)'")
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


def claude(home: Path, script: str) -> None:
    (home / "bin" / "claude").write_text(f"#!/bin/sh\n{script}\n")
    (home / "bin" / "claude").chmod(0o755)


def connect(directory: Path | None, *, fail_closed: bool = False) -> None:
    for change in installation(directory, fail_closed=fail_closed).changes:
        change.make()


def look(project: Path, *, asked: bool = False) -> list[Finding]:
    return list(examine(project, asked=asked))


def level(findings: list[Finding], words: str) -> str:
    levels = [one.level for one in findings if words in f"{one.what} {one.why}"]
    assert len(levels) < 2, findings
    return levels[0] if levels else ""


@pytest.mark.parametrize("fail_closed", [False, True])
@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_good_installation_has_nothing_but_ok(
    project: Path, fail_closed: bool, everywhere: bool, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiled:
        monkeypatch.setattr(install, "compile_client", compile_nothing)
    connect(None if everywhere else project, fail_closed=fail_closed)
    assert [one.level for one in look(project, asked=True)] == ["ok", "ok"], look(project)


def compile_nothing(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "matrixx-client").write_text("")
    return folder / "matrixx-client"


def test_a_machine_without_claude_code_has_nothing_to_connect(project: Path, home: Path) -> None:
    (home / "bin" / "claude").unlink()
    assert level(look(project), "not on this machine") == "ok"
    assert level(look(project, asked=True), "not on PATH") == "error"


def test_no_handler_is_an_error_only_for_who_wants_claude_code(project: Path) -> None:
    assert level(look(project), "no handler of ours") == "warn"
    assert level(look(project, asked=True), "no handler of ours") == "error"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo '3.0.1 (Claude Code)'", "tried with 2.1"),
        ("echo '2.10.0'", "tried with 2.1"),
        ("exit 1", "does not tell its version"),
        ("printf '\\377\\000'", "does not tell its version"),
    ],
)
def test_a_version_that_nobody_has_tried_is_told(project: Path, home: Path, script: str, words: str) -> None:
    claude(home, script)
    assert level(look(project), words) == "warn"


def test_two_places_are_told(project: Path) -> None:
    connect(project)
    connect(None)
    assert level(look(project), "for the project and for the user") == "warn"


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.pop("Stop"),
        lambda said: said["Stop"][0].update(matcher="Bash"),
        lambda said: said["Stop"][0]["hooks"][0].update(timeout=1),
        lambda said: said["Stop"][0]["hooks"][0]["headers"].update({"X-Matrixx": "0.0.1"}),
        lambda said: said["SessionStart"][0]["hooks"][0]["args"].pop(),
    ],
)
def test_handlers_that_are_not_as_this_version_writes_them_are_an_error(project: Path, change: Callable[[dict[str, Any]], object]) -> None:
    connect(project)
    path = settings_file(project)
    said = json.loads(path.read_text())
    change(said["hooks"])
    path.write_text(json.dumps(said))
    assert level(look(project), "not as this version writes") == "error"


def test_handlers_for_an_endpoint_that_is_no_more_are_an_error(project: Path) -> None:
    connect(project)
    forget(project)
    assert level(look(project), "not as this version writes") == "error"


def test_an_interpreter_that_is_gone_or_another_one_is_told(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = home / "python"
    other.write_text("")
    for compiled in (False, True):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(other))
            if compiled:
                patch.setattr(install, "compile_client", compile_nothing)
            connect(project)
        assert level(look(project), "made by another Python") == "warn"
    other.unlink()
    assert level(look(project), "which is not there") == "error"


def test_settings_that_switch_hooks_off_and_broken_ones_are_errors(project: Path) -> None:
    connect(project)
    (project / ".claude" / "settings.local.json").write_text('{"disableAllHooks": true}')
    assert level(look(project), "disableAllHooks") == "error"
    path = settings_file(project)
    path.write_text("// mine\n" + path.read_text())
    assert level(look(project), "takes no comments") == "error"
    path.write_text("{]")
    assert level(look(project), "cannot be changed") == "error"
