import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from builtin.cli.samples import GUARD, Install, Run, Write

from matrixx_builtin.services.state import keep_timings
from matrixx_core.timing import Timing

FILE = Path(".opencode", "plugin", "matrixx.js")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, with an OpenCode and a ripgrep in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("opencode", "rg"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def found(matrixx: Run, *options: str) -> list[dict[str, Any]]:
    result = matrixx("doctor", "--json", *options)
    findings: list[dict[str, Any]] = json.loads(result.stdout)
    assert all(list(one) == ["level", "what", "why", "way_out"] for one in findings)
    assert result.exit_code == (1 if any(one["level"] == "error" for one in findings) else 0)
    return findings


def level(findings: list[dict[str, Any]], words: str) -> str:
    """The level of the one finding that says this; empty without one."""
    levels = [str(one["level"]) for one in findings if words in f"{one['what']} {one['why']}"]
    assert len(levels) < 2, findings
    return levels[0] if levels else ""


def test_a_good_installation_has_no_error_and_the_engine_proves_it(matrixx: Run, programs: Path, home: Path) -> None:
    matrixx("install", "opencode")
    findings = found(matrixx, "--host", "opencode")
    ours = [one for one in findings if "matrixx.js" in one["what"] or "OpenCode" in one["what"] or "self-test" in one["what"]]
    assert [one["level"] for one in ours] == ["ok"] * 3, ours
    assert not (home / "state" / "state.sqlite3").exists(), "the self-test counts nothing"


def test_a_machine_without_any_agent_has_nothing_to_connect(matrixx: Run, programs: Path) -> None:
    (programs / "opencode").unlink()
    assert level(found(matrixx), "OpenCode is not on this machine") == "ok"
    assert level(found(matrixx, "--host", "opencode"), "OpenCode is not on PATH") == "error"


def test_a_missing_plugin_file_is_an_error_with_the_command_that_writes_it(matrixx: Run, programs: Path) -> None:
    findings = found(matrixx)
    assert level(findings, "no plugin file") == "error"
    assert any("matrixx install opencode" in one["way_out"] for one in findings)


def test_missing_ripgrep_and_a_pure_opencode_are_told(matrixx: Run, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (programs / "rg").unlink()
    monkeypatch.setenv("OPENCODE_PURE", "1")
    findings = found(matrixx)
    assert level(findings, "ripgrep (rg)") == "warn" and level(findings, "OPENCODE_PURE") == "error"


def installed(matrixx: Run, project: Path, **changed: Any) -> None:
    """Install, then change what the file says, as an old version or another Python would have written it."""
    matrixx("install", "opencode")
    text = (project / FILE).read_text()
    line = next(line for line in text.splitlines() if line.endswith("// @installed"))
    said = json.loads(line.removeprefix("const INSTALLED = ").removesuffix(" // @installed")) | changed
    (project / FILE).write_text(text.replace(line, f"const INSTALLED = {json.dumps(said)} // @installed"))


def test_a_file_of_another_version_is_stale(matrixx: Run, programs: Path, project: Path) -> None:
    installed(matrixx, project, version="0.0.1")
    assert level(found(matrixx), "is stale") == "error"


def test_a_file_edited_by_hand_is_told_apart_from_a_stale_one(matrixx: Run, programs: Path, project: Path) -> None:
    matrixx("install", "opencode")
    (project / FILE).write_text((project / FILE).read_text() + "// mine\n")
    findings = found(matrixx)
    assert level(findings, "edited by hand") == "warn" and not level(findings, "is stale")


def test_an_interpreter_that_is_gone_or_another_one_is_told(matrixx: Run, programs: Path, project: Path, tmp_path: Path) -> None:
    serve = ["-m", "matrixx_builtin", "serve", "opencode"]
    installed(matrixx, project, command=[str(tmp_path / "gone" / "python"), *serve])
    assert level(found(matrixx), "which is not there") == "error"
    other = programs / "python"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    other.chmod(0o755)
    matrixx("uninstall", "opencode")
    installed(matrixx, project, command=[str(other), *serve])
    findings = found(matrixx)
    assert level(findings, "made by another Python") == "warn" and level(findings, "self-test") == "ok"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 3", "the engine does not start"),
        ('echo \'{"op": "ready"}\'; exec cat > /dev/null', "the engine does not answer"),
        ("echo nonsense; exit 0", "the engine does not start"),
        ('read x; echo \'{"op": "ready"}\'; read x; echo \'{"id": 1}\'; read x; echo \'{"id": 2}\'', "does not block"),
        ('read x; echo \'{"op": "ready"}\'; for i in 1 2; do read x; echo \'{"id": \'$i\', "block": "no"}\'; done', "harmless call"),
    ],
)
def test_the_self_test_sees_an_engine_that_does_not_do_its_work(
    matrixx: Run, programs: Path, script: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("matrixx_builtin.hosts.opencode.examine.PATIENCE", 1.0)
    fake = programs / "engine"
    fake.write_text(f"#!/bin/sh\nPATH=/bin:/usr/bin\n{script}\n")
    fake.chmod(0o755)
    installed(matrixx, Path(), command=[str(fake)])
    assert level(found(matrixx), words) == "error"


def test_a_foreign_file_in_our_place_is_an_error(matrixx: Run, programs: Path, project: Path) -> None:
    FILE.parent.mkdir(parents=True)
    FILE.write_text("export const Mine = async () => ({})\n")
    assert level(found(matrixx), "is not ours") == "error"


def test_broken_plugins_are_named_with_distribution_and_reason(matrixx: Run, install: Install, programs: Path) -> None:
    install("syntax", "def (:\n")
    install("missing", None)
    findings = found(matrixx)
    assert level(findings, "plugin 'syntax' of acme-syntax was left out") == "error"
    assert level(findings, "No module named 'acme_missing'") == "error"


def test_a_plugin_that_answers_nothing_is_found(matrixx: Run, install: Install, programs: Path) -> None:
    install("hollow", "from matrixx_core import guard\n\ndef tool_execute_before(call: object) -> None: ...\n")
    assert level(found(matrixx), "plugin 'hollow' of acme-hollow has no hook") == "error"


def test_unknown_names_and_waiting_settings_are_told_with_file_and_line(
    matrixx: Run, install: Install, settings: Write, programs: Path
) -> None:
    install("guard", GUARD)
    user = settings("user", '{\n"disabled_hooks": ["gaurd"]}')
    project = settings("project", '{"disabled_hooks": ["guard"]}')
    findings = found(matrixx)
    assert level(findings, f"{user}:2: disabled_hooks names 'gaurd'") == "warn"
    assert level(findings, f"{project}:1: would switch off the guard 'guard'") == "warn"


def test_hooks_that_nothing_has_ever_called_are_listed_since_when(matrixx: Run, install: Install, programs: Path, project: Path) -> None:
    install("guard", GUARD)
    install("lonely", GUARD)
    assert level(found(matrixx), "no hook has been called in this project yet") == "warn"
    timing = Timing()
    timing.add(1_000, "none")
    keep_timings(str(project), [("guard", "tool_execute_before", timing)])
    never = next(one for one in found(matrixx) if "never called" in one["what"])
    assert "lonely" in never["what"] and " guard," not in never["what"] and time.strftime("%Y-%m-%d") in never["what"]


def test_a_hook_that_failed_is_told_with_the_place_of_the_log(matrixx: Run, programs: Path, project: Path, home: Path) -> None:
    timing = Timing()
    timing.add(1_000, "error")
    keep_timings(str(project), [("shaky", "tool_execute_before", timing)])
    failing = next(one for one in found(matrixx) if "have failed" in one["what"])
    assert "shaky" in failing["what"] and str(home / "state") in failing["way_out"]


def test_a_person_sees_the_level_and_the_way_out(matrixx: Run, programs: Path) -> None:
    result = matrixx("doctor")
    assert result.exit_code == 1 and "ERROR" in result.stdout and "-> run: matrixx install opencode" in result.stdout


def test_the_doctor_leaves_no_process_behind(matrixx: Run, programs: Path, project: Path) -> None:
    fake = programs / "engine"
    fake.write_text(f'#!/bin/sh\nPATH=/bin:/usr/bin\nsleep 1000 & echo $! > {project}/pid\nread x; echo \'{{"op": "ready"}}\'\nexit 0\n')
    fake.chmod(0o755)
    installed(matrixx, project, command=[str(fake)])
    found(matrixx)
    pid = int((project / "pid").read_text())
    for _ in range(100):
        if subprocess.run(["/bin/ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip() in {
            "",
            "Z",
        }:
            return
        time.sleep(0.05)
    os.kill(pid, 9)
    pytest.fail("the engine's child is still there")


def test_what_hooks_cannot_do_in_an_agent_is_one_line_each_and_for_machines_one_finding(
    matrixx: Run, install: Install, programs: Path
) -> None:
    install(
        "speaks",
        "from matrixx_core import Inject, PermissionAsked, guard\n@guard\ndef permission_asked(permission: PermissionAsked) -> Inject: ...\n",
    )
    (line,) = (line for line in matrixx("doctor", "--host", "opencode").stdout.splitlines() if line.startswith("speaks "))
    assert line.split(maxsplit=2)[1:] == ["no", "add text to a question for permission"]
    (one,) = (one for one in found(matrixx, "--host", "opencode") if "'speaks' cannot act in opencode" in one["what"])
    assert one["level"] == "warn" and "add text to a question for permission" in one["why"]


def test_the_limits_of_an_agent_that_is_not_connected_are_no_news(matrixx: Run, programs: Path) -> None:
    assert "limit of the agent" not in matrixx("doctor").stdout
    assert "limit of the agent" in matrixx("doctor", "--host", "claude-code").stdout
