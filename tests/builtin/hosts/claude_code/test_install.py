"""Our handlers in Claude Code's settings: in beside what is there, and out again byte for byte."""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matrixx_builtin.daemon import endpoint
from matrixx_builtin.daemon.client import BLOCKABLE, SECONDS
from matrixx_builtin.hosts.changes import Installation
from matrixx_builtin.hosts.claude_code import install, switches
from matrixx_builtin.hosts.claude_code.install import EVENTS, installation, installed, is_ours, removal, settings_file
from matrixx_core.errors import MatrixxError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of this machine's user is read or written, and there is no compiler."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(home / "state"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setattr(install, "compile_client", lambda folder: None)
    monkeypatch.setattr(switches, "MANAGED", tmp_path / "managed")
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


def make(change: Installation) -> Installation:
    for one in change.changes:
        one.make()
    return change


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in sorted(folder.rglob("*"))}


def put(project: Path, content: bytes) -> Path:
    path = settings_file(project)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def hooks(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())["hooks"]
    return found


def test_every_event_that_the_adapter_hears_has_one_handler_without_matcher(project: Path) -> None:
    make(installation(project, fail_closed=False))
    assert list(hooks(settings_file(project))) == list(EVENTS)
    for event, groups in hooks(settings_file(project)).items():
        ((group,), (handler,)) = groups, groups[0]["hooks"]
        assert list(group) == ["hooks"] and handler["type"] == EVENTS[event]
        assert handler["timeout"] > SECONDS and "onFailure" not in handler and is_ours(handler)


def test_a_projects_handlers_ask_its_endpoint_or_start_its_engine(project: Path) -> None:
    make(installation(project, fail_closed=False))
    found, there = hooks(settings_file(project)), endpoint(project)
    http, command = found["PreToolUse"][0]["hooks"][0], found["SessionStart"][0]["hooks"][0]
    assert http["url"] == f"http://127.0.0.1:{there.port}/claude-code" and http["headers"]["Authorization"] == f"Bearer {there.token}"
    assert [command["command"], *command["args"][:3]] == [sys.executable, "-I", "-S", "-E"]
    assert command["args"][4:] == ["claude-code", "SessionStart", "open", str(project)]


def test_all_projects_are_served_by_the_client_as_an_engine_has_but_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(installation(None, fail_closed=False))
    path = home / ".claude" / "settings.json"
    assert installed(None) == path and str(endpoint(home).token) not in path.read_text()
    assert {groups[0]["hooks"][0]["args"][-1] for groups in hooks(path).values()} == {"open"}
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "cc"))
    monkeypatch.setattr(install, "compile_client", lambda folder: folder / "matrixx-client")
    make(installation(None, fail_closed=False))
    (handler,) = hooks(home / "cc" / "settings.json")["Stop"][0]["hooks"]
    assert handler["command"].startswith(str(home / "state" / "clients")) and is_ours(handler)
    assert handler["args"] == [sys.executable, "claude-code", "Stop", "open"]


def test_fail_closed_is_said_to_the_client_and_to_the_host_where_a_refusal_undoes_something(project: Path) -> None:
    make(installation(project, fail_closed=True))
    for event, groups in hooks(settings_file(project)).items():
        handler = groups[0]["hooks"][0]
        assert handler.get("onFailure") == ("block" if event in BLOCKABLE else None)
        assert ("closed" in handler.get("args", ())) == (event in BLOCKABLE and EVENTS[event] == "command")


