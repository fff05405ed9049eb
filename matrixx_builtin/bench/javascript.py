"""A JavaScript process that measures on its side: what the host program is, too."""

import json
import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .measuring import Skipped

DRIVER = Path(__file__).with_name("driver.mjs")


def runtime() -> str:
    """The program: ``$BUN_BIN``, ``bun`` or ``node``; raises ``Skipped`` where there is none."""
    found = os.environ.get("BUN_BIN") or shutil.which("bun") or shutil.which("node")
    if not found:
        raise Skipped("", "neither bun nor node is installed (BUN_BIN names another place of bun)")
    return found


def name(program: str) -> str:
    """What to call it in a table."""
    return "node" if Path(program).name.startswith("node") else "bun"


class Driver:
    """One running ``driver.mjs``; ``ask`` has it do one of its commands and returns what that tells."""

    def __init__(self, commands: IO[bytes], answers: IO[bytes]) -> None:
        self._commands, self._answers = commands, answers

    def ask(self, command: str, **arguments: Any) -> Any:
        self._commands.write(json.dumps({"command": command, **arguments}).encode() + b"\n")
        self._commands.flush()
        answer = json.loads(self._answers.readline() or b'{"error": "it has ended"}')
        if "error" in answer:
            raise Skipped("", f"the JavaScript side failed: {answer['error']}")
        return answer["value"]


@contextmanager
def driver() -> Generator[Driver]:
    """A driver for the time of one row."""
    with talking(runtime(), str(DRIVER)) as (commands, answers):
        yield Driver(commands, answers)


@contextmanager
def talking(*command: str) -> Generator[tuple[IO[bytes], IO[bytes]]]:
    """The two ends of a program that reads lines and writes lines; it ends when its input does, or is killed after five seconds."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        if process.stdin is None or process.stdout is None:
            raise Skipped("", f"{command[0]} has no pipes")
        try:
            yield process.stdin, process.stdout
        finally:
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
