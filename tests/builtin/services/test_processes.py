"""Programs that end, programs that will not, and what they leave behind."""

import os
import sys
import textwrap
import time
from pathlib import Path

import anyio
import pytest

from matrixx_builtin.services.processes import NOT_FOUND, Finished, run, which

PYTHON = sys.executable


def start(code: str, folder: Path, timeout: float = 10.0, **options: object) -> Finished:
    async def main() -> Finished:
        return await run([PYTHON, "-I", "-S", "-c", textwrap.dedent(code)], cwd=folder, timeout=timeout, **options)  # type: ignore[arg-type]

    return anyio.run(main)


def is_gone(pid: int, seconds: float = 2.0) -> bool:
    """Whether the process ends within this time; one that is dead but not yet reaped by its new parent counts as gone."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


def test_output_code_and_working_directory_come_back(tmp_path: Path) -> None:
    done = start("import os, sys; print(os.getcwd()); print('é', file=sys.stderr); sys.exit(3)", tmp_path)
    assert (done.code, done.stdout.strip(), done.ok) == (3, os.path.realpath(tmp_path), False)
    assert done.stderr.encode() and not done.truncated and not done.timed_out


def test_input_is_fed_and_closed(tmp_path: Path) -> None:
    assert start("import sys; print(sys.stdin.read()[::-1])", tmp_path, input="abc").stdout == "cba\n"


def test_without_input_a_reader_meets_the_end_at_once(tmp_path: Path) -> None:
    assert start("import sys; print(repr(sys.stdin.read()))", tmp_path).stdout == "''\n"


def test_input_that_nobody_reads_is_no_error(tmp_path: Path) -> None:
    assert start("pass", tmp_path, input=b"x" * 1_000_000).ok


def test_the_environment_is_added_to_ours(tmp_path: Path) -> None:
    done = start("import os; print(os.environ['EXTRA'], 'PATH' in os.environ)", tmp_path, env={"EXTRA": "1"})
    assert done.stdout == "1 True\n"


def test_output_beyond_the_limit_is_dropped_and_does_not_block_the_program(tmp_path: Path) -> None:
    done = start("import sys; sys.stdout.write('x' * 5_000_000)", tmp_path, limit_bytes=1000)
    assert (len(done.stdout), done.truncated, done.ok) == (1000, True, True)


@pytest.mark.parametrize("argv", [["matrixx-no-such-program"], ["/"], ["a\0b"]])
def test_a_program_that_cannot_be_started_is_an_answer_not_an_exception(argv: list[str], tmp_path: Path) -> None:
    async def main() -> Finished:
        return await run(argv, cwd=tmp_path, timeout=5)

    done = anyio.run(main)
    assert done.code == NOT_FOUND and "cannot be started" in done.stderr


def test_arguments_reach_no_shell(tmp_path: Path) -> None:
    async def main() -> Finished:
        return await run([PYTHON, "-c", "import sys; print(sys.argv[1])", "$(touch x); `touch y` *"], cwd=tmp_path, timeout=10)

    assert anyio.run(main).stdout == "$(touch x); `touch y` *\n"
    assert not {"x", "y"} & {path.name for path in tmp_path.iterdir()}


def test_a_child_that_ignores_sigterm_is_killed_at_the_deadline(tmp_path: Path) -> None:
    code = """
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        time.sleep(60)
    """
    started = time.monotonic()
    done = start(code, tmp_path, timeout=0.6)
    assert done.timed_out and not done.ok and done.code < 0
    assert time.monotonic() - started < 5
    assert is_gone(int(done.stdout))


def test_a_grandchild_that_holds_stdout_neither_hangs_us_nor_survives(tmp_path: Path) -> None:
    code = """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
        print(child.pid, flush=True)
    """
    started = time.monotonic()
    done = start(code, tmp_path, timeout=30)
    assert done.ok and time.monotonic() - started < 15
    assert is_gone(int(done.stdout))


def test_a_grandchild_that_left_the_group_cannot_hang_us(tmp_path: Path) -> None:
    code = """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(8)"], start_new_session=True)
        print(child.pid, flush=True)
    """
    started = time.monotonic()
    done = start(code, tmp_path, timeout=30)
    assert done.ok and time.monotonic() - started < 7
    os.kill(int(done.stdout), 9)


def test_cancelling_the_caller_kills_the_whole_group(tmp_path: Path) -> None:
    code = """
        import os, pathlib, signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
        pathlib.Path("pids.part").write_text(f"{os.getpid()} {child.pid}")
        os.replace("pids.part", "pids")
        time.sleep(60)
    """

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: run([PYTHON, "-I", "-S", "-c", textwrap.dedent(code)], cwd=tmp_path, timeout=60))
            while not (tmp_path / "pids").exists():
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()

    anyio.run(main)
    assert all(is_gone(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_a_program_is_found_once_it_is_there_and_forgotten_once_it_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program = tmp_path / "some-tool"
    assert which("some-tool") is None
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert which("some-tool") == str(program)
    program.unlink()
    assert which("some-tool") is None
