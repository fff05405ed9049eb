"""``matrixx install`` and ``matrixx uninstall``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builtin.cli.samples import Install, Run

FILE = Path(".opencode", "plugin", "matrixx.js")


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder with its bytes; ``None`` for folders."""
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in sorted(folder.rglob("*"))}


def test_the_plugin_file_starts_this_interpreter(matrixx: Run, project: Path) -> None:
    result = matrixx("install", "opencode")
    assert result.exit_code == 0 and str(project / FILE) in result.stdout
    line = next(line for line in (project / FILE).read_text().splitlines() if line.endswith("// @installed"))
    said = json.loads(line.removeprefix("const INSTALLED = ").removesuffix(" // @installed"))
    assert said["command"] == [sys.executable, "-m", "matrixx_builtin", "serve", "opencode"] and said["failClosed"] is False


def test_a_strange_interpreter_path_stays_one_string(matrixx: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = "/opt/a \"b\" '\\n' $& \\1 é // @installed/python"
    monkeypatch.setattr(sys, "executable", odd)
    assert matrixx("install", "opencode").exit_code == 0
    text = (project / FILE).read_text()
    assert text.count("const INSTALLED = ") == 1 and json.dumps(odd) in text
    assert matrixx("install", "opencode").stdout.startswith("Nothing to change.")


@pytest.mark.parametrize(
    "before", [{}, {".opencode/opencode.json": b"{}"}, {".opencode/plugin/other.js": b"// \xff\r\n"}, {"README.md": b"\r\n"}]
)
def test_uninstall_restores_byte_for_byte(matrixx: Run, project: Path, before: dict[str, bytes]) -> None:
    for path, content in before.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(content)
    there = snapshot(project)
    assert matrixx("install", "opencode").exit_code == 0
    assert matrixx("install", "opencode", "--fail-closed").exit_code == 0, "again, with another setting"
    assert snapshot(project) != there
    assert matrixx("uninstall", "opencode").exit_code == 0
    assert snapshot(project) == there


def test_uninstall_leaves_what_others_have_put_beside_it(matrixx: Run, project: Path) -> None:
    matrixx("install", "opencode")
    (project / ".opencode" / "package.json").write_text("{}")
    matrixx("uninstall", "opencode")
    assert snapshot(project) == {".opencode": None, ".opencode/package.json": b"{}"}


def test_a_dry_run_shows_the_exact_change_and_makes_none(matrixx: Run, project: Path, tmp_path: Path) -> None:
    shown = matrixx("install", "opencode", "--dry-run").stdout
    assert list(project.iterdir()) == []
    diff = tmp_path / "it.diff"
    diff.write_text("".join(line for line in shown.splitlines(keepends=True) if not line.startswith("- ")).replace(f"{project}/", ""))
    subprocess.run(["patch", "-p0", "-i", str(diff)], cwd=project, check=True, capture_output=True)
    patched = (project / FILE).read_bytes()
    (project / FILE).unlink()
    FILE.parent.rmdir()
    FILE.parent.parent.rmdir()
    matrixx("install", "opencode")
    assert (project / FILE).read_bytes() == patched
    gone = matrixx("uninstall", "opencode", "--dry-run").stdout
    assert "+++ /dev/null" in gone and (project / FILE).exists()


def test_installing_twice_changes_nothing(matrixx: Run, project: Path) -> None:
    matrixx("install", "opencode")
    there = (project / FILE).stat().st_mtime_ns, snapshot(project)
    again = matrixx("install", "opencode")
    assert again.exit_code == 0 and "Nothing to change." in again.stdout
    assert ((project / FILE).stat().st_mtime_ns, snapshot(project)) == there


@pytest.mark.parametrize(
    "content", [b"export const Mine = async () => ({})\n", b"", b"\xff\x00", b"// Matrixx for OpenCode: but no such line\n"]
)
def test_a_file_of_somebody_else_is_never_touched(matrixx: Run, project: Path, content: bytes) -> None:
    FILE.parent.mkdir(parents=True)
    FILE.write_bytes(content)
    for command in ("install", "uninstall"):
        result = matrixx(command, "opencode", "--yes")
        assert result.exit_code == 2 and result.stderr.count("\n") == 1 and str(FILE) in result.stderr
        assert FILE.read_bytes() == content


def test_a_symbolic_link_is_not_followed(matrixx: Run, project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.js").write_text("mine")
    FILE.parent.mkdir(parents=True)
    FILE.symlink_to(tmp_path / "elsewhere.js")
    result = matrixx("install", "opencode")
    assert result.exit_code == 2 and "symbolic link" in result.stderr
    assert (tmp_path / "elsewhere.js").read_text() == "mine" and FILE.is_symlink()


def test_global_goes_to_the_users_folder_and_a_second_place_is_mentioned(matrixx: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert matrixx("install", "opencode", "--global").exit_code == 0
    assert (home / ".config" / "opencode" / "plugin" / "matrixx.js").is_file()
    assert "for all projects as well" in matrixx("install", "opencode").stdout
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(home / "oc"))
    matrixx("install", "opencode", "--global")
    assert (home / "oc" / "plugin" / "matrixx.js").is_file()


def test_uninstalling_what_is_not_there_is_no_error(matrixx: Run) -> None:
    result = matrixx("uninstall", "opencode")
    assert result.exit_code == 0 and "Nothing to change." in result.stdout


def test_without_a_name_the_agents_of_the_machine_are_listed(
    matrixx: Run, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    (row,) = (one for one in json.loads(matrixx("install", "--json").stdout) if one["host"] == "opencode")
    assert row == {"host": "opencode", "found": None, "project": None, "global": None}
    (home / "opencode").write_text("#!/bin/sh\n")
    (home / "opencode").chmod(0o755)
    assert "matrixx install opencode" in matrixx("install").stdout
    matrixx("install", "opencode")
    (row,) = (one for one in json.loads(matrixx("install", "--json").stdout) if one["host"] == "opencode")
    assert row == {"host": "opencode", "found": str(home / "opencode"), "project": str(project / FILE), "global": None}
    assert "matrixx install opencode" not in matrixx("install").stdout


def test_an_unknown_agent_is_told_with_the_known_ones(matrixx: Run) -> None:
    result = matrixx("install", "vim")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1 and "opencode" in result.stderr


def test_hooks_that_cannot_act_there_are_named_with_the_reason(matrixx: Run, install: Install) -> None:
    install(
        "speaks",
        "from matrixx_core import Inject, PermissionAsked, guard\n@guard\ndef permission_asked(permission: PermissionAsked) -> Inject: ...\n",
    )
    install(
        "acts",
        "from matrixx_core import Block, PermissionAsked, guard\n@guard\ndef permission_asked(permission: PermissionAsked) -> Block: ...\n",
    )
    shown = matrixx("install", "opencode").stdout
    assert "\nspeaks  no    add text to a question for permission" in shown and "\nacts " not in shown


def test_a_folder_that_cannot_be_written_is_one_line(matrixx: Run, project: Path) -> None:
    (project / ".opencode").write_text("a file")
    result = matrixx("install", "opencode")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1 and ".opencode" in result.stderr


def test_a_terminal_is_asked_first(project: Path, home: Path) -> None:
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "matrixx_builtin", "install", "opencode"])
    os.write(terminal, b"n\n")
    shown = b""
    try:
        while chunk := os.read(terminal, 4096):
            shown += chunk
    except OSError:
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    assert b"Write " in shown and not (project / FILE).exists()


def test_claude_code_is_connected_shown_and_disconnected_byte_for_byte(matrixx: Run, project: Path) -> None:
    settings = project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes(b'{\r\n  "model": "x" // mine\r\n}')
    there = snapshot(project)
    shown = matrixx("install", "claude-code", "--dry-run").stdout
    assert snapshot(project) == there and "+++" in shown and "has comments" in shown
    result = matrixx("install", "claude-code", "--yes")
    assert result.exit_code == 0 and str(settings) in result.stdout and "keep it out of Git" not in result.stdout
    assert json.loads(matrixx("install", "--json").stdout)[0]["project"] == str(settings)
    assert "Nothing to change." in matrixx("install", "claude-code").stdout
    assert matrixx("uninstall", "claude-code").exit_code == 0 and snapshot(project) == there


def test_broken_settings_of_claude_code_are_one_line_and_stay(matrixx: Run, project: Path) -> None:
    settings = project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": [],}')
    for command in ("install", "uninstall"):
        result = matrixx(command, "claude-code", "--yes")
        assert result.exit_code == 2 and result.stderr.count("\n") == 1 and str(settings) in result.stderr
    assert settings.read_text() == '{"hooks": [],}'
