"""``matrixx serve opencode``: the engine's process, as the bridge starts it."""

import gc
import logging
import os
import signal
import threading
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from matrixx_core.errors import ClientError
from matrixx_core.host import Host
from matrixx_core.tools import ToolError
from matrixx_core.watchdog import watching
from matrixx_core.wire import Message, Wire, claim_stdio

from ...services import logs
from ...services.warming import warm
from .adapter import OpenCode
from .client import OpenCodeClient
from .permission import questions
from .translate import read_call, table, text

PROTOCOL = 1
"""Version of the lines between bridge and engine; a bridge of another one is told to be installed again."""

WATCH = 0.5
"""Seconds between two looks at the settings files, for calls that the bridge answers without us."""

LEAVE = 2.0
"""Seconds for what plugins left running when the host is gone; then the process ends without it."""

log = logging.getLogger("matrixx")


class Engine:
    """One OpenCode process at the other end of the wire."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._adapters: list[OpenCode] = []
        self._ready = anyio.Event()
        self._hello: Message = {}
        self._greeted = anyio.Event()
        self._numbers = count(1)
        self._asked: dict[int, tuple[anyio.Event, Message]] = {}

    async def run(self) -> None:
        """Serve until the bridge is gone."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._open, group.cancel_scope)
            await self.wire.listen(self._take)
            group.cancel_scope.cancel()

    async def request(self, method: str, path: str, body: Any) -> Any:
        """One call of OpenCode's API, made by the bridge inside the OpenCode process."""
        number = next(self._numbers)  # never one again: a late answer must not pass for another's
        answered, reply = self._asked[number] = anyio.Event(), {}
        self.wire.send({"op": "rpc", "id": number, "method": method, "path": path, **({} if body is None else {"body": body})})
        try:
            await answered.wait()
        finally:
            del self._asked[number]
        status = reply.get("status")
        if not isinstance(status, int) or not 200 <= status < 300:
            raise ClientError(f"OpenCode answered {method} {path} with status {status}")
        return reply.get("body")

    @property
    def _worktree(self) -> str:
        return text(self._hello.get("worktree"))

    async def _adapter(self) -> OpenCode:
        if not self._adapters:  # waiting for what has happened would still give way to the event loop
            await self._ready.wait()
        return self._adapters[0]

    async def _open(self, scope: anyio.CancelScope) -> None:
        await self._greeted.wait()
        directory = Path(text(self._hello.get("directory")) or ".")
        try:
            async with Host.open(directory, client=OpenCodeClient(self.request)) as host, anyio.create_task_group() as beside:
                with watching(host.rules.running):
                    self._adapters.append(OpenCode(host, one_shot=self._hello.get("oneShot") is True))
                    self._ready.set()
                    gc.freeze()
                    gc.enable()
                    beside.start_soon(_warm_up)
                    await self._announce_changes(host)
        except Exception:
            log.exception("the engine cannot go on")
            scope.cancel()

    async def _announce_changes(self, host: Host) -> None:
        told: Message = {}
        while True:
            host.refresh()
            now = self._announcement(host)
            if now != told:
                self.wire.send({"op": "ready", **now})
                told = now
            await anyio.sleep(WATCH)

    def _announcement(self, host: Host) -> Message:
        longest = max((step.options.deadline_ms for plans in host.plans.values() for step in plans.steps if step.waits), default=5_000)
        return {
            "protocol": PROTOCOL,
            "interest": self._adapters[0].interest,
            "failClosed": host.settings.core.fail_closed,
            "tools": {one.name: {"description": one.description, "parameters": one.parameters} for one in host.tools.values()},
            "timeoutMs": 2 * longest + 2_000,
        }

    async def _take(self, message: Message) -> None:
        if "hook" in message:
            await self._answer(message)
        elif "tool" in message:
            await self._run_tool(message)
        elif "event" in message:
            await (await self._adapter()).event(table(message["event"]))
        elif message.get("op") == "hello":
            self._hello = message
            self._greeted.set()
        elif message.get("op") == "rpc-result" and (asked := self._asked.get(message.get("id", 0))):
            asked[1].update(message)
            asked[0].set()

    async def _run_tool(self, message: Message) -> None:
        number, name = message.get("id"), text(message["tool"])
        host = (await self._adapter()).host
        try:
            if name in host.tools and (permission := host.tools[name].permission) and message.get("asked") is not True:
                self.wire.send({"id": number, "ask": questions(permission, read_call(message, {}, host.directory), self._worktree)})
                return
            done = await host.run_tool(name, table(message.get("args")), text(message.get("sessionID")))
        except ToolError as error:
            self.wire.send({"id": number, "block": str(error)})
        except Exception as error:
            log.exception("tool %r failed", name)
            self.wire.send({"id": number, "block": f"{name} failed with {type(error).__name__}; see `matrixx doctor`."})
        else:
            self.wire.send({"id": number, "result": {"title": done.title, "output": done.output, "metadata": dict(done.metadata)}})

    async def _answer(self, message: Message) -> None:
        number = message.get("id")
        try:
            answer = await (await self._adapter()).hook(text(message["hook"]), table(message.get("input")), table(message.get("output")))
            reply: Message = {"id": number}
            if answer.refusal:
                reply["block"] = answer.refusal
            if answer.edits:
                reply["edits"] = answer.edits
            if answer.follow:
                reply["follow"] = True
            self.wire.send(reply)
        except Exception as error:
            log.exception("hook %r could not be answered", message["hook"])
            self.wire.send({"id": number, "error": f"{type(error).__name__} in the engine"})


async def _warm_up() -> None:
    """Spare the first calls what can be done before them, once those who waited for the start have been answered."""
    await anyio.sleep(WATCH)
    try:
        await anyio.to_thread.run_sync(warm, abandon_on_cancel=True)
    except Exception:
        log.exception("the first calls will take longer")


def main() -> None:
    """Speak with the bridge on standard input and output until it ends."""
    source, sink = claim_stdio()
    logs.start()
    anyio.run(_serve, source, sink)


async def _serve(source: int, sink: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the host's terminal is the host's to answer
    wire = Wire()
    await wire.connect(source, sink)
    try:
        await Engine(wire).run()
    finally:
        last = threading.Timer(LEAVE, os._exit, (0,))
        last.daemon = True
        last.start()
