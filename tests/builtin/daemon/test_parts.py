"""What the engine is made of: whose process asks, and the client that is compiled."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from matrixx_builtin import daemon
from matrixx_builtin.daemon import compiling, control
from matrixx_builtin.daemon.fingerprint import is_other
from matrixx_builtin.daemon.peers import is_ours


def test_another_users_process_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert is_ours(one)
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
        assert is_ours(one) is (sys.platform != "linux" and sys.platform != "darwin" and "bsd" not in sys.platform)
    assert not is_ours(one), "a closed one is nobody's"


@pytest.mark.parametrize(
    ("told", "pid"),
    [
        (b'{"pid": 7}', 7),
        (b'{"pid": 7, "new": 1}', 7),
        (b"{}", None),
        (b'{"since": 1}', None),
        (b"[]", None),
        (b"[1]", None),
        (b"\0", None),
        (b"", None),
    ],
)
def test_an_engine_of_another_version_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bytes, pid: int | None) -> None:
    monkeypatch.setattr(control, "_asked", lambda _place, _event: told)
    found = daemon.status(tmp_path)
    assert (found.pid if found else None) == pid


def test_a_client_is_compiled_in_the_place_of_a_former_one(tmp_path: Path) -> None:
    folder = tmp_path / "with space" / "bin"
    found = daemon.compile_client(folder)
    if found is None:
        pytest.skip("there is no C compiler")
    found.write_text("former")
    assert daemon.compile_client(folder) == found
    assert [path.name for path in folder.iterdir()] == ["matrixx-client"] and stat.S_IMODE(found.stat().st_mode) == 0o755
    assert subprocess.run([found], input=b"", capture_output=True, check=False, cwd=tmp_path, timeout=60).returncode == 0
    made = found.stat().st_ino
    assert daemon.compile_client(folder) == found and found.stat().st_ino == made  # kept: it is newer than its source, and runs
    os.utime(found, (0, 0))
    assert daemon.compile_client(folder) == found and found.stat().st_mtime > 0


@pytest.mark.parametrize("script", [None, "exit 1", "exit 0", "sleep 600", 'for last; do :; done; echo "exit 3" > "$5"'])
def test_without_a_compiler_that_works_there_is_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    if script is not None:
        (programs / "gcc").write_text(f"#!/bin/sh\n{script}\n")
        (programs / "gcc").chmod(0o755)
    monkeypatch.setattr(compiling, "DEADLINE", 0.5)
    monkeypatch.setenv("PATH", f"{programs}")
    assert daemon.compile_client(tmp_path / "bin") is None
    assert not list((tmp_path / "bin").glob("*")) if (tmp_path / "bin").exists() else True


def test_a_folder_that_cannot_be_made_has_no_client(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert daemon.compile_client(tmp_path / "file" / "bin") is None


def test_another_interpreter_is_one_of_another_environment(tmp_path: Path) -> None:
    link = tmp_path / "python"
    link.symlink_to(Path(sys.executable).resolve())
    (tmp_path / "text").touch()
    assert is_other(str(link))
    assert not any(map(is_other, (sys.executable, "", "python3", "/nowhere/python", "\0", str(tmp_path), str(tmp_path / "text"))))
