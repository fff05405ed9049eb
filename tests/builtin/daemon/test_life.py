"""The engine's life: one starts, it survives its clients, is replaced, and goes when nobody needs it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from builtin.daemon.worlds import PATIENCE, World, lives, until

from matrixx_builtin.daemon import fingerprint, place
from matrixx_builtin.daemon.control import Status

QUICK = json.dumps({"IDLE": 0.2, "TICK": 0.05, "YOUNG": 0})


def test_twenty_clients_at_once_start_one_engine(world: World, clients: Mapping[str, Sequence[str]]) -> None:
    commands = list(clients.values())
    started = [world.begin(commands[number % len(commands)], {"number": number}) for number in range(20)]
    answers = [json.loads(process.communicate(timeout=2 * PATIENCE)[0]) for process in started]
    assert sorted(one["number"] for one in answers) == list(range(20))
    assert {one["pid"] for one in answers} == {world.running().pid}
    assert world.log.count("is ready") == 1 and "Traceback" not in world.log


def test_a_project_has_its_own_engine_and_it_is_in_its_folder(world: World, quick: Sequence[str]) -> None:
    other = world.folder / "other"
    other.mkdir()
    one, two = world.answer(quick, {"a": 1}), world.answer(quick, {"a": 1}, "Stop", "open", str(other))
    assert (one["project"], two["project"]) == (str(world.project), str(other)) and one["pid"] != two["pid"]
    assert Path(f"/proc/{two['pid']}/cwd").readlink() == other if Path("/proc/self/cwd").exists() else True
    os.kill(two["pid"], signal.SIGTERM)


def test_it_is_no_child_of_a_session_and_holds_none_of_its_files(world: World, client: Sequence[str]) -> None:
    reading, writing = os.pipe()
    command = [*client, "stub", "Stop", "open", str(world.project)]
    done = subprocess.run(command, input=b'{"a":1}', capture_output=True, pass_fds=[writing], env=world.env, timeout=PATIENCE, check=True)
    os.close(writing)
    assert os.read(reading, 1) == b"", "the end of the pipe, though the engine lives"
    os.close(reading)
    pid = json.loads(done.stdout)["pid"]
    assert pid == world.running().pid and os.getsid(pid) == pid != os.getsid(0)


def test_a_killed_engine_is_started_again_and_its_socket_replaced(world: World, client: Sequence[str]) -> None:
    first = world.answer(client, {"a": 1})["pid"]
    os.kill(first, signal.SIGKILL)
    until(lambda: world.holder() is None)
    assert world.socket().exists()
    assert world.status() is None
    assert world.answer(client, {"a": 1})["pid"] != first


def test_an_engine_killed_in_the_middle_is_asked_again(world: World, client: Sequence[str]) -> None:
    begun = world.folder / "begun"
    waiting = world.begin(client, {"begun": str(begun), "until": "/nowhere"}, "PreToolUse", "closed")
    until(begun.exists)
    first = world.running().pid
    os.kill(first, signal.SIGKILL)
    out, err = waiting.communicate(timeout=PATIENCE)
    assert (waiting.returncode, err) == (0, b"") and json.loads(out)["pid"] != first


def test_clients_that_vanish_stall_or_talk_nonsense_harm_nobody(world: World, quick: Sequence[str]) -> None:
    pid = world.answer(quick, {"a": 1})["pid"]
    begun = world.folder / "begun"
    killed = world.begin(quick, {"begun": str(begun), "until": str(world.folder / "end")})
    until(begun.exists)
    killed.kill()
    killed.communicate(timeout=PATIENCE)
    header = f"matrixx 1 stub Stop 1 {sys.executable}\n".encode()
    halves = [
        b"",
        b"matrixx",
        header,
        header + b'{"half',
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0" * 100_000,
        b"matrixx 1 a b c d\n",
        b"matrixx 2 a b 1 d\n",
    ]
    kept = []
    for half in halves * 2:
        one = socket.socket(socket.AF_UNIX)
        one.connect(str(world.socket()))
        one.settimeout(PATIENCE)
        try:
            one.sendall(half)
        except OSError:
            assert half.startswith(b"\0")
        kept.append(one)
    for one in kept[: len(halves)]:
        one.close()
    assert world.answer(quick, {"a": 1})["pid"] == pid
    for one in kept:
        one.close()
    (world.folder / "end").touch()
    assert world.answer(quick, {"a": 1})["pid"] == pid
    assert "Traceback" not in world.log


def test_the_end_waits_for_what_is_in_hand_and_the_place_is_free_at_once(world: World, client: Sequence[str]) -> None:
    begun, end = world.folder / "begun", world.folder / "end"
    waiting = world.begin(client, {"begun": str(begun), "until": str(end)})
    until(begun.exists)
    first = world.running().pid
    os.kill(first, signal.SIGTERM)
    until(lambda: world.holder() is None)
    assert not world.socket().exists()
    assert world.answer(client, {"a": 1})["pid"] != first
    end.touch()
    assert json.loads(waiting.communicate(timeout=PATIENCE)[0])["pid"] == first
    until(lambda: not lives(first))


def test_stop_ends_it_and_tells_whether_there_was_one(world: World, quick: Sequence[str]) -> None:
    assert world.stop() is False
    pid = world.answer(quick, {"a": 1})["pid"]
    assert world.stop() is True and world.stop() is False
    until(lambda: not lives(pid))
    assert not world.socket().exists()


def test_stop_ends_an_engine_that_hangs(world: World, quick: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matrixx_builtin.daemon.control.PATIENCE", 0.2)
    pid = world.answer(quick, {"a": 1})["pid"]
    os.kill(pid, signal.SIGSTOP)
    assert world.status() is None and world.holder() == pid
    assert world.stop() is True
    assert world.holder() is None


def test_another_interpreter_gets_an_engine_of_its_own_and_everybody_an_answer(world: World, clients: Mapping[str, Sequence[str]]) -> None:
    other = world.folder / "other" / "bin" / "python"
    other.parent.mkdir(parents=True)
    other.symlink_to(Path(sys.executable).resolve())
    if "c" not in clients:
        pytest.skip("there is no C compiler")
    ours, theirs = [clients["c"][0], sys.executable], [clients["c"][0], str(other)]
    first = world.answer(ours, {"a": 1}, STUB_SERVING=QUICK)["pid"]
    second = world.answer(theirs, {"a": 1}, STUB_SERVING="{}")["pid"]
    assert second != first and world.running().python == str(other)
    assert world.answer(ours, {"a": 1})["pid"] == second, "it is young: two would else keep each other from answering"
    same = Path(sys.executable).with_name("python3")
    if same.exists():
        world.stop()
        third = world.answer(ours, {"a": 1}, STUB_SERVING=QUICK)["pid"]
        assert world.answer([clients["c"][0], str(same)], {"a": 1})["pid"] == third, "another name of the same"
        assert world.answer([clients["c"][0], "/nowhere/python"], {"a": 1})["pid"] == third, "none at all"


def test_two_interpreters_in_a_fight_are_both_answered(world: World, clients: Mapping[str, Sequence[str]]) -> None:
    other = world.folder / "other" / "bin" / "python"
    other.parent.mkdir(parents=True)
    other.symlink_to(Path(sys.executable).resolve())
    if "c" not in clients:
        pytest.skip("there is no C compiler")
    at_once = [world.begin([clients["c"][0], str(python)], {"number": number}) for number in range(4) for python in (sys.executable, other)]
    answers = [json.loads(process.communicate(timeout=PATIENCE)[0]) for process in at_once]
    assert sorted(one["number"] for one in answers) == sorted([*range(4)] * 2)


def test_an_installed_plugin_brings_a_new_engine_and_nobody_is_turned_away(world: World, quick: Sequence[str]) -> None:
    first = world.answer(quick, {"a": 1})["pid"]
    before = world.running()
    assert ask_http(world)["pid"] == first
    world.install("late", "matrixx.hooks", "")

    def replaced() -> bool:
        seen = {ask_http(world)["pid"], world.answer(quick, {"a": 1})["pid"]}
        return first not in seen

    until(replaced)
    after = world.running()
    assert after.plugins != before.plugins and after.port == before.port
    until(lambda: not lives(first))
    assert world.log.count("is ready") == 2


def ask_http(world: World) -> Mapping[str, int]:
    endpoint = world.endpoint()
    request = urllib.request.Request(endpoint.url("stub"), b'{"a": 1}', {"Authorization": f"Bearer {endpoint.token}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        found: Mapping[str, int] = json.load(answer)
    return found


def test_a_watch_tells_what_is_installed_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint, "LOOK", 0)
    monkeypatch.syspath_prepend(str(tmp_path))
    watch = fingerprint.Watch()
    assert not watch.has_changed()
    (tmp_path / "file").touch()
    assert [watch.has_changed() for _ in range(3)] == [False] * 3
    info = tmp_path / "late-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[matrixx.hooks]\nlate = late\n")
    assert [watch.has_changed() for _ in range(3)] == [False, True, False], "once an installer has been quiet"


def test_it_goes_when_nobody_asks_and_no_program_lives(world: World, quick: Sequence[str]) -> None:
    command = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *quick, "stub", "Stop", "open", str(world.project)]
    env = {**world.env, "STUB_SERVING": QUICK}
    done = subprocess.run(command, input=b'{"a":1}', capture_output=True, env=env, timeout=PATIENCE, check=True)
    pid = json.loads(done.stdout)["pid"]
    assert world.running().programs == []
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as program, socket.socket(socket.AF_UNIX) as one:
        one.connect(str(world.socket()))
        one.sendall(f'matrixx 1 stub Stop {program.pid} {sys.executable}\n{{"a":1}}'.encode())
        one.shutdown(socket.SHUT_WR)
        assert one.recv(100)
        time.sleep(6)  # over one TICK, which is not shorter before the first is over
        assert (world.running().pid, world.running().programs) == (pid, [program.pid])
        program.communicate(b"\n", PATIENCE)
    until(lambda: not lives(pid))
    assert not world.socket().exists() and "Traceback" not in world.log


@pytest.mark.parametrize("what", ["socket", "project"])
def test_it_goes_when_it_cannot_be_found_any_more(world: World, quick: Sequence[str], what: str) -> None:
    pid = world.answer(quick, {"a": 1}, STUB_SERVING=QUICK)["pid"]
    if what == "socket":
        world.socket().unlink()
        assert world.answer(quick, {"a": 1})["pid"] != pid, "the next client waits for its end"
    else:
        world.project.rmdir()
    until(lambda: not lives(pid))


def test_a_port_that_is_taken_leaves_the_socket(world: World, quick: Sequence[str]) -> None:
    with socket.create_server(("127.0.0.1", world.endpoint().port)):
        assert world.answer(quick, {"a": 1})
        found = world.running()
    assert found.port == 0 and "HTTP is not answered" in found.problem
    assert found.problem in world.log


def test_what_belongs_to_one_session_is_not_kept_and_the_environment_is_not_logged(world: World, quick: Sequence[str]) -> None:
    secret = {"CLAUDE_CODE_MESSAGING_TOKEN": "secret-1", "CLAUDE_CODE_SESSION_ID": "secret-2", "OTHER": "secret-3"}
    for name, value in {**dict.fromkeys(secret, ""), "OTHER": "secret-3"}.items():
        assert world.answer(quick, {"variable": name}, **secret)["value"] == value
    world.ask(quick, {"fail": 1}, **secret)
    assert "as told" in world.log and "secret-" not in world.log


def test_an_ignored_child_signal_is_not_handed_down(world: World, quick: Sequence[str]) -> None:
    previous = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        process = world.begin(quick, {"child": 3})
        assert process.stdout and json.loads(process.stdout.read())["code"] == 3
    finally:
        signal.signal(signal.SIGCHLD, previous)
    process.communicate()


def test_files_of_the_project_are_not_imported(world: World, client: Sequence[str]) -> None:
    for name in ("json.py", "asyncio.py", "matrixx_builtin.py", "sitecustomize.py"):
        (world.project / name).write_text("raise SystemExit('imported')")
    done = subprocess.run(
        [*client, "stub", "Stop", "open"],
        input=b'{"a":1}',
        capture_output=True,
        cwd=world.project,
        env=world.env,
        timeout=PATIENCE,
        check=True,
    )
    assert json.loads(done.stdout)["project"] == str(world.project)


def test_a_foreign_folder_is_refused_with_its_name(world: World) -> None:
    (world.folder / "run" / "matrixx").mkdir(mode=0o755)
    command = [sys.executable, "-m", "matrixx_builtin", "serve", "daemon", "--project", str(world.project)]
    done = subprocess.run(command, capture_output=True, text=True, env=world.env, timeout=PATIENCE, check=False)
    assert done.returncode == 2 and "run/matrixx is not this user's alone" in done.stderr


def test_its_files_are_the_users_alone(world: World, quick: Sequence[str]) -> None:
    world.answer(quick, {"a": 1})
    path = world.socket()
    endpoint = next((world.folder / "state" / "endpoints").glob("*.json"))
    assert [one.lstat().st_mode & 0o777 for one in (path.parent, path, path.with_suffix(".lock"), endpoint)] == [0o700, 0o600, 0o600, 0o600]


def test_it_tells_of_itself(world: World, quick: Sequence[str]) -> None:
    pid = world.answer(quick, {"a": 1})["pid"]
    found = world.running()
    assert isinstance(found, Status)
    assert (found.pid, found.python, found.port, found.requests, found.problem) == (pid, sys.executable, world.endpoint().port, 1, "")
    assert found.programs == [os.getpid()] and found.since <= time.time() + 1


def test_a_program_that_has_ended_is_dead_though_nobody_has_taken_note_of_it() -> None:
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert not place.lives(ended.pid)
    ended.wait()
    assert place.lives(os.getpid())
