import multiprocessing
import os
import sqlite3
import threading
from pathlib import Path

import pytest

from matrixx_builtin.services import state
from matrixx_core.timing import Timing
from matrixx_core.trust import state_dir


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def one_call(ns: int = 1_000) -> Timing:
    timing = Timing()
    timing.add(ns, "block")
    return timing


def keep(project: str = "/p", times: int = 1) -> None:
    for _ in range(times):
        assert state.keep_timings(project, [("hook", "event", one_call())])


def test_counts_of_several_engines_are_added() -> None:
    keep(times=3)
    assert state.keep_timings("/p", [("hook", "event", one_call(9_000)), ("hook", "event", one_call()), ("other", "event", one_call())])
    hook, other = state.kept_timings("/p")
    assert (hook.plugin, hook.timing.calls, hook.timing.max_ns, hook.timing.answers) == ("hook", 5, 9_000, {"block": 5})
    assert sum(hook.timing.buckets.values()) == 5 and hook.first <= hook.last
    assert other.timing.calls == 1


def test_projects_are_kept_and_forgotten_apart() -> None:
    keep("/a")
    keep("/b")
    assert [one.project for one in state.kept_timings()] == ["/a", "/b"]
    assert state.forget_timings("/a")
    assert [one.project for one in state.kept_timings()] == ["/b"]
    assert state.forget_timings() and state.kept_timings() == []


def test_looking_makes_no_file(folder: Path) -> None:
    assert state.kept_timings() == [] and state.forget_timings() and state.keep_timings("/p", [])
    assert not folder.exists()


@pytest.mark.parametrize("damage", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 4_096])
def test_a_damaged_database_is_set_aside_and_work_goes_on(folder: Path, damage: bytes) -> None:
    keep()
    for path in folder.iterdir():
        path.unlink()
    state.database().write_bytes(damage)
    keep()
    assert [one.timing.calls for one in state.kept_timings("/p")] == [1]
    (kept,) = folder.glob("state.sqlite3.corrupt-*")
    assert kept.read_bytes() == damage


def test_pages_overwritten_in_a_live_database_are_survived(folder: Path) -> None:
    for number in range(200):
        state.keep_timings("/p", [(f"hook{number}", "event", one_call())])
    content = bytearray(state.database().read_bytes())
    content[100:] = b"\xa5" * (len(content) - 100)
    state.database().write_bytes(content)
    keep()
    assert [one.plugin for one in state.kept_timings("/p")] == ["hook"]


def test_rows_that_hold_nonsense_are_survived() -> None:
    keep()
    with sqlite3.connect(state.database()) as db:
        db.execute("UPDATE timings SET buckets = '{'")
    db.close()
    keep()
    assert [one.timing.calls for one in state.kept_timings("/p")] == [1]


def test_a_locked_database_is_told_and_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "BUSY", 0.05)
    keep()
    other = sqlite3.connect(state.database(), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert not state.keep_timings("/p", [("hook", "event", one_call())])
    other.execute("ROLLBACK")
    other.close()
    keep()
    assert [one.timing.calls for one in state.kept_timings("/p")] == [2] and not list(folder.glob("*.corrupt-*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_is_told(folder: Path) -> None:
    folder.mkdir(mode=0o500)
    assert not state.keep_timings("/p", [("hook", "event", one_call())])


def test_a_file_in_the_place_of_the_folder_is_told(folder: Path) -> None:
    folder.write_text("")
    assert not state.keep_timings("/p", [("hook", "event", one_call())]) and state.kept_timings() == []


def test_processes_that_write_at_once_lose_nothing() -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=keep, kwargs={"times": 20}) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert [one.timing.calls for one in state.kept_timings("/p")] == [60]


def test_threads_that_find_the_damage_at_once_set_it_aside_once(folder: Path) -> None:
    folder.mkdir()
    state.database().write_bytes(b"no database" * 100)
    threads = [threading.Thread(target=keep) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.timing.calls for one in state.kept_timings("/p")] == [8]
    assert len(list(folder.glob("state.sqlite3.corrupt-*"))) == 1


def test_a_run_that_keeps_nothing_sees_the_trust_and_leaves_no_trace(folder: Path) -> None:
    folder.mkdir()
    (folder / "trust.json").write_text("{}")
    with state.nothing_kept():
        scratch = state_dir()
        assert (scratch / "trust.json").read_text() == "{}" and scratch != folder
        keep()
    assert not scratch.exists() and [path.name for path in folder.iterdir()] == ["trust.json"]
    assert state_dir() == folder
