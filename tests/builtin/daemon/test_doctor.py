"""What doctor tells of the warm engine."""

import os
import signal
import socket
from collections.abc import Sequence

import pytest
from builtin.daemon.worlds import World

from matrixx_builtin.daemon.examine import examine
from matrixx_builtin.hosts.findings import Finding


def found(world: World) -> list[Finding]:
    with world.here():
        return list(examine(world.project))


def test_none_is_fine(world: World) -> None:
    assert [(one.level, one.what) for one in found(world)] == [("ok", "no warm engine is running here")]
    assert not (world.folder / "run" / "matrixx").exists(), "looking makes nothing"


def test_a_running_one_is_told_with_its_process_and_age(world: World, quick: Sequence[str]) -> None:
    world.install("late", "matrixx.hooks", "")
    pid = world.answer(quick, {"a": 1})["pid"]
    one, *other = found(world)
    assert one.level == "ok" and f"process {pid} since 20" in one.what and f"port {world.endpoint().port}" in one.what
    assert [more.what for more in other] == ["the warm engine is of other versions or plugins than are installed"], "of these tests' own"


def test_a_taken_port_is_told(world: World, quick: Sequence[str]) -> None:
    with socket.create_server(("127.0.0.1", world.endpoint().port)):
        world.answer(quick, {"a": 1})
    assert [(one.level, one.what) for one in found(world)][1] == ("warn", "the warm engine has no port")


def test_one_that_hangs_is_an_error_with_the_way_out(world: World, quick: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matrixx_builtin.daemon.control.PATIENCE", 0.2)
    pid = world.answer(quick, {"a": 1})["pid"]
    os.kill(pid, signal.SIGSTOP)
    [one] = found(world)
    assert one.level == "error" and f"process {pid}" in one.what and "serve daemon --stop" in one.way_out


def test_a_folder_that_others_may_enter_is_an_error(world: World) -> None:
    (world.folder / "run" / "matrixx").mkdir(mode=0o755)
    [one] = found(world)
    assert one.level == "error" and "not this user's alone" in one.what
