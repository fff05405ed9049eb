"""A before-call through the bridge, all installed hooks and the secret scan included, at the pace of an agent."""

import random
import string
import sys
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import echo
from ..javascript import driver
from ..measuring import Case, compared, scratch, times, turns

BRIDGE = Path(str(files("matrixx_builtin.hosts.opencode"))) / "bridge.js"

ENGINE, ECHO = "engine", "echo"
GAP_MS = 20
"""Milliseconds between two calls: caches are cold then, as they are under a real agent (PERF 4)."""
GOALS = {"read": "3.5", "bash": "3.5", "write 1 KB": "3.5", "write 50 KB": "5.5"}


def cases(scale: float) -> Iterator[Case]:
    with scratch() as folder, driver() as js:
        commands = {
            ECHO: [sys.executable, str(echo.__file__), str(folder / "asked")],
            ENGINE: [sys.executable, "-m", "matrixx_builtin", "serve", "opencode"],
        }
        for name, argv in commands.items():
            js.ask("open", name=name, bridge=str(BRIDGE), folder=str(folder), argv=argv)
        calls = _calls(folder / "project")

        def call(name: str, case: str) -> float:
            tool, args = calls[case]
            return float(js.ask("call", name=name, tool=tool, args=args, repeat=times(scale, 5), gap=GAP_MS))

        taken = turns({f"{case}, {name}": partial(call, name, case) for case in calls for name in commands}, times(scale, 9))
        js.ask("close")
    for case in calls:
        yield compared("bridge", taken, f"{case}, {ENGINE}", f"{case}, {ECHO}", f"{GOALS[case]} x the peer")


def _calls(project: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    (project / "there.py").write_text("print(1)\n", "utf-8")
    return {
        "read": ("read", {"filePath": str(project / "there.py")}),
        "bash": ("bash", {"command": "ls -la src && git status --short", "description": "Look around"}),
        "write 1 KB": ("write", {"filePath": str(project / "new.py"), "content": code(1_000)}),
        "write 50 KB": ("write", {"filePath": str(project / "new.py"), "content": code(50_000)}),
    }


def code(size: int) -> str:
    """So many characters that look like a program and hold no secret."""
    words = random.Random(size)  # noqa: S311  text, the same in every run
    lines: list[str] = []
    while sum(map(len, lines)) + len(lines) < size:
        name, value = ("".join(words.choices(string.ascii_lowercase, k=8)) for _ in range(2))
        lines.append(f"def {name}(self, {value}: int) -> str:\n    return self.{value}.join(map(str, range({len(lines)})))")
    return "\n".join(lines)[:size]