BEFORE: dict[str, bytes | None] = {
    "no folder": None,
    "an empty object": b"{}",
    "an empty object with white space": b"{ \n}\n",
    "other settings": b'{\n  "model": "x",\n  "env": {"A": "1"}\n}\n',
    "one line": b'{"model":"x"}',
    "tabs": b'{\n\t"model": "x"\n}',
    "windows": b'{\r\n  "model": "x"\r\n}\r\n',
    "windows with comments": b'{\r\n  "model": "x" // mine\r\n  // and\r\n}\r\n',
    "a byte order mark": b'\xef\xbb\xbf{"model": "x"}\n',
    "comments": b'// mine\n{\n  "model": "x" // and why\n  /* end */\n} // out\n',
    "a comment in an empty object": b"{ // nothing yet\n}",
    "a comment behind the last comma": b'{"a": 1, // one\n "b": 2 // two\n}',
    "empty hooks": b'{"hooks": {}}',
    "empty hooks with a comment": b'{"hooks": {\n  // none\n}}',
    "an empty list": b'{\n  "hooks": {\n    "PreToolUse": []\n  }\n}',
    "hooks of others": b'{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}], "Stop": [ ]}, "z": 1}',
    "a group without hooks": b'{"hooks": {"Stop": [{}, 3, {"hooks": []}]}}',
    "odd keys": '{"é\\u0000": "\\ud800", "hooks": {"Unknown": [], "": [{"hooks": [1, "http"]}]}}'.encode(),
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_uninstall_restores_byte_for_byte_also_after_an_upgrade(
    project: Path, before: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before is not None:
        put(project, before)
    there = snapshot(project)
    make(installation(project, fail_closed=False))
    first = snapshot(project)
    assert first != there and not installation(project, fail_closed=False).changes
    monkeypatch.setattr(sys, "executable", '/opt/a "b" é/python')
    make(installation(project, fail_closed=True))
    assert snapshot(project) != first
    make(removal(project))
    assert snapshot(project) == there


@pytest.mark.parametrize(
    "before", [one for one in BEFORE.values() if one and b"//" not in one], ids=[k for k, one in BEFORE.items() if one and b"//" not in one]
)
def test_what_others_have_written_stays_and_means_the_same(project: Path, before: bytes) -> None:
    path = put(project, before)
    make(installation(project, fail_closed=False))
    was, now = json.loads(before.decode("utf-8-sig")), json.loads(path.read_text("utf-8-sig"))
    for event, groups in now.pop("hooks").items():
        assert [one for one in groups if not _only_ours(one)] == was.get("hooks", {}).get(event, [])
    was.pop("hooks", None)
    assert now == was
    assert b"\n" not in path.read_bytes().replace(b"\r\n", b"") or b"\r\n" not in before


def _only_ours(group: Any) -> bool:
    return isinstance(group, dict) and bool(group.get("hooks")) and all(map(is_ours, group["hooks"]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
GROUP = st.fixed_dictionaries({}, optional={"matcher": st.sampled_from(["", "Bash"]), "hooks": st.lists(JSON, max_size=2)})
HOOKS = st.dictionaries(st.sampled_from([*[*EVENTS][:4], "Other"]), st.lists(GROUP | JSON, max_size=2), max_size=3)
SETTINGS = st.fixed_dictionaries({}, optional={"env": JSON, "hooks": HOOKS, "z": JSON})


LINE_END = st.sampled_from(["", "", " // x", " /* y */", "\n  // z\n  /* zz */"])
"""Behind each line of a text, where a comment may stand."""


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=SETTINGS, indent=st.sampled_from([None, 0, 2, "\t"]), data=st.data(), line_break=st.sampled_from(["\n", "\r\n"]))
def test_any_settings_come_back_as_they_were(
    project: Path, said: dict[str, Any], indent: int | str | None, data: st.DataObject, line_break: str
) -> None:
    lines = [line + data.draw(LINE_END) for line in json.dumps(said, indent=indent).split("\n")]
    before = "\n".join(lines).replace("\n", line_break).encode()
    path = put(project, before)
    make(installation(project, fail_closed=False))
    make(removal(project))
    assert path.read_bytes() == before


def test_a_file_that_a_program_has_written_anew_in_between_loses_all_of_ours(project: Path) -> None:
    path = put(project, b'{"model": "x"}')
    make(installation(project, fail_closed=False))
    path.write_text(json.dumps({**json.loads(path.read_text()), "theme": "dark"}, indent=2) + "\n")
    make(removal(project))
    assert json.loads(path.read_text()) == {"model": "x", "theme": "dark"}


def test_what_others_put_beside_ours_stays(project: Path) -> None:
    make(installation(project, fail_closed=False))
    path = settings_file(project)
    said = json.loads(path.read_text())
    mine = {"type": "command", "command": "mine"}
    said["hooks"]["Stop"][0]["hooks"].append(mine)
    said["hooks"]["PreToolUse"].insert(0, {"matcher": "Bash", "hooks": [mine]})
    path.write_text(json.dumps(said))
    (project / ".claude" / "other").write_text("")
    make(removal(project))
    assert hooks(path) == {"PreToolUse": [{"matcher": "Bash", "hooks": [mine]}], "Stop": [{"hooks": [mine]}]}


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["Stop"].append(said["Stop"][0]),
        lambda said: said["Stop"][0].update(matcher="x"),
        lambda said: said.update(Gone=said["Stop"]),
        lambda said: said.pop("Stop"),
        lambda said: said["Stop"][0]["hooks"][0]["headers"].update({"Authorization": "old"}),
        lambda said: said["Stop"][0]["hooks"][0].update(url="http://127.0.0.1:1/claude-code"),
    ],
)
def test_installing_again_corrects_what_is_not_as_it_was(project: Path, change: Callable[[dict[str, Any]], object]) -> None:
    make(installation(project, fail_closed=False))
    path = settings_file(project)
    right = hooks(path)
    said = hooks(path)
    change(said)
    path.write_text(json.dumps({"hooks": said}))
    make(installation(project, fail_closed=False))
    assert hooks(path) == right and not installation(project, fail_closed=False).changes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"// nothing", "empty"),
        (b'{"a": 1,\n}', "no valid JSON"),
        (b'{\n\n"a" 1}', "line 3"),
        (b"{} {}", "after its end"),
        (b"[]", "a list"),
        (b'"x"', "a single value"),
        (b'{"hooks": []}', "'hooks' is no object"),
        (b'{"hooks": null}', "'hooks' is no object"),
        (b'{"hooks": {"Stop": {}}}', "'Stop' is no list"),
        (b'{"hooks": {},\n"hooks": {}}', "line 2: 'hooks' is there twice"),
        (b'{"hooks": {"Stop": [], "Stop": []}}', "'Stop' is there twice"),
        (b'{"a": "\x01"}', "no valid JSON"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "no valid JSON"),
        (b'{"hooks": {"Stop": [{"hooks": [' + b"[" * 5_000 + b"]" * 5_000 + b"]}]}}", "nested too deeply"),
    ],
)
def test_settings_that_cannot_be_changed_are_told_and_left_alone(project: Path, content: bytes, words: str) -> None:
    path = put(project, content)
    for ask in (lambda: installation(project, fail_closed=False), lambda: removal(project)):
        with pytest.raises(MatrixxError, match=words):
            ask()
    assert path.read_bytes() == content and installed(project) is None


