"""From the start of the engine's process, all installed hooks in it, to its first answers."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ..javascript import name, runtime, talking
from ..measuring import PYTHON, Case, Contender, Skipped, bare_python, compared, scratch, spawned, times, turns

MODULES, HOOKS = 60, 40
"""A program to compare with: so many TypeScript modules of so many functions each are imported (about the peer's size, 1 MB)."""


def cases(scale: float) -> Iterator[Case]:
    with scratch() as folder:
        contenders: dict[str, Contender] = {
            "ready": lambda: started(folder, "ready"),
            "first answer": lambda: started(folder, "answer"),
            PYTHON: bare_python,
        }
        why = bundle = ""
        try:
            program = runtime()
            bundle = f"{name(program)} imports {MODULES} modules"
            contenders[bundle] = spawned(program, str(_modules(folder, "ts" if name(program) == "bun" else "mjs")))
        except Skipped as skipped:
            why = skipped.why
        taken = turns(contenders, times(scale, 7))
    yield compared("start", taken, "ready", PYTHON)
    yield compared("start", taken, "first answer", "ready")
    if not bundle:
        raise Skipped("start", why)
    yield compared("start", taken, "ready", bundle, "1")


def started(folder: Path, until: str) -> float:
    """Seconds from the start of the process to its ``ready``, or to the answer of a call that was sent right behind."""
    call = {
        "id": 1,
        "hook": "tool.execute.before",
        "input": {"tool": "bash", "sessionID": "s", "callID": "c"},
        "output": {"args": {"command": "ls"}},
    }
    hello = {"op": "hello", "protocol": 1, "directory": str(folder / "project"), "worktree": str(folder / "project")}
    begun = time.perf_counter()
    with talking(sys.executable, "-m", "matrixx_builtin", "serve", "opencode") as (lines, answers):
        for message in (hello, call):
            lines.write(json.dumps(message).encode() + b"\n")
        lines.flush()
        for line in answers:
            said = json.loads(line)
            if said.get("op") == "ready" if until == "ready" else said.get("id") == 1 and "op" not in said:
                return time.perf_counter() - begun
    raise Skipped("start", f"the engine ended before its {until}")


def _modules(folder: Path, ending: str) -> Path:
    typed = ": unknown" if ending == "ts" else ""
    for number in range(MODULES):
        functions = [
            f"export function hook{index}(input{typed}) {{ const seen = new Map(); for (const one of [input]) seen.set(one, {{ count: {index} }});"
            f" return [...seen.entries()].map(([key, value]) => ({{ key, value, text: `hook {number} ${{String(key)}}` }})) }}"
            for index in range(HOOKS)
        ]
        (folder / f"module{number}.{ending}").write_text("\n".join(functions), "utf-8")
    main = folder / f"main.{ending}"
    main.write_text(
        "".join(f'import * as m{number} from "./module{number}.{ending}"\nm{number}.hook0(1)\n' for number in range(MODULES)), "utf-8"
    )
    return main
