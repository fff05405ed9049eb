"""Both thin clients: the same table of what they are given, and what their host is told."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from builtin.daemon.worlds import PATIENCE, World

from matrixx_builtin.daemon import CLIENT
from matrixx_builtin.daemon.client import LONGEST, REFUSED, UNGUARDED, key, socket_path

BAD_ANSWERS = {
    "nothing": b"",
    "no size": b"0\n{}",
    "too short": b"0 5\nabc",
    "too long": b"0 1\nabc",
    "no number": b"0 x\n{}",
    "a sign": b"0 +2\n{}",
    "negative": b"0 -2\n{}",
    "wraps": b"0 18446744073709551618\n{}",
    "another code": b"1 6\nreason",
    "a longer code": b"02 2\n{}",
    "no line": b"0 2",
    "binary": bytes(range(256)),
    "zeros": bytes(1000),
}


@contextmanager
def engine(world: World, answer: bytes | None, *, reads: bool = True, path: str = "") -> Iterator[list[bytes]]:
    """Something that listens in the engine's place and says this to everybody, or never anything."""
    asked: list[bytes] = []
    open_ones: list[socket.socket] = []
    place = Path(path or world.socket())
    place.parent.mkdir(mode=0o700, exist_ok=True)

    def serve() -> None:
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            open_ones.append(one)
            parts: list[bytes] = []
            while reads and (part := one.recv(1 << 20)):
                parts.append(part)
            asked.append(b"".join(parts))
            if answer is not None:
                one.sendall(answer)
                one.close()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield asked
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for one in open_ones:
                one.close()
            thread.join(PATIENCE)
            place.unlink()


def unguarded(done: "subprocess.CompletedProcess[bytes]") -> bool:
    told = (done.returncode, done.stdout, done.stderr)
    return told == (0, UNGUARDED.encode(), b"") and "matrixx doctor" in json.loads(done.stdout)["systemMessage"]


def refused(done: "subprocess.CompletedProcess[bytes]") -> bool:
    return (done.returncode, done.stdout, done.stderr) == (2, b"", REFUSED.encode())


@pytest.mark.parametrize("text", ["", "a", 'ä\u2028\0"\\', "x" * 3_000_000], ids=["empty", "short", "odd", "huge"])
def test_the_payload_arrives_whole_and_the_answer_too(shared: World, client: Sequence[str], text: str) -> None:
    assert shared.answer(client, {"text": text})["text"] == text


def test_an_answer_may_be_huge(shared: World, client: Sequence[str]) -> None:
    assert shared.answer(client, {"big": 5_000_000}) == {"big": "x" * 5_000_000}


def test_nothing_to_say_is_no_output(shared: World, client: Sequence[str]) -> None:
    done = shared.ask(client, {})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_plain_text_is_passed_on_as_it_is(shared: World, client: Sequence[str]) -> None:
    assert shared.ask(client, {"plain": "Keep the \u00e4 list."}).stdout == "Keep the \u00e4 list.".encode()


@pytest.mark.parametrize("payload", [b"", b"no json", b"[1]", b"\xff\0", b"{" * 100_000, {"fail": 1}], ids=lambda one: repr(one)[:12])
def test_what_cannot_be_answered_is_left_to_the_policy(shared: World, client: Sequence[str], payload: object) -> None:
    assert unguarded(shared.ask(client, payload))
    assert refused(shared.ask(client, payload, "PreToolUse", "closed"))


@pytest.mark.parametrize(
    ("event", "policy", "refuses"),
    [
        ("PreToolUse", "closed", True),
        ("UserPromptSubmit", "closed", True),
        ("PermissionRequest", "closed", True),
        ("PreToolUse", "open", False),
        ("PreToolUse", "", False),
        ("PostToolUse", "closed", False),
        ("Stop", "closed", False),
        ("SessionStart", "closed", False),
    ],
)
def test_the_policy_refuses_only_what_can_be_refused(world: World, client: Sequence[str], event: str, policy: str, refuses: bool) -> None:
    with engine(world, b"?"):
        done = world.ask(client, {}, event, policy)
    assert refused(done) if refuses else unguarded(done)


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_no_answer_is_taken_for_one_that_is_none(world: World, client: Sequence[str], answer: bytes) -> None:
    with engine(world, answer):
        assert refused(world.ask(client, {"a": 1}, "PreToolUse", "closed"))


