import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import matrixx_core
from matrixx_builtin.essentials import self_protection as hook
from matrixx_builtin.services import belongings
from matrixx_core import Block
from matrixx_core.loading import ESSENTIALS, installed, load_installed
from matrixx_core.settings import Settings
from matrixx_core.testing import Rig, call

ENTRY = {"matcher": "*", "hooks": [{"type": "command", "command": "matrixx-hook claude_code"}]}
CLAUDE = {"model": "opus", "permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}, ENTRY]}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with every kind of our things in it, and a home of its own."""
    home, root = tmp_path / "home", tmp_path / "project"
    for variable in ("OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(home / ".local/state/matrixx"))
    files = {
        home / ".config/opencode/matrixx.jsonc": "{}",
        home / ".config/opencode/plugin/matrixx.js": "//",
        home / ".local/state/matrixx/trust.json": "{}",
        root / ".opencode/matrixx.jsonc": "{}",
        root / ".opencode/plugin/matrixx.js": "//",
        root / ".opencode/plugin/other.js": "//",
        root / ".matrixx/plans/plan.md": "- [ ] a",
        root / ".claude/settings.json": json.dumps(CLAUDE, indent=2),
        root / "src/a.py": "",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def clear_caches() -> None:
    belongings.programs.cache_clear()
    belongings._listed.cache_clear()


def judged(project: Path, tool: str, **args: Any) -> Block | None:
    return hook.tool_execute_before(call(tool, directory=str(project), **args))


def bash(project: Path, command: str) -> Block | None:
    return judged(project, "bash", command=command)


SETTINGS = [
    "matrixx.jsonc", "matrixx.json", "./.opencode/matrixx.jsonc", ".matrixx/matrixx.jsonc", ".matrixx/x/../matrixx.json", ".OPENCODE/Matrixx.JSONC",
    r".opencode\matrixx.jsonc", "~/.config/opencode/matrixx.jsonc", "~/.config/matrixx/matrixx.json", "{home}/.config/opencode/matrixx.jsonc",
]  # fmt: skip
OTHERS = [
    "~/.local/state/matrixx/trust.json", "~/.local/state/matrixx/anything.db", ".opencode/plugin/matrixx.js", ".opencode/plugins/matrixx.js",
    "~/.config/opencode/plugin/matrixx.js", "~/.config/opencode/plugins/matrixx.js",
]  # fmt: skip


@pytest.mark.parametrize("path", [*SETTINGS, *OTHERS])
def test_no_tool_writes_what_is_ours(project: Path, path: str) -> None:
    path = path.replace("{home}", str(project.parent / "home"))
    text = '{"disabled_hooks": ["env-file-write-guard"]}'
    for tool, args in (
        ("write", {"filePath": path, "content": text}),
        ("edit", {"filePath": path, "oldString": "{}", "newString": text}),
        ("apply_patch", {"patchText": f"*** Begin Patch\n*** Update File: src/a.py\n@@\n+a\n*** Add File: {path}\n+{text}\n*** End Patch"}),
        ("mcp__fs__write_file", {"path": path, "content": text}),
    ):
        block = judged(project, tool, **args)
        assert block is not None, tool
        assert path in block.reason and "user" in block.instead


@pytest.mark.parametrize(
    "command",
    [
        "echo '{}' > .opencode/matrixx.jsonc",
        "cat > matrixx.jsonc <<'EOF'\n{\"disabled_hooks\": [\"env-file-write-guard\"]}\nEOF",
        "cd .opencode && echo '{}' > matrixx.jsonc",
        "tee ~/.config/opencode/matrixx.jsonc < x",
        "cp /tmp/x.json .matrixx/matrixx.jsonc",
        "ln -sf /tmp/x.json matrixx.jsonc",
        "ln .opencode/matrixx.jsonc alias.json",
        "sed -i 's/{}/x/' .opencode/matrixx.jsonc",
        "python3 -c \"open('.opencode/matrixx.jsonc','w').write('{}')\"",
        "rm .opencode/matrixx.jsonc",
        "rm -rf .opencode",
        "rm -rf .opencode/plugin",
        "rm -f .opencode/plugin/matrixx.js",
        "mv .opencode/plugin/matrixx.js /tmp/",
        "mv .opencode /tmp/away",
        "mv .matrixx x",
        "rm -rf .",
        "rm -rf ~/.config",
        "rm -rf $HOME/.config/opencode",
        "rm -rf ~/.local/state/matrixx",
        "rm -rf ~/.local",
        "find . -name matrixx.jsonc -delete",
        "find .opencode -type f -exec rm {} +",
        "git checkout HEAD~1 -- .opencode/matrixx.jsonc",
        "git rm -f .opencode/plugin/matrixx.js",
        "chmod 000 .opencode/plugin/matrixx.js",
        "chmod -R 000 .opencode",
        "truncate -s0 .opencode/plugin/matrixx.js",
        "sudo sh -c 'rm -rf .opencode'",
        "MATRIXX_DISABLED=1 rm .opencode/matrixx.jsonc",
        "env MATRIXX_DISABLED=1 MATRIXX_DISABLED_HOOKS=self-protection rm -rf .opencode",
        "export MATRIXX_DISABLED=1; rm -rf .opencode",
        "unset MATRIXX_STATE_DIR; rm ~/.local/state/matrixx/trust.json",
        "echo '{\"main\": \"x.js\"}' > .opencode/plugin/package.json",
        "cp x.json ~/.config/opencode/plugins/package.json",
        "mkdir -p /tmp/e && cp -r /tmp/e/. .opencode/",
        "cp -r {made}/. .",
        "cp -rT {made} .",
        "tar xf x.tar -C .opencode",
        "unzip x.zip -d ~/.config/matrixx",
        "git checkout -- .opencode",
        "rm .claude/settings.json",
        "rm -rf .claude",
        "mv .claude/settings.json x",
        "sed -i /hooks/d .claude/settings.json",
        "jq 'del(.hooks)' .claude/settings.json > t && mv t .claude/settings.json",
        "echo '{\"disableAllHooks\": true}' > .claude/settings.local.json",
        "echo '{\"disableAllHooks\": true}' > ~/.claude/settings.json",
    ],
)  # fmt: skip
def test_no_shell_route_reaches_what_is_ours(project: Path, command: str) -> None:
    made = project.parent / "made"
    made.mkdir()
    (made / "matrixx.jsonc").touch()
    block = bash(project, command.replace("{made}", str(made)))
    assert block is not None and "user" in block.instead


@pytest.mark.parametrize(
    "command",
    [
        "matrixx uninstall opencode",
        "matrixx install opencode --global",
        "matrixx serve daemon --stop",
        "python -m matrixx_builtin serve daemon --project . --stop",
        "matrixx trust",
        ".venv/bin/matrixx trust .",
        "uv run matrixx trust",
        "uv run --no-sync matrixx trust",
        "uvx --from matrixx-core matrixx trust",
        "pipx run matrixx trust",
        "python -m matrixx_builtin trust",
        "python3.11 -m matrixx_builtin uninstall opencode",
        "uv run python -m matrixx_builtin trust",
        "python -mmatrixx_builtin trust",
        "python .venv/bin/matrixx trust",
        "python -m matrixx_builtin.cli trust",
        "MATRIXX_DISABLED=1 matrixx trust",
        "sh -c 'matrixx trust'",
        "yes | matrixx trust",
        "python -c 'from matrixx_core.trust import trust; trust(\"x\")'",
        "python <<'PY'\nimport matrixx_core.trust as t\nt.trust('x')\nPY",
        "pip uninstall -y matrixx-core",
        "pip3 uninstall matrixx_core",
        "python -m pip uninstall -y matrixx-env-file-write-guard",
        "uv pip uninstall matrixx-secret-leak-guard",
        "uv remove matrixx-all",
        "uv tool uninstall matrixx",
        "pipx uninstall matrixx",
        "poetry remove matrixx-core",
        "pip freeze | grep matrixx | xargs pip uninstall -y",
        "pip uninstall -y $(pip freeze | grep matrixx)",
        "pkill -f matrixx",
        "pkill -9 -f 'matri[x]x'",
        "killall matrixx",
        "kill $(pgrep -f matrixx)",
        "pgrep -f matrixx | xargs kill -9",
        "kill -9 {pid}",
        "kill -- -{pid}",
        "taskkill /F /IM matrixx.exe",
        "opencode --pure run x",
        """claude --settings '{"disableAllHooks": true}' -p x""",
        "CLAUDE_CONFIG_DIR=/tmp/other claude -p x",
        "OPENCODE_PURE=1 opencode run x",
        "MATRIXX_DISABLED=1 opencode run x",
        "export MATRIXX_DISABLED_HOOKS=env-file-write-guard; opencode run x",
        "OPENCODE_CONFIG_DIR=/tmp/x opencode run x",
        "tmux setenv -g MATRIXX_DISABLED 1",
        "launchctl setenv MATRIXX_DISABLED 1",
        "systemctl --user set-environment MATRIXX_DISABLED=1",
        "echo 'export MATRIXX_DISABLED=1' >> ~/.bashrc",
        "echo 'export MATRIXX_DISABLED=1' >> ~/.zshenv",
        "echo 'export MATRIXX_STATE_DIR=/tmp/x' > .envrc",
        "echo 'set -x MATRIXX_DISABLED 1' >> ~/.config/fish/config.fish",
    ],
)
def test_no_program_switches_us_off(project: Path, command: str) -> None:
    assert bash(project, command.replace("{pid}", str(os.getpid()))) is not None


@pytest.mark.parametrize(
    "command",
    [
        "matrixx explain bash '{\"command\": \"matrixx trust\"}'",
        "matrixx hooks --json",
        "matrixx doctor",
        "matrixx replay trace.jsonl --json",
        "matrixx timing; matrixx config show --origin; matrixx config schema",
        "matrixx new trust",
        "matrixx trust --help",
        "matrixx install opencode --dry-run",
        "uv run matrixx demo",
        "cat .opencode/matrixx.jsonc ~/.local/state/matrixx/trust.json .opencode/plugin/matrixx.js",
        "ls -la .opencode ~/.config/opencode",
        "jq .hooks .claude/settings.json",
        "cp .opencode/matrixx.jsonc /tmp/copy.jsonc",
        "git add .opencode && git commit -m 'matrixx trust, rm -rf .opencode'",
        "git diff .opencode/matrixx.jsonc",
        "grep -rn 'matrixx uninstall' docs",
        "rg matrixx trust.py",
        "echo matrixx trust",
        "echo 'run matrixx trust' >> README.md",
        "man matrixx uninstall",
        "MATRIXX_DISABLED=1 npm test",
        "export MATRIXX_DISABLED=1",
        "echo 'export PATH=$PATH:~/bin' >> ~/.bashrc",
        "echo 'MATRIXX_DISABLED=1 does nothing' >> docs/notes.md",
        "mkdir -p .opencode/plugin .matrixx/plans",
        "echo x > .opencode/plugin/other.js",
        "rm .opencode/plugin/other.js",
        "rm -rf .matrixx/plans",
        "echo '{\"type\": \"module\"}' > .opencode/package.json",
        "echo '{\"type\": \"commonjs\"}' > package.json",
        "echo '{}' > sub/matrixx.jsonc",
        "rm -rf src sub",
        "cp -r src/. . && tar xf x.tar && unzip x.zip",
        "cp -r src .matrixx/",
        "git checkout . && git reset --hard && git stash",
        "chmod +x src/a.py",
        "pip install matrixx-core",
        "uv pip install -e .",
        "pip uninstall -y requests",
        "uv remove requests",
        "npm uninstall left-pad",
        "kill 1234567",
        "kill %1",
        "pkill -f 'node server.js'",
        "killall node",
        "pgrep -fl matrixx",
        "ps aux | grep matrixx",
        "opencode --version",
        "opencode run 'say hello'",
        "python -m pytest tests/core/test_trust.py",
        "python -c 'import matrixx_core; print(matrixx_core.__file__)'",
        "echo '{\"permissions\": {}}' > .claude/settings.local.json",
        "git clone https://example.com/matrixx.git /tmp/m",
        "rm -rf /tmp/m/.opencode",
        "true",
        "",
    ],
)  # fmt: skip
def test_reading_asking_and_unrelated_work_pass(project: Path, command: str) -> None:
    assert bash(project, command) is None


@pytest.mark.parametrize(
    "path",
    [
        "matrixx_core/settings.py", "matrixx_core/trust.py", "matrixx_builtin/hosts/opencode/bridge.js", "docs/matrixx.jsonc", "examples/matrixx.json",
        "plugins/matrixx-env-file-write-guard/matrixx_env_file_write_guard.py", "tests/fixtures/.opencode/matrixx.jsonc", "pyproject.toml",
        "plugins/matrixx.js", "tests/.claude/settings.json",
    ],
)  # fmt: skip
def test_the_sources_of_matrixx_can_be_worked_on(project: Path, path: str) -> None:
    assert judged(project, "write", filePath=path, content="matrixx disableAllHooks") is None
    assert bash(project, f"rm -f {path}") is None


@pytest.mark.parametrize(
    ("old", "new", "passes"),
    [
        ('"opus"', '"sonnet"', True),
        ('"Bash(ls)"', '"Bash(ls)", "Bash(cat)"', True),
        ('"matcher": "Bash"', '"matcher": "Write"', True),
        ('"model": "opus"', '"disableAllHooks": true', False),
        ('"matrixx-hook claude_code"', '"true"', False),
        ('"matcher": "*"', '"matcher": "Never"', False),
        ('"PreToolUse"', '"PostToolUse"', False),
        ('"hooks": {', '"hooksOff": {', False),
        ('"model": "opus",', '"model": "opus"', False),
        ('"model": "opus"', '"hooks": {}, "model": "opus"', True),
        ('"Bash(ls)"', '"Bash(matrixx trust)"', False),
        ("not there", "x", True),
    ],
)
def test_an_edit_of_host_settings_passes_while_our_entry_stays(project: Path, old: str, new: str, passes: bool) -> None:
    block = judged(project, "edit", filePath=".claude/settings.json", oldString=old, newString=new)
    assert (block is None) is passes


def test_host_settings_that_hold_our_entry_are_not_written_whole(project: Path) -> None:
    assert judged(project, "write", filePath=".claude/settings.json", content="{}") is not None
    assert judged(project, "write", filePath=".claude/settings.local.json", content="{}") is None
    assert judged(project, "write", filePath=".claude/settings.local.json", content='{"disableAllHooks": true}') is not None
    assert judged(project, "edit", filePath=".gemini/settings.json", oldString="matrixx", newString="x") is not None
    assert judged(project, "edit", filePath=".codex/config.toml", oldString="a", newString='command = "matrixx-hook"') is not None
    assert judged(project, "write", filePath=".codex/config.toml", content="model = 1") is None


def test_a_link_to_our_settings_is_our_settings(project: Path) -> None:
    (project / "notes.txt").symlink_to(".opencode/matrixx.jsonc")
    (project / "folder").symlink_to(".opencode")
    for path in ("notes.txt", "folder/matrixx.jsonc", "folder/plugin/matrixx.js"):
        assert judged(project, "write", filePath=path, content="") is not None
    assert bash(project, "echo > notes.txt") is not None


def test_settings_that_are_a_link_are_protected_where_they_are(project: Path) -> None:
    dotfiles = project.parent / "dotfiles/opencode.jsonc"
    dotfiles.parent.mkdir()
    dotfiles.write_text("{}")
    settings = project / ".opencode/matrixx.jsonc"
    settings.unlink()
    settings.symlink_to(dotfiles)
    assert judged(project, "write", filePath=str(dotfiles), content="") is not None
    assert judged(project, "write", filePath=str(settings), content="") is not None


def test_installed_packages_are_protected_and_a_checkout_is_not(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = project / ".venv/lib/python3.11/site-packages/matrixx_core"
    package.mkdir(parents=True)
    (package / "trust.py").touch()
    command = f"echo > {package}/trust.py"
    assert bash(project, command) is None
    monkeypatch.setattr(matrixx_core, "__file__", str(package / "__init__.py"))
    clear_caches()
    try:
        assert bash(project, command) is not None
        assert bash(project, "rm -rf .venv") is not None
        assert bash(project, "rm -rf .venv/lib/python3.11/site-packages/requests") is None
    finally:
        clear_caches()


def test_deleting_a_folder_of_settings_is_stopped_even_while_it_is_empty(project: Path) -> None:
    assert bash(project, "rm -rf .matrixx") is not None
    assert bash(project, "rmdir ~/.config/matrixx") is not None


def test_a_state_directory_among_the_projects_files_leaves_the_project_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(project))
    assert bash(project, "echo > src/a.py") is None
    assert bash(project, "echo > trust.json") is not None


def test_the_places_follow_the_environment_of_the_engine(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = project.parent / "elsewhere"
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(elsewhere))
    assert judged(project, "write", filePath=f"{elsewhere}/matrixx.jsonc", content="") is not None
    assert judged(project, "write", filePath=f"{elsewhere}/plugin/matrixx.js", content="") is not None


def test_a_pattern_that_would_end_the_engine_is_stopped(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["/usr/bin/python3.11", "-m", "matrixx_builtin", "serve", "opencode"])
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3.11")
    for command in ("pkill python", "pkill -f python", "pkill -f 'serve opencode'", "pkill -f 'serve daemon'", "killall python3.11"):
        assert bash(project, command) is not None
    for command in ("pkill -f 'python server.py'", "pkill node", "killall ruby"):
        assert bash(project, command) is None


def test_variables_set_in_a_call_change_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C10: only the engine's own environment counts, and no call reaches that."""
    rig = Rig(hook, directory=str(project))
    assert rig.before("bash", command="export MATRIXX_DISABLED=1 MATRIXX_DISABLED_HOOKS=self-protection").block is None
    assert rig.before("bash", command="MATRIXX_DISABLED=1 rm .opencode/matrixx.jsonc").blocked_by.endswith("self-protection")


def test_settings_cannot_disable_it() -> None:
    found = {name: one for name, one in installed().items() if name == "self-protection"}
    assert found["self-protection"].group == ESSENTIALS
    plugins = load_installed(Settings.of({"disabled_hooks": ["self-protection"]}), disabled=["self-protection"], found=found)
    assert not plugins.disabled
    assert plugins.manager.has_plugin("self-protection")


def test_a_child_session_is_judged_alike(project: Path) -> None:
    rig = Rig(hook, directory=str(project))
    child = rig.host.sessions["ses_test"]
    child.parent, child.agent = "ses_main", "explore"
    assert rig.before("write", filePath="matrixx.jsonc", content="{}").block is not None


def test_the_persons_own_edit_from_outside_is_no_call(project: Path) -> None:
    (project / "matrixx.jsonc").write_text('{"disabled_hooks": []}')
    assert bash(project, "cat matrixx.jsonc") is None


@pytest.mark.parametrize(
    "args",
    [
        {}, {"filePath": None}, {"filePath": 7}, {"filePath": ["a", 3, None]}, {"filePath": "a\0b"}, {"filePath": "\ud800.jsonc"}, {"command": 3},
        {"filePath": "x" * 1_000_000}, {"command": "((((" * 500}, {"command": "matrixx " * 20_000}, {"command": "\ud800 > \0"}, {"edits": [{"a": {}}]},
        {"filePath": ".claude/settings.json", "oldString": 3, "newString": None, "edits": [[[]]]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["write", "edit", "bash", "apply_patch", "mcp__x__write", "", "\ud800"])
def test_odd_arguments_are_judged_without_an_error(tmp_path: Path, tool: str, args: dict[str, Any]) -> None:
    assert hook.tool_execute_before(call(tool, directory=str(tmp_path), **args)) is None


def test_settings_of_a_host_that_cannot_be_read_do_not_open_a_way(project: Path) -> None:
    settings = project / ".claude/settings.json"
    settings.write_bytes(b'\xff\xfe {"hooks": "matrixx"')
    assert judged(project, "edit", filePath=str(settings), oldString="hooks", newString="x") is not None
    settings.write_text("[" * 100_000 + '"matrixx"')
    assert judged(project, "edit", filePath=str(settings), oldString="[[", newString="") is not None


def test_what_is_too_long_to_judge_is_stopped(project: Path) -> None:
    block = bash(project, "true;" * 12_000 + "rm .opencode/plugin/matrixx.js")
    assert block is not None and "split" in block.instead


@pytest.mark.parametrize(
    "command",
    [
        "pkill python", "pkill -9 python3", "killall python3", "pkill -f serve.opencode", "pkill -f 'matrixx.*serve'", "pgrep -f matri | xargs kill",
        "kill $(pidof python)", "kill -9 -1", "chmod -x .opencode", "rsync -a --delete public/ ./", "rsync -a e/ .opencode/", "$(which matrixx) trust",
        "find . -name matrixx.jsonc -delete", "find . -name '*.jsonc' | xargs rm", "ln -s .opencode d; echo x > d/matrixx.jsonc",
        "ln -s .opencode/plugin d && rm d/matrixx.js", "mount --bind /tmp/x .opencode",
        "python -c \"import runpy; runpy.run_module('matrixx_builtin')\" trust",
    ],
)  # fmt: skip
def test_ways_that_a_second_attack_tried(project: Path, command: str) -> None:
    for name in ("e/matrixx.jsonc", "e/deep/matrixx.jsonc"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).touch()
    assert bash(project, command) is not None


@pytest.mark.parametrize(
    "command",
    [
        "pkill -f 'node server.js'", "pkill -u me -f vite", "kill $PID", "kill $(lsof -ti:3000)", "kill -1 4242424", "kill %1", "killall node",
        "pgrep -f python", "kill $(pgrep -f 'node x.js')", "find . -name '*.tmp' -delete", "rsync -a public/ dist/", "rsync -a --delete a/ dist/",
        "chmod -x a.sh", "which matrixx",
    ],
)  # fmt: skip
def test_everyday_work_beside_them(project: Path, command: str) -> None:
    assert bash(project, command) is None
