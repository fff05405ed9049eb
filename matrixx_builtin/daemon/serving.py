"""``matrixx serve daemon``: the process of the warm engine, from the claim on its place to its end."""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict

import anyio
from importlib_metadata import version

from ..services import logs
from . import http, lines
from .control import ITSELF, Status
from .engine import Engine, Unanswered, encoded
from .fingerprint import Watch, is_other
from .peers import is_ours
from .place import Place, inode, listen, sign
from .ports import Endpoint, endpoint

IDLE = 600.0
"""Seconds without a request after which the engine ends, unless a program lives that has asked it."""

TICK = 5.0
"""Seconds between two looks at whether it is still wanted."""

YOUNG = 10.0
"""Seconds in which it does not give way to another interpreter, so that two of them do not keep each other from answering."""

GRACE = 0.3
"""Seconds in which connections that were made before it gave its place up still bring their request."""

DRAIN = 60.0
"""Seconds for the requests in hand when it ends; nobody waits for that, the place is free at once."""

LEAVE = 0.3
"""Seconds for what plugins left running; then the process ends without it."""

MOST_CONNECTIONS = 128
"""Over HTTP at a time: anybody on this machine can open some, and the socket needs files as well."""

OF_ONE_SESSION = ("CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_SESSION_ID", "CLAUDE_ENV_FILE")
"""Variables of whoever happened to start the engine, which serves others, too."""

log = logging.getLogger("matrixx")


def main(place: Place, lock: int, handed: Sequence[int]) -> None:
    """Serve in this place, whose lock is held, until nobody needs it; ``handed`` are listening sockets, if there are any."""
    for name in OF_ONE_SESSION:
        os.environ.pop(name, None)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, as some programs hand it down, no child's exit code is told
    os.chdir(place.project)
    sign(lock)
    logs.start()
    listeners = [socket.socket(fileno=number) for number in handed] or [listen(place)]
    anyio.run(Daemon(place, lock, listeners).run)


class Daemon:
    """One engine and its two doors."""

    def __init__(self, place: Place, lock: int, listeners: list[socket.socket]) -> None:
        self._place, self._lock, self._listeners = place, lock, listeners
        self._inode = inode(place)
        self._problem = ""
        self._since, self._started = time.time(), time.monotonic()
        self._version = version("matrixx-core")
        self._leaving = False
        self._left = asyncio.Event()
        self._servers: list[asyncio.Server] = []
        self._talks: set[asyncio.Task[None]] = set()
        self._connections = 0

    async def run(self) -> None:
        """Serve until the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self.leave)
        self._engine = Engine(self._place.project)
        self._endpoint = self._open_port()
        self._watch = Watch()
        for listener in self._listeners:
            door = self._by_socket if listener.family == socket.AF_UNIX else self._by_http
            self._servers.append(await asyncio.start_server(self._guarded(door), sock=listener))
        log.info("the engine of %s is ready", self._place.project)
        try:
            await self._wait_for_the_end()
            await anyio.sleep(GRACE)
        finally:
            await self._engine.close(DRAIN)
            for talk in self._talks:
                talk.cancel()
            log.info("the engine of %s has ended", self._place.project)
            last = threading.Timer(LEAVE, os._exit, (0,))
            last.daemon = True
            last.start()

    def leave(self, *, successor: bool = False) -> None:
        """Give the place up, at once, to a successor or to whoever comes next; what is in hand is still answered."""
        if self._leaving:
            return
        self._leaving = True
        if not (successor and self._handed_over()) and inode(self._place) == self._inode:
            self._place.socket.unlink(missing_ok=True)
        for server in self._servers:
            server.close()
        os.close(self._lock)
        self._left.set()

    def _handed_over(self) -> bool:
        """Start another one with the open files, so that whoever comes in between waits instead of being turned away."""
        files = [self._lock, *(one.fileno() for one in self._listeners)]
        command = [sys.executable, "-P", "-m", "matrixx_builtin", "serve", "daemon", "--project", str(self._place.project)]
        nothing = subprocess.DEVNULL
        try:
            subprocess.Popen(
                [*command, "--handed", ",".join(map(str, files))],
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
                pass_fds=files,
                start_new_session=True,
            )
        except OSError:
            log.exception("no successor could be started")
            return False
        return True

    async def _wait_for_the_end(self) -> None:
        while not self._left.is_set():
            try:
                await asyncio.wait_for(self._left.wait(), TICK)
            except TimeoutError:
                if self._engine.is_idle(IDLE) or inode(self._place) != self._inode or not self._place.project.is_dir():
                    self.leave()

    def _open_port(self) -> Endpoint | None:
        try:
            found = endpoint(self._place.project)
            if len(self._listeners) == 1:
                self._listeners.append(socket.create_server(("127.0.0.1", found.port)))
        except OSError as error:
            self._problem = f"HTTP is not answered: {error}"
            log.warning("%s", self._problem)
            return None
        return found

    def _guarded(
        self, door: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        """A conversation whose failure is nobody else's."""

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if task := asyncio.current_task():
                self._talks.add(task)
                task.add_done_callback(self._talks.discard)
            try:
                await door(reader, writer)
            except (OSError, TimeoutError) as error:
                log.info("a client was slow or went away: %s", type(error).__name__)
            except Exception:
                log.exception("a client could not be served")
            finally:
                writer.close()

        return talk

    async def _by_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._endpoint is None or self._connections >= MOST_CONNECTIONS:
            return
        self._connections += 1
        try:
            await http.converse(reader, writer, self._endpoint, self._engine, self._is_leaving)
        finally:
            self._connections -= 1

    def _is_leaving(self) -> bool:
        if self._watch.has_changed():
            self.leave(successor=True)
        return self._leaving

    async def _by_socket(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not is_ours(writer.get_extra_info("socket")):
            log.warning("another user's process was turned away")
            return
        with self._engine.in_hand():
            request = await lines.read(reader)
            if request is None:
                return
            if request.host == ITSELF:
                await lines.write(writer, 0, self._itself(request.event))
            elif is_other(request.interpreter) and time.monotonic() - self._started > YOUNG:
                log.info("making place for an engine of %s", request.interpreter)
                self.leave()
            else:
                await lines.write(writer, *await self._answered(request))
                self._is_leaving()

    async def _answered(self, request: lines.Request) -> tuple[int, bytes]:
        try:
            said = await self._engine.answer(request.host, request.payload, request.program)
        except Unanswered as error:
            log.warning("no answer for %s %s: %s", request.host, request.event, error)
            return 1, str(error).encode("utf-8", "replace")
        return 0, encoded(said) if said else b""

    def _itself(self, event: str) -> bytes:
        if event == "stop":
            self.leave()
        return encoded(asdict(self._status()))

    def _status(self) -> Status:
        return Status(
            pid=os.getpid(),
            since=self._since,
            version=self._version,
            python=sys.executable,
            plugins=self._watch.made_of,
            port=self._endpoint.port if self._endpoint else 0,
            problem=self._problem,
            programs=self._engine.programs(),
            requests=self._engine.requests,
        )
