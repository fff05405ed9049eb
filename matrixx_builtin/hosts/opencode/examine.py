"""What can be wrong with OpenCode's side: not there, not connected, connected to something old, or not answering."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from matrixx_core.errors import MatrixxError

from ...services import logs
from ...services.state import nothing_kept
from ..findings import Finding
from .install import FILE, Installed, config_folder, look, program, render

PATIENCE = 30.0
"""Seconds that the engine gets for the whole self-test; a cold one with sixty plugins is ready in under two."""

INSTALL = "run: matrixx install opencode"


def examine(directory: Path, *, asked: bool) -> Iterator[Finding]:
    """Look at OpenCode on this machine and at its plugin file; ``asked`` says that somebody wants OpenCode to be here."""
    where = program()
    plugin_files = [there for folder in (directory, None) if (there := _look(folder))]
    if not where and not plugin_files and not asked:
        yield Finding("ok", "OpenCode is not on this machine", "there is nothing to connect")
        return
    if where:
        yield Finding("ok", f"OpenCode is {where}")
    else:
        yield Finding(
            "error" if asked else "warn", "OpenCode is not on PATH", "no session can be guarded", "install it: https://opencode.ai"
        )
    if not shutil.which("rg"):
        why = "OpenCode's grep, glob and skill tools fail when it cannot download it"
        yield Finding("warn", "ripgrep (rg) is not on PATH", why, "install ripgrep")
    if os.environ.get("OPENCODE_PURE"):
        yield Finding("error", "OPENCODE_PURE is set", "OpenCode then loads no plugin, so nothing is guarded", "unset OPENCODE_PURE")
    ours = [there for there in plugin_files if there.ours]
    if not ours:
        yield Finding("error", f"no plugin file {FILE}", f"OpenCode knows nothing of Matrixx in {directory}", INSTALL)
    if len(ours) > 1:
        why = "two engines answer, and the model reads every note twice"
        yield Finding("warn", "the plugin file is there for the project and for the user", why, "uninstall one: matrixx uninstall opencode")
    for there in plugin_files:
        yield from _plugin_file(there)
    for there in ours:
        if there.command and _runs(there.command[0]):
            yield from self_test(there, directory)


def self_test(there: Installed, directory: Path) -> Iterator[Finding]:
    """Start the very command of the plugin file: it must get ready, block what must be blocked, and let the rest pass."""
    with nothing_kept(), _engine(there.command, directory) as engine:
        if engine.ask({"op": "hello", "protocol": 1, "directory": str(directory), "worktree": str(directory)}).get("op") != "ready":
            why = f"{' '.join(there.command)} did not answer within {PATIENCE:g} s"
            yield Finding("error", "the engine does not start", why, f"start it by hand to see why: {' '.join(there.command)} < /dev/null")
            return
        forbidden = engine.ask(_before(1, "write", {"filePath": str(there.path), "content": ""}))
        harmless = engine.ask(_before(2, "bash", {"command": "echo matrixx"}))
    yield _judged(forbidden, harmless)


def _judged(forbidden: dict[str, Any], harmless: dict[str, Any]) -> Finding:
    if "id" not in forbidden or "id" not in harmless:
        return Finding(
            "error", "the engine does not answer", f"it was asked about two calls and said nothing within {PATIENCE:g} s", _see_log()
        )
    if not forbidden.get("block"):
        why = "a call that overwrites Matrixx's own plugin file was let pass"
        return Finding("error", "the engine does not block", why, "run: matrixx hooks, and see which are failed or disabled")
    if wrong := harmless.get("block") or harmless.get("error"):
        why = str(wrong).splitlines()[0]
        return Finding(
            "error", "the engine does not let a harmless call pass", why, 'run: matrixx explain bash \'{"command": "echo matrixx"}\''
        )
    return Finding("ok", "self-test: the engine blocks what it must and lets the rest pass")


def _see_log() -> str:
    return f"see {logs.log_file()}"


def _look(directory: Path | None) -> Installed | None:
    path = config_folder(directory) / FILE
    try:
        return look(path)
    except MatrixxError:
        return Installed(path, "")


def _plugin_file(there: Installed) -> Iterator[Finding]:
    if (beside := there.path.with_name("package.json")).exists():
        why = "OpenCode loads what its main names, in the place of the plugin file, and says nothing"
        yield Finding("error", f"{beside} stands beside the plugin file", why, "move it away")
    if not there.ours:
        yield Finding("error", f"{there.path} is not ours", "OpenCode loads it in the place of Matrixx", f"move it away, then {INSTALL}")
        return
    if not there.command or not _runs(there.command[0]):
        gone = there.command[0] if there.command else "no command"
        yield Finding("error", f"{there.path} starts {gone}, which is not there", "OpenCode runs unguarded", INSTALL)
    elif there.command[0] != sys.executable:
        why = f"it starts {there.command[0]}, this is {sys.executable}: the hooks of the former are in force"
        yield Finding("warn", f"{there.path} was made by another Python", why, f"if that is not meant, {INSTALL}")
    elif there.edited:
        yield Finding("warn", f"{there.path} was edited by hand", "what was changed is lost with the next installation", INSTALL)
    elif there.content != render(fail_closed=there.fail_closed, folders=there.folders):
        yield Finding("error", f"{there.path} is stale", "another version wrote it, and the two may not understand each other", INSTALL)
    else:
        yield Finding("ok", f"{there.path} is as this version writes it")


def _runs(executable: str) -> bool:
    return os.access(executable, os.X_OK) or bool(shutil.which(executable))


def _before(number: int, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    asked = {"tool": tool, "sessionID": "matrixx-self-test", "callID": f"matrixx-{number}"}
    return {"id": number, "hook": "tool.execute.before", "input": asked, "output": {"args": args}}


@dataclass(slots=True)
class _Engine:
    """An engine's process, asked one thing at a time."""

    sink: IO[bytes]
    source: IO[bytes]

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send an object and return the answer to it; empty when the engine is gone."""
        try:
            self.sink.write(json.dumps(message).encode() + b"\n")
            self.sink.flush()
        except OSError:
            return {}
        for line in self.source:
            try:
                answer = cast(dict[str, Any], json.loads(line))
            except ValueError:
                continue
            if answer.get("id") == message.get("id") and answer.get("op") in {None, "ready"}:
                return answer
        return {}


@contextlib.contextmanager
def _engine(command: tuple[str, ...], directory: Path) -> Generator[_Engine]:
    """The engine as the bridge starts it; what it has started is killed with its end, and all of it when the time is over."""
    process = subprocess.Popen(
        command, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    sink, source = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
    watcher = threading.Thread(target=_watch, args=[process], daemon=True)
    watcher.start()
    try:
        with source:
            yield _Engine(sink, source)
            with contextlib.suppress(BrokenPipeError):  # it has ended before us
                sink.close()
            process.wait()
    finally:
        _kill(process)
        watcher.join()


def _watch(process: subprocess.Popen[bytes]) -> None:
    """What the engine leaves running would keep its output open, and nobody would see that it has ended."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    _kill(process)
    process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