def test_an_engine_that_goes_without_a_word_is_asked_again_and_any_other_once(world: World, client: Sequence[str]) -> None:
    with engine(world, b"") as asked:
        world.ask(client, {"a": 1})
        assert len(asked) == 3 and len(set(asked)) == 1
    with engine(world, b"?") as asked:
        world.ask(client, {"a": 1})
        assert len(asked) == 1


def test_the_request_is_a_line_and_the_payload(world: World, client: Sequence[str]) -> None:
    with engine(world, b"0 0\n") as asked:
        world.ask(client, b"\0raw\n")
    assert asked == [f"matrixx 1 stub PreToolUse {os.getpid()} {sys.executable}\n".encode() + b"\0raw\n"]


def test_code_2_is_passed_on_with_its_reason(world: World, client: Sequence[str]) -> None:
    with engine(world, b"2 6\nreason"):
        done = world.ask(client, {})
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"reason")


@pytest.mark.parametrize("reads", [True, False])
def test_an_engine_that_hangs_is_given_up(world: World, client: Sequence[str], reads: bool) -> None:
    with engine(world, None, reads=reads):
        assert refused(world.ask(client, b"x" * 1_000_000, "PreToolUse", "closed", str(world.project), "0.5"))


def test_an_answer_before_the_payload_was_read_counts(world: World, client: Sequence[str]) -> None:
    with engine(world, b"0 2\n{}", reads=False):
        done = world.ask(client, b"x" * 3_000_000)
    assert (done.returncode, done.stdout) == (0, b"{}")


def test_standard_input_that_never_ends_is_given_up(world: World, client: Sequence[str]) -> None:
    command = [*client, "stub", "PreToolUse", "closed", str(world.project), "0.5"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=world.env) as process:
        assert process.wait(PATIENCE) == 2
    assert world.holder() is None


@pytest.mark.parametrize(("closed", "code"), [("<&-", 2), (">&-", 2), ("2>&-", 0), ("<&- >&- 2>&-", 2)])
def test_closed_standard_files_do_no_harm(world: World, client: Sequence[str], closed: str, code: int) -> None:
    with engine(world, b"0 4\ndeny") as asked:
        command = ["/bin/sh", "-c", f'"$@" {closed}', "sh", *client, "stub", "PreToolUse", "closed", str(world.project), "20"]
        done = subprocess.run(command, input=b"payload", env=world.env, capture_output=True, timeout=PATIENCE, check=False)
    expected = 0 if closed == "<&-" else code
    assert done.returncode == expected, "an answer that could not be told is none"
    assert all(one.startswith(b"matrixx 1 stub") for one in asked)


@pytest.mark.parametrize("given", [[], ["stub"], ["stub", "PreToolUse"], ["", "", "", "", ""], ["stub", "Stop", "open", "/nowhere/at/all"]])
def test_missing_and_wrong_arguments_never_break_the_host(world: World, client: Sequence[str], given: Sequence[str]) -> None:
    with engine(world, b"0 0\n"):
        done = subprocess.run(
            [*client, *given], input=b"", env=world.env, cwd=world.project, capture_output=True, check=False, timeout=PATIENCE
        )
    assert done.returncode == 0 and (not done.stdout or unguarded(done))


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "x", "1e", "1e9"])
def test_no_time_and_no_number_is_no_answer(world: World, client: Sequence[str], seconds: str) -> None:
    with engine(world, b"0 0\n"):
        assert refused(world.ask(client, {}, "PreToolUse", "closed", str(world.project), seconds))


def test_the_project_is_the_argument_or_the_hosts_or_the_current_folder(shared: World, client: Sequence[str]) -> None:
    pid = shared.answer(client, {"a": 1})["pid"]
    (shared.folder / "link").unlink(missing_ok=True)
    (shared.folder / "link").symlink_to(shared.project)
    assert shared.answer(client, {"a": 1}, "Stop", "open", str(shared.folder / "link" / "." / ".." / "project"))["pid"] == pid
    assert shared.answer(client, {"a": 1}, "Stop", "open", "", CLAUDE_PROJECT_DIR=str(shared.project))["pid"] == pid
    assert shared.answer(client, {"a": 1}, "Stop", "open", "project")["pid"] == pid


