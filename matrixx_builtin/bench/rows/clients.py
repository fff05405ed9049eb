"""One event of a host that starts a process for each, through both thin clients and HTTP, all installed hooks in the warm engine.

The event is a call that no guard has anything to say of: what is measured is the way. One line shows a call that is judged.
"""

import http.client
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from ... import daemon
from ...hosts import host_module, host_names
from ..measuring import Case, Contender, Skipped, compared, scratch, spawned, timed, times, turns

TRUE = "true"
ISOLATED = "python -I -S -E -c pass"
FULL = "python with json, asyncio, re, subprocess, urllib"
"""What a hook written in Python imports before it can begin; an engine in it would come on top."""

COMPILED, THIN, HTTP = "client in C", "client in Python", "HTTP on a kept connection"
JUDGED = "client in C, a command is judged"
BASELINES = {
    COMPILED: ((TRUE, "1.8"), (FULL, "1/15")),
    THIN: ((TRUE, "12"), (ISOLATED, "1.3"), (FULL, "")),
    HTTP: ((TRUE, ""), (FULL, "")),
    JUDGED: ((TRUE, ""), (FULL, "")),
}


def cases(scale: float) -> Iterator[Case]:
    program = shutil.which("true")
    if program is None:
        raise Skipped("clients", "there is no program `true` here")
    host = next((name for name in host_names() if hasattr(host_module(name), "warm")), None)
    if host is None:
        raise Skipped("clients", "no installed adapter is served by a warm engine")
    with scratch() as folder, ExitStack() as stack:
        project = folder / "project"
        stack.callback(daemon.stop, project)
        contenders = _clients(stack, folder, host)
        contenders[TRUE] = spawned(program)
        contenders[ISOLATED] = spawned(sys.executable, "-I", "-S", "-E", "-c", "pass")
        contenders[FULL] = spawned(sys.executable, "-c", "import json, asyncio, re, subprocess, urllib.request")
        taken = turns(contenders, times(scale, 31))
    for name, baselines in BASELINES.items():
        for baseline, goal in baselines:
            if name in taken:
                yield compared("clients", taken, name, baseline, goal)
    if COMPILED not in taken:
        raise Skipped("clients", "there is no C compiler")


def _clients(stack: ExitStack, folder: Path, host: str) -> dict[str, Contender]:
    project = folder / "project"
    payload = _payload(project, "TodoWrite", todos=[{"content": "Look around. " * 75, "status": "pending"}])
    arguments = [host, "PreToolUse", "closed", str(project)]
    thin = spawned(sys.executable, "-I", "-S", "-E", str(daemon.CLIENT), *arguments, feed=payload)
    thin()  # starts the engine
    running, endpoint = daemon.status(project), daemon.endpoint(project)
    if running is None or not running.port:
        raise Skipped("clients", f"no engine could be started: {running.problem if running else 'see matrixx doctor'}")
    connection = stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", endpoint.port)))

    def post() -> None:
        connection.request("POST", f"/{host}", payload, {"Authorization": f"Bearer {endpoint.token}"})
        if (answer := connection.getresponse()).status != http.client.OK:
            raise Skipped("clients", f"the engine answered {answer.status} {answer.read().decode()}")
        answer.read()

    found: dict[str, Contender] = {THIN: thin, HTTP: timed(post)}
    if compiled := daemon.compile_client(folder):
        judged = _payload(project, "Bash", command="ls -la src && git status --short", description="Look around")
        found[COMPILED] = spawned(str(compiled), sys.executable, *arguments, feed=payload)
        found[JUDGED] = spawned(str(compiled), sys.executable, *arguments, feed=judged)
    return found


def _payload(project: Path, tool: str, **tool_input: object) -> bytes:
    """A call of a tool, as Claude Code tells of it."""
    named = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": "toolu_1", "session_id": "s", "cwd": str(project)}
    return json.dumps(
        {**named, "transcript_path": str(project / "t.jsonl"), "permission_mode": "default", "tool_input": tool_input}
    ).encode()
