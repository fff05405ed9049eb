"""Run a program with a deadline, never through a shell, and leave nothing of it behind."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio

LIMIT = 4 * 1024 * 1024
"""Bytes kept of each output stream; what follows is read and thrown away, so that the program never blocks on a full pipe."""
GRACE = 0.5
"""Seconds between the polite signal (SIGTERM) and the one that cannot be ignored (SIGKILL)."""
DRAIN = 0.25
"""Seconds that output may still arrive after the program's exit, from a grandchild that holds its pipes open."""
NOT_FOUND = 127
"""Exit code of a program that is not there or cannot be started, as shells have it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. ``code`` is its exit code, negative the signal that killed it (as in ``subprocess``)."""

    code: int
    stdout: str
    stderr: str
    truncated: bool = False
    """Whether either stream was longer than the limit."""
    timed_out: bool = False
    """Whether the deadline passed; the program was then killed with everything it had started."""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, with code 0."""
        return self.code == 0 and not self.timed_out


async def run(  # noqa: PLR0913 - what a program needs; all but argv by name
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    timeout: float,  # noqa: ASYNC109 - the deadline also bounds the clean-up, which a caller's cancel scope cannot
    input: bytes | str | None = None,  # noqa: A002 - as subprocess calls it
    env: Mapping[str, str] | None = None,
    limit_bytes: int = LIMIT,
) -> Finished:
    """Run a program in a process group of its own and return when it has ended, at the latest ``timeout`` seconds from now.

    ``env`` is added to our own environment. A program that cannot be started is code 127 with the reason in ``stderr``. At the
    deadline, and when the caller is cancelled, the whole group is ended; what the program started and left behind goes with it.
    """
    started: list[tuple[asyncio.SubprocessTransport, _Watcher]] = []
    try:
        with anyio.CancelScope(shield=True):  # cancelled half-way, the program would run on with nobody to end it
            started.append(await _start(argv, cwd, env, limit_bytes, reads=input is not None))
    except (OSError, ValueError) as error:
        return Finished(NOT_FOUND, "", f"{argv[0]!r} cannot be started: {error}")
    [(transport, watcher)] = started
    timed_out = False
    try:
        _feed(transport, input)
        with anyio.move_on_after(timeout) as deadline:
            await watcher.ended()
        timed_out = deadline.cancelled_caught
    finally:
        with anyio.CancelScope(shield=True):
            await _end(transport, watcher)
    return watcher.finished(timed_out=timed_out)


def which(name: str) -> str | None:
    """Absolute path of a program on ``PATH``; remembered while it is there, looked for again while it is not."""
    key = (name, os.environ.get("PATH", ""))
    found = _found.get(key)
    if found is None or not os.access(found, os.X_OK):
        found = shutil.which(name)
        found = str(Path(found).absolute()) if found else None
        if found:
            _found[key] = found
    return found


_found: dict[tuple[str, str], str] = {}


async def _start(
    argv: Sequence[str], cwd: str | os.PathLike[str], env: Mapping[str, str] | None, limit: int, *, reads: bool
) -> tuple[asyncio.SubprocessTransport, "_Watcher"]:
    return await asyncio.get_running_loop().subprocess_exec(
        lambda: _Watcher(limit),
        *argv,
        cwd=cwd,
        env={**os.environ, **env} if env else None,
        stdin=subprocess.PIPE if reads else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _feed(transport: asyncio.SubprocessTransport, data: bytes | str | None) -> None:
    pipe = transport.get_pipe_transport(0)
    if data is None or not isinstance(pipe, asyncio.WriteTransport):
        return
    pipe.write(data.encode("utf-8", "replace") if isinstance(data, str) else data)
    pipe.close()


async def _end(transport: asyncio.SubprocessTransport, watcher: "_Watcher") -> None:
    """Make sure that nobody of the group is left; takes ``GRACE`` seconds when somebody will not go."""
    if transport.get_returncode() is None:
        _signal(transport, signal.SIGTERM)
        with anyio.move_on_after(GRACE):
            await watcher.exited.wait()
    _signal(transport, _KILL)
    with anyio.move_on_after(GRACE):
        await watcher.exited.wait()
    transport.close()


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def _signal(transport: asyncio.SubprocessTransport, which_one: signal.Signals) -> None:
    """Signal the group; the session that the program was started in makes its process id the group's."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(transport.get_pid(), which_one)
        else:
            transport.kill()
    except (ProcessLookupError, PermissionError):
        return


class _Watcher(asyncio.SubprocessProtocol):
    """Collects the output, and tells the program's exit apart from the end of its pipes."""

    def __init__(self, limit: int) -> None:
        self.exited = asyncio.Event()
        self._closed = asyncio.Event()
        self._open = {1, 2}
        self._limit = limit
        self._output = {1: bytearray(), 2: bytearray()}
        self._truncated = False
        self._transport: asyncio.SubprocessTransport | None = None

    async def ended(self) -> None:
        """Wait for the program's exit, and a moment for what is left in its pipes."""
        await self.exited.wait()
        with anyio.move_on_after(DRAIN):
            await self._closed.wait()

    def finished(self, *, timed_out: bool) -> Finished:
        stdout, stderr = (bytes(self._output[stream]).decode("utf-8", "replace") for stream in (1, 2))
        code = self._transport.get_returncode() if self._transport else None
        return Finished(-int(_KILL) if code is None else code, stdout, stderr, self._truncated, timed_out)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        kept = self._output[fd]
        room = max(0, self._limit - len(kept))
        kept += cast("bytes", data)[:room]
        self._truncated = self._truncated or len(data) > room

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self._closed.set()

    def process_exited(self) -> None:
        self.exited.set()