@pytest.mark.parametrize(
    "env",
    [
        {"XDG_RUNTIME_DIR": "relative"},
        {"XDG_RUNTIME_DIR": ""},
        {"XDG_RUNTIME_DIR": "/nowhere"},
        {"XDG_RUNTIME_DIR": "FOLDER/file"},
        {"XDG_RUNTIME_DIR": "/nowhere", "TMPDIR": "FOLDER/tmp"},
        {"XDG_RUNTIME_DIR": "/nowhere", "TMPDIR": "relative"},
        {"XDG_RUNTIME_DIR": "FOLDER/" + "long/" * 20},
        {"XDG_RUNTIME_DIR": "/" + "x" * 9_000},
        {"XDG_RUNTIME_DIR": "/nowhere", "TMPDIR": "/" + "x" * 9_000},
    ],
    ids=range(9),
)
def test_both_find_the_engine_in_the_same_place(
    world: World, client: Sequence[str], env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (world.folder / "file").touch()
    (world.folder / "tmp").mkdir()
    (world.folder / ("long/" * 20)).mkdir(parents=True)
    env = {name: value.replace("FOLDER", str(world.folder)) for name, value in env.items()}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    path = socket_path(str(world.project))
    assert len(path) <= LONGEST
    with engine(world, b"0 5\nfound", path=path):
        assert world.ask(client, {}, **env).stdout == b"found"


@pytest.mark.parametrize(("text", "digest"), [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")])
def test_the_key_is_fnv_1a(text: str, digest: str) -> None:
    assert key(text) == digest


@pytest.mark.parametrize("name", ["with space", "ä\u1234", "a'\"$(x)\n", os.fsdecode(b"\xff\xfe")])
def test_any_name_of_a_project_is_found(world: World, client: Sequence[str], name: str) -> None:
    world.project.rename(world.folder / name)
    project = world.folder / name
    with world.here():
        path = socket_path(str(project))
    with engine(world, b"0 5\nfound", path=path):
        assert world.ask(client, {}, "Stop", "open", str(project)).stdout == b"found"


@pytest.mark.parametrize("wrong", ["group", "others", "link", "file", "owner"])
def test_a_folder_that_is_not_ours_alone_is_not_trusted(world: World, client: Sequence[str], wrong: str) -> None:
    folder = world.folder / "run" / "matrixx"
    with engine(world, b"0 2\n{}"):
        if wrong == "link":
            folder.rename(world.folder / "elsewhere")
            folder.symlink_to(world.folder / "elsewhere")
        elif wrong == "file":
            folder.rename(world.folder / "elsewhere")
            folder.touch(0o600)
        elif wrong == "owner":
            if os.geteuid():
                pytest.skip("only root gives folders away")
            os.chown(folder, 65534, 65534)
        else:
            folder.chmod({"group": 0o750, "others": 0o701}[wrong])
        assert refused(world.ask(client, {}, "PreToolUse", "closed"))
        if wrong in {"link", "file"}:
            folder.unlink()
            (world.folder / "elsewhere").rename(folder)
        if wrong == "owner":
            os.chown(folder, 0, 0)
        folder.chmod(0o700)
    assert not world.log


@pytest.mark.parametrize("python", ["/bin/false", "/nowhere/python", str(Path(sys.base_prefix, "bin", "python3"))])
def test_an_engine_that_cannot_start_is_not_waited_for(world: World, clients: dict[str, Sequence[str]], python: str) -> None:
    world.env["PYTHONPATH"] = ""
    commands = [[clients["c"][0], python]] if "c" in clients else []
    if Path(python).name == "python3":
        commands.append([python, "-I", "-S", "-E", str(CLIENT)])
    for command in commands:
        assert refused(world.ask(command, {}, "PreToolUse", "closed", str(world.project), "1000")), command


def test_the_python_client_imports_nothing_that_costs_time() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", "-X", "importtime", str(CLIENT), "h", "e", "open", "/nowhere"],
        input=b"",
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    bare = subprocess.run([sys.executable, "-I", "-S", "-E", "-X", "importtime", "-c", "import os"], capture_output=True, check=True)

    def modules(text: bytes) -> set[str]:
        return {line.rsplit(b"|", 1)[-1].strip().decode() for line in text.splitlines() if line.startswith(b"import time:")}

    assert modules(done.stderr) - modules(bare.stderr) <= {"_socket"}
