"""Shared files: no update is lost, no torn file is ever read, a broken one is set aside."""

import errno
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest
from pydantic import BaseModel

from matrixx_builtin.services import records
from matrixx_builtin.services.records import RecordError, locked, read, update, write


class Count(BaseModel):
    value: int = 0
    writers: dict[str, int] = {}


def add(path: Path, name: str, times: int) -> None:
    def one_more(there: Count | None) -> Count:
        count = there or Count()
        return Count(value=count.value + 1, writers={**count.writers, name: count.writers.get(name, 0) + 1})

    for _ in range(times):
        update(path, Count, one_more)


def test_eight_writers_lose_no_update(tmp_path: Path) -> None:
    path = tmp_path / "shared" / "count.json"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add, args=(path, str(number), 10)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    count = read(path, Count)
    assert count == Count(value=80, writers={str(number): 10 for number in range(8)})


def test_a_writer_killed_in_the_middle_loses_nothing_and_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "count.json"
    worker = multiprocessing.get_context("spawn").Process(target=add, args=(path, "a", 10_000))
    worker.start()
    deadline = time.monotonic() + 60
    while (count := read(path, Count)) is None or count.value < 50:
        assert time.monotonic() < deadline
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join(10)
    before = read(path, Count)
    assert before is not None
    assert before.value >= 50
    add(path, "b", 3)
    after = read(path, Count)
    assert after is not None
    assert (after.value, after.writers["b"]) == (before.value + 3, 3)
    assert not list(tmp_path.glob("*.corrupt-*"))


@pytest.mark.parametrize("content", [b"", b"{", b'{"value": "many"}', b"\x00\xff", b"[]", b'{"value": 1'])
def test_a_broken_file_is_set_aside_and_work_goes_on(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "count.json"
    path.write_bytes(content)
    assert read(path, Count) is None
    [aside] = tmp_path.glob("count.json.corrupt-*")
    assert aside.read_bytes() == content
    assert aside.name in caplog.text
    add(path, "a", 1)
    assert read(path, Count) == Count(value=1, writers={"a": 1})


def test_a_full_disk_is_told_and_the_old_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "count.json"
    write(path, Count(value=1))

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(records, "write_atomic", full)
    with pytest.raises(RecordError, match="No space left on device; what it held before is unchanged"):
        write(path, Count(value=2))
    assert read(path, Count) == Count(value=1)


def test_a_lock_that_others_hold_is_told_and_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LOCK_SECONDS", 0.05)
    with locked(tmp_path), pytest.raises(RecordError, match="is locked by another process"), locked(tmp_path):
        pass


def test_a_missing_file_is_no_error(tmp_path: Path) -> None:
    assert read(tmp_path / "none.json", Count) is None