def test_a_link_a_folder_and_a_pipe_are_no_settings_file(project: Path, tmp_path: Path) -> None:
    path = settings_file(project)
    path.parent.mkdir()
    (tmp_path / "elsewhere").write_text("{}")
    for put_there, words in (
        (lambda: path.symlink_to(tmp_path / "elsewhere"), "symbolic link"),
        (path.mkdir, "no file"),
        (lambda: os.mkfifo(path), "no file"),
    ):
        put_there()
        with pytest.raises(MatrixxError, match=words):
            installation(project, fail_closed=False)
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert (tmp_path / "elsewhere").read_text() == "{}"


def test_only_the_person_may_read_a_file_with_a_token(project: Path, home: Path) -> None:
    path = put(project, b"{}")
    path.chmod(0o644)
    make(installation(project, fail_closed=False))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    user = settings_file(None)
    user.parent.mkdir()
    user.write_text("{}")
    user.chmod(0o640)
    make(installation(None, fail_closed=False))
    make(removal(None))
    assert stat.S_IMODE(user.stat().st_mode) == 0o640


@pytest.mark.parametrize("folders", [(".claude",), ()])
def test_a_folder_goes_only_if_it_was_made(project: Path, folders: tuple[str, ...]) -> None:
    for folder in folders:
        (project / folder).mkdir()
    make(installation(project, fail_closed=False))
    make(removal(project))
    assert [path.name for path in project.iterdir()] == list(folders)


def advice(project: Path | None) -> str:
    return "\n".join(installation(project, fail_closed=False).advice)


def test_what_would_keep_the_hooks_from_running_is_told(project: Path, tmp_path: Path) -> None:
    assert "disableAllHooks" not in advice(project) and "comments" not in advice(project)
    put(project, b'{"disableAllHooks": true, "allowedHttpHookUrls": ["https://*"]} // why')
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "managed-settings.json").write_text('{"allowManagedHooksOnly": true}')
    told = advice(project)
    assert all(words in told for words in ("disableAllHooks", "allowManagedHooksOnly", "allowedHttpHookUrls", "comments"))
    put(project, b'{"allowedHttpHookUrls": ["http://127.0.0.1:*"]}')
    assert "allowedHttpHookUrls" not in advice(project)


def test_a_repository_and_a_second_place_are_told(project: Path) -> None:
    assert "Git" not in advice(project)
    (project / ".git").mkdir()
    assert "keep it out of Git" in advice(project) and "keep it out of Git" in advice(project / "below")
    make(installation(None, fail_closed=False))
    assert "for all projects as well" in advice(project) and "as well" not in advice(None)


def test_uninstalling_what_is_not_there_changes_nothing(project: Path) -> None:
    assert not removal(project).changes
    put(project, b'{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:1/claude-code"}]}]}}')
    assert not removal(project).changes, "somebody else's engine"


@pytest.mark.parametrize("odd", [None, 1, "http", [], {}, {"type": "http", "headers": []}, {"type": "command", "args": {}, "command": 3}])
def test_an_odd_handler_is_not_ours(odd: Any) -> None:
    assert not is_ours(odd)
