"""Play recorded OpenCode hook calls through an engine: the machine contract of ``matrixx replay``."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matrixx_core.errors import ClientError, HookError, MatrixxError
from matrixx_core.host import Host
from matrixx_core.watchdog import watching

from .. import records
from .adapter import Answer, OpenCode
from .client import OpenCodeClient
from .translate import Raw, apply, table, text

log = logging.getLogger("matrixx")

CLIENT = "client"
"""The ``hook`` of a line that says what OpenCode's API answers; no record comes of it."""


@dataclass(slots=True)
class Recorder:
    """OpenCode's API in a replay: remembers every request and answers what the recording says."""

    requests: list[records.Record] = field(default_factory=list[records.Record])
    answers: dict[str, deque[Raw]] = field(default_factory=dict[str, deque[Raw]])

    def expect(self, line: Raw) -> None:
        """Take a client line: ``path``, ``response`` and, when it matters, ``method`` or an error's ``status``."""
        self.answers.setdefault(text(line.get("path")), deque()).append(line)

    async def request(self, method: str, path: str, body: Any) -> Any:
        self.requests.append({"method": method, "path": path, "body": body})
        waiting = self.answers.get(path, deque[Raw]())
        line = next((line for line in waiting if _answers(line, method)), None)
        if line is None:
            return None
        waiting.remove(line)
        status = line.get("status", 200)
        if isinstance(status, int) and not 200 <= status < 300:
            raise ClientError(f"OpenCode answered {method} {path} with status {status}")
        return line.get("response")

    def take(self) -> list[records.Record]:
        """The requests since the last time."""
        taken, self.requests = self.requests, []
        return taken


async def replay(
    lines: Iterable[tuple[int, Raw]],
    emit: Callable[[records.Record], None],
    *,
    directory: Path,
    config: Sequence[Path] = (),
    disabled: Sequence[str] = (),
) -> None:
    """Run numbered lines in order through one engine and emit a record for each, but for those that speak for the client."""
    recorder = Recorder()
    async with Host.open(directory, client=OpenCodeClient(recorder.request), config=config, disabled=disabled) as host:
        recorder.take()
        with watching(host.rules.running):
            adapter = OpenCode(host)
            for number, line in lines:
                if line["hook"] == CLIENT:
                    recorder.expect(line)
                    continue
                try:
                    emit(await _record(adapter, recorder, line))
                except HookError as error:
                    raise MatrixxError(f"line {number}: {error}; strict is set") from error


async def _record(adapter: OpenCode, recorder: Recorder, line: Raw) -> records.Record:
    hook, inp = str(line["hook"]), table(line.get("input"))
    output = line.get("output")
    if hook == "tool.execute.before" and not table(output).get("args") and inp.get("args"):
        output = {**table(output), "args": inp["args"]}  # written by hand, or by another host's recorder
    answer = Answer()
    try:
        answer = await adapter.event(table(inp.get("event"))) if hook == "event" else await adapter.hook(hook, inp, table(output))
    except HookError:
        raise
    except Exception:
        log.exception("hook %r could not be answered", hook)  # the engine's process does the same
    return {
        "hook": hook,
        **records.verdict(answer.outcomes),
        "output": apply(output, answer.edits) if answer.edits else output,
        "notes": records.notes(answer.outcomes),
        "ran": records.ran(answer.outcomes),
        "requests": recorder.take(),
    }


def _answers(line: Raw, method: str) -> bool:
    """Whether a client line is meant for this method: the one it names; else only reading gives a list."""
    wanted = line.get("method")
    return wanted == method if isinstance(wanted, str) else method == "GET" or not isinstance(line.get("response"), list)
