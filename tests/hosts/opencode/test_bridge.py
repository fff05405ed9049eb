"""The bridge in the real OpenCode when things go wrong: no engine, a dying one, a deaf one, and the end of OpenCode itself."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matrixx_builtin.rehearsal.model import serving
from matrixx_builtin.rehearsal.opencode import ANSWER, END, make_home, serve, started
from matrixx_core.loading import GROUP, installed

from ..played import Played
from ..programs import program
from ..scenario import Scenario
from ..values import github_token
from .runner import Opened, Runner, classify, install, start

ENGINE = [sys.executable, "-m", "matrixx_builtin", "serve", "opencode"]
GUARD = "env-file-write-guard"

TWO_WRITES = Scenario.model_validate({
    "hook": GUARD,
    "needs": ["block"],
    "prompts": ["Write the settings."],
    "turns": [
        {"tool": "write", "args": {"filePath": "{{PROJECT}}/.env", "content": "A=1\n"}},
        {"tool": "write", "args": {"filePath": "{{PROJECT}}/.env.local", "content": "A=1\n"}},
        {"say": "done"},
    ],
    "expect": [],
})  # fmt: skip

SOON = {"hooks": {name: {"deadline_ms": 2_000} for name in ("secret-leak-guard", "input-secret-guard")}}
"""The bridge waits for twice the longest deadline and two seconds: three seconds with these."""


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("bridge")) as runner:
        yield runner


def middleman(folder: Path, *what: str) -> list[str]:
    folder.mkdir()
    return [sys.executable, str(Path(__file__).with_name("middleman.py")), str(folder), *what, "--", *ENGINE]


def engines(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdigit()]


def sent(folder: Path, hook: str) -> list[str]:
    """The tools of the calls of one hook that reached the engine."""
    lines = [json.loads(line) for line in (folder / "sent.jsonl").read_text().splitlines()]
    return [str(line["input"].get("tool")) for line in lines if line.get("hook") == hook]


def gone(pid: int) -> bool:
    """Whether a process has ended within a few seconds; one that only waits to be reaped has."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def result(played: Played, call: int) -> str:
    """What the model read of a call."""
    return next(message.text for request in played.requests for message in request.messages if message.call == call)


def refused(played: Played, name: str) -> bool:
    return not (played.project / name).exists()


def test_without_an_engine_the_agent_works_on_and_the_person_is_told(opencode: Runner) -> None:
    opened = opencode.open(TWO_WRITES)
    install(opened.project, ["/nonexistent/matrixx"])
    played = opencode.finish(opened)
    assert (played.project / ".env").read_text() == "A=1\n"
    assert "Matrixx is not guarding this session" in played.told
    assert played.unplayed == 0


def test_without_an_engine_a_prompt_is_refused_where_the_user_wants_that(opencode: Runner) -> None:
    opened = opencode.open(TWO_WRITES)
    install(opened.project, ["/nonexistent/matrixx"], fail_closed=True)
    played = opencode.finish(opened)
    assert played.requests == []
    assert refused(played, ".env")


@pytest.mark.parametrize(("how", "fail_closed"), [("SIGKILL", False), ("SIGKILL", True), ("SIGSTOP", True)])
def test_an_engine_that_dies_or_hangs_in_a_call_is_started_again(opencode: Runner, tmp_path: Path, how: str, fail_closed: bool) -> None:
    opened = opencode.open(TWO_WRITES, settings={**SOON, "fail_closed": fail_closed})
    folder = tmp_path / "engine"
    install(opened.project, middleman(folder, how, "tool.execute.before"))
    played = opencode.finish(opened)
    assert refused(played, ".env") == fail_closed
    assert ("Refused by Matrixx: its engine cannot be reached" in result(played, 1)) == fail_closed
    assert GUARD in result(played, 2), "the new engine guards again"
    assert refused(played, ".env.local")
    assert len(engines(folder)) == 2
    assert all(map(gone, engines(folder)))


def test_calls_that_no_hook_wants_never_reach_the_engine(opencode: Runner, tmp_path: Path) -> None:
    quiet = Scenario.model_validate({
        **TWO_WRITES.model_dump(exclude_unset=True),
        "files": {"notes.txt": "a note\n"},
        "turns": [
            {"tool": "read", "args": {"filePath": "{{PROJECT}}/notes.txt"}},
            {"tool": "glob", "args": {"pattern": "*.txt"}},
            {"tool": "todowrite", "args": {"todos": []}},
            {"tool": "write", "args": {"filePath": "{{PROJECT}}/.env", "content": "A=1\n"}},
            {"say": "done"},
        ],
    })  # fmt: skip
    opened = opencode.open(quiet, settings={"disabled_hooks": [name for name in shipped() if name != GUARD]})
    folder = tmp_path / "engine"
    install(opened.project, middleman(folder))
    played = opencode.finish(opened)
    assert GUARD in result(played, 4)
    assert sent(folder, "tool.execute.before") == ["write"]
    assert sent(folder, "tool.execute.after") == []


