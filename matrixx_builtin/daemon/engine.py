"""The adapters that the engine keeps warm for its project, and what it knows of the programs that ask them."""

import asyncio
import gc
import logging
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import click

from matrixx_core import wire

from ..hosts import host_module
from .place import lives

Said: TypeAlias = Mapping[str, Any] | str
"""What a host program is told: an object, or plain text where it takes that."""

Answer: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[Said]]

log = logging.getLogger("matrixx")


class Unanswered(Exception):
    """There is no answer, and why; the client's policy decides then."""


class Engine:
    """Answers payloads of host programs; each adapter is opened at its first one."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.requests = 0
        self._programs: set[int] = set()
        self._last = time.monotonic()
        self._in_hand = 0
        self._nothing_in_hand = asyncio.Event()
        self._nothing_in_hand.set()
        self._ended = asyncio.Event()
        self._opened: dict[str, asyncio.Future[Answer]] = {}
        self._keepers: set[asyncio.Task[None]] = set()

    async def answer(self, host: str, payload: bytes, program: int = 0) -> Said:
        """What the adapter gives back; raises ``Unanswered``. ``program`` is the process of the host, if it is known."""
        self.requests += 1
        if program > 1:  # an orphan's parent is 1
            self._programs.add(program)
        try:
            asked = _object(payload)
            answer = await self._adapter(host)
            return await answer(asked)
        except Unanswered:
            raise
        except click.UsageError as error:
            raise Unanswered(error.format_message()) from None
        except Exception as error:
            log.exception("an event of %r could not be answered", host)
            raise Unanswered(f"{type(error).__name__} in the engine") from None
        finally:
            self._last = time.monotonic()

    @contextmanager
    def in_hand(self) -> Generator[None]:
        """Around a request, from its first byte to the last of its answer: the engine's end waits for it."""
        self._in_hand += 1
        self._nothing_in_hand.clear()
        try:
            yield
        finally:
            self._in_hand -= 1
            if not self._in_hand:
                self._nothing_in_hand.set()

    def programs(self) -> list[int]:
        """Those of the host programs that live."""
        self._programs = {pid for pid in self._programs if lives(pid)}
        return sorted(self._programs)

    def is_idle(self, seconds: float) -> bool:
        """Whether no request came for so long, and no program lives that may send one."""
        return not self._in_hand and time.monotonic() - self._last > seconds and not self.programs()

    async def close(self, seconds: float) -> None:
        """Wait so long for the requests in hand, and close the adapters."""
        try:
            async with asyncio.timeout(seconds):
                await self._nothing_in_hand.wait()
        except TimeoutError:
            log.warning("the engine ends with %d requests in hand", self._in_hand)
        self._ended.set()
        if self._keepers:
            await asyncio.wait(self._keepers, timeout=seconds)

    async def _adapter(self, host: str) -> Answer:
        if host not in self._opened:
            self._opened[host] = asyncio.get_running_loop().create_future()
            self._keepers.add(task := asyncio.create_task(self._keep(host, self._opened[host])))
            task.add_done_callback(self._keepers.discard)
        return await asyncio.shield(self._opened[host])

    async def _keep(self, host: str, opened: asyncio.Future[Answer]) -> None:
        """Open an adapter and close it in one task, as what it holds open may demand."""
        gc.disable()  # what a start makes is there to stay
        try:
            async with _opener(host)(self.directory) as answer:
                gc.freeze()
                gc.enable()
                opened.set_result(answer)
                await self._ended.wait()
        except Exception as error:  # it is raised where the answer is waited for
            gc.enable()
            if opened.done():
                log.exception("the adapter for %r did not close", host)
            else:
                del self._opened[host]  # the next request tries again
                opened.set_exception(error)


def _object(payload: bytes) -> Mapping[str, Any]:
    try:
        asked = wire.decode(payload)
    except ValueError as error:
        raise Unanswered(f"the payload cannot be read: {error}") from None
    if not isinstance(asked, dict):
        raise Unanswered(f"expected an object, not {type(asked).__name__}")
    return asked


def _opener(host: str) -> Callable[[Path], AbstractAsyncContextManager[Answer]]:
    opener: Callable[[Path], AbstractAsyncContextManager[Answer]] | None = getattr(host_module(host), "warm", None)
    if opener is None:
        raise Unanswered(f"{host} is not served by a warm engine")
    return opener


def encoded(said: Said) -> bytes:
    """As it goes to the host program."""
    return said.encode("utf-8", "replace") if isinstance(said, str) else wire.encode(dict(said))
