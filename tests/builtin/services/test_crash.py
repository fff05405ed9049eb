"""Engines that are killed, and two at once: an update that was acknowledged is on disk, and no file is torn."""

import json
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.services.tasks import Task, TaskStore

ENGINE = (sys.executable, "-m", "matrixx_builtin", "serve", "opencode")
TASKS, UPDATES = 5, 200


@dataclass(slots=True)
class Engine:
    """An engine as the bridge starts it; ``acknowledged`` are the numbers of the calls that it has answered with a result."""

    process: "subprocess.Popen[str]"
    number: int = 0
    acknowledged: dict[int, str] = field(default_factory=dict[int, str])
    refused: dict[int, str] = field(default_factory=dict[int, str])

    def say(self, **message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, tool: str, **args: Any) -> int:
        """Call a tool and return the call's number, without waiting for the answer."""
        self.number += 1
        self.say(id=self.number, tool=tool, args=args, sessionID="ses_1", callID=f"call_{self.number}")
        return self.number

    def answers(self) -> Iterator[int]:
        """The numbers of the calls as they are answered, until the engine is gone."""
        for line in self.process.stdout or ():
            if not line.endswith("\n"):  # it died while it said this
                return
            message = json.loads(line)
            if "result" in message:
                self.acknowledged[message["id"]] = message["result"]["output"]
            elif "id" in message:
                self.refused[message["id"]] = message.get("block", "")
            yield message.get("id", 0)

    def call(self, tool: str, **args: Any) -> Any:
        wanted = self.ask(tool, **args)
        assert wanted in self.answers(), "the engine has ended"
        return json.loads(self.acknowledged[wanted])


@contextmanager
def engine(project: Path) -> Generator[Engine]:
    process = subprocess.Popen(ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    one = Engine(process)
    try:
        one.say(op="hello", protocol=1, directory=str(project), worktree=str(project))
        yield one
    finally:
        process.kill()
        process.communicate(timeout=30)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "MATRIXX_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def stored(project: Path) -> dict[str, Task]:
    """Every task on disk; none may have had to be set aside."""
    store = TaskStore(project)
    tasks = {task.id: task for task in store.all()}
    assert len(list(store.folder.glob("T-*"))) == len(tasks)
    return tasks


def created(one: Engine) -> list[str]:
    return [one.call("task_create", subject=f"task {number}")["tasks"][0]["id"] for number in range(TASKS)]


def update(one: Engine, tasks: list[str], which: int, **more: Any) -> int:
    return one.ask("task_update", id=tasks[which % TASKS], metadata={f"n{which}": which}, **more)


@pytest.mark.parametrize("killed_after", [1, 50, 120])
def test_killed_among_200_updates_an_engine_has_lost_none_that_it_acknowledged(project: Path, killed_after: int) -> None:
    with engine(project) as one:
        tasks = created(one)
        asked = {update(one, tasks, which, description="x" * 20_000): which for which in range(UPDATES)}
        for answered, _ in enumerate(one.answers(), 1):
            if answered == killed_after:
                break
        one.process.send_signal(signal.SIGKILL)
        list(one.answers())  # what it had still said
    done = {which for number, which in asked.items() if number in one.acknowledged}
    assert killed_after <= len(done) < UPDATES
    assert not one.refused
    there = stored(project)
    assert {which for which in done if there[tasks[which % TASKS]].metadata.get(f"n{which}") != which} == set()
    with engine(project) as again:
        assert {row["id"] for row in again.call("task_list")["tasks"]} == set(tasks)
        assert again.call("task_update", id=tasks[0], status="completed")["task"]["metadata"] == there[tasks[0]].metadata


def test_two_engines_on_one_project_lose_no_update_of_each_other(project: Path) -> None:
    with engine(project) as one, engine(project) as other:
        tasks = created(one)
        for which in range(UPDATES):
            update((one, other)[which // TASKS % 2], tasks, which)
        for each in (one, other):
            wanted = each.number
            while len(each.acknowledged) + len(each.refused) < wanted:
                assert next(each.answers(), None) is not None
            assert each.refused == {}
    there = stored(project)
    assert {which for which in range(UPDATES) if there[tasks[which % TASKS]].metadata.get(f"n{which}") != which} == set()