def shipped() -> list[str]:
    return [name for name, found in installed().items() if found.group == GROUP]


def test_two_projects_in_one_opencode_have_each_their_own_engine_and_settings(opencode: Runner, tmp_path: Path) -> None:
    guarded, open_ = opencode.open(TWO_WRITES), opencode.open(TWO_WRITES, settings={"disabled_hooks": [GUARD]})
    folders = [tmp_path / "guarded", tmp_path / "open"]
    for opened, folder in zip((guarded, open_), folders, strict=True):
        install(opened.project, middleman(folder))
        assert opencode.server.prompt(opened.project, opencode.server.session(opened.project), "Write the settings.")
    alive = [pid for folder in folders for pid in engines(folder)]
    assert len(alive) == 2
    assert not (guarded.project / ".env").exists()
    assert (open_.project / ".env").exists()
    for opened, folder in zip((guarded, open_), folders, strict=True):
        opencode.server.dispose(opened.project)
        assert all(map(gone, engines(folder)))


def test_the_plugin_file_loads_whatever_the_project_says_of_its_modules(opencode: Runner) -> None:
    package = {"name": "app", "version": "1.0.0", "main": "index.js", "type": "commonjs"}
    opened = opencode.open(TWO_WRITES)
    install(opened.project)
    for folder in ("", ".opencode"):
        (opened.project / folder / "package.json").write_text(json.dumps(package))
    del package["main"]  # beside the plugin file it would take the file's place
    (opened.project / ".opencode/plugin/package.json").write_text(json.dumps(package))
    (opened.project / "tsconfig.json").write_text(
        '{"extends": "./missing.json", "compilerOptions": {"module": "commonjs", "jsx": "react"}}'
    )
    played = opencode.finish(opened)
    assert GUARD in result(played, 1)


@pytest.mark.parametrize(("how", "busy"), [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGKILL, True)])
def test_no_engine_outlives_opencode(tmp_path: Path, how: signal.Signals, busy: bool) -> None:
    slow = Scenario.model_validate({
        **TWO_WRITES.model_dump(exclude_unset=True),
        "turns": [{"tool": "bash", "args": {"command": "touch begun; sleep 60" if busy else "touch begun", "description": "Wait"}}, {"say": "done"}],
    })  # fmt: skip
    folder = tmp_path / "engine"
    with serving(classify) as model, serve(program("opencode"), home := make_home(tmp_path)) as server:
        opened = Runner(server, model, home).open(slow)
        install(opened.project, middleman(folder))
        session = server.session(opened.project)
        path = f"/session/{session}/prompt_async"
        server.request("POST", path, opened.project, {"parts": [{"type": "text", "text": "Wait."}]})
        wait_for(lambda: (opened.project / "begun").exists() and (busy or opened.script.unplayed == 0))
        (pid,) = engines(folder)
        server.process.send_signal(how)
        server.process.wait(END)
        assert gone(pid)


def wait_for(done: Callable[[], bool]) -> None:
    for _ in range(int(ANSWER * 10)):
        if done():
            return
        time.sleep(0.1)
    raise TimeoutError


def run(opencode: Runner, opened: Opened, prompt: str) -> "subprocess.CompletedProcess[str]":
    """``opencode run`` of one prompt, to its end."""
    argv = [str(program("opencode")), "run", "--", prompt]
    with started(argv, opened.project, opencode.home, subprocess.PIPE) as process:
        out, err = process.communicate(timeout=ANSWER)
        return subprocess.CompletedProcess(argv, process.returncode, out, err)


def test_opencode_run_is_guarded_and_leaves_no_engine(opencode: Runner, tmp_path: Path) -> None:
    opened = opencode.open(TWO_WRITES)
    folder = tmp_path / "engine"
    install(opened.project, middleman(folder))
    finished = run(opencode, opened, "Write the settings.")
    assert finished.returncode == 0
    assert GUARD in finished.stdout + finished.stderr
    assert not (opened.project / ".env").exists()
    assert opened.script.unplayed == 0
    assert all(map(gone, engines(folder)))
    assert len(engines(folder)) == 1


def test_opencode_run_says_why_a_prompt_was_held_back(opencode: Runner) -> None:
    opened = opencode.open(TWO_WRITES)
    install(opened.project)
    token = github_token()
    finished = run(opencode, opened, f"Deploy with {token}")
    assert finished.returncode != 0
    assert "input-secret-guard" in finished.stderr
    assert token not in finished.stdout + finished.stderr
    assert opened.script.requests == []
