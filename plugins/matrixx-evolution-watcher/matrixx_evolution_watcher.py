"""Keep traces of an agent's calls to learn from; off until asked for.

They lie in the project, for its user alone, without secrets, and shortened. Whether a call has failed is the host's word, not a guess
from what its output says.
"""

import json
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from anyio.to_thread import run_sync

from matrixx_builtin.services import evolution
from matrixx_builtin.services.evolution import EvolutionSettings, Trace, shortened
from matrixx_core import Session, ToolCall, ToolFailure, ToolResult, observe

SETTINGS_KEY = evolution.SETTINGS_KEY

MOST = 500
"""Calls of a session that are under way at once; of more, the time that they take is not known."""

NAME = 200
"""Characters of a name."""

log = logging.getLogger("matrixx")


class Config(EvolutionSettings):
    """What is kept."""


@dataclass(slots=True)
class Begun:
    """When calls have begun (monotonic clock), and whether a failure to write was told."""

    at: OrderedDict[str, float] = field(default_factory=OrderedDict[str, float])
    told: bool = False


def off_because(config: Config) -> str:
    return "" if config.enabled else evolution.OFF


@observe
def tool_execute_before(call: ToolCall, session: Session, config: Config) -> None:
    at = session.state(Begun).at
    at[call.call_id] = time.monotonic()
    if len(at) > MOST:
        at.popitem(last=False)


@observe
async def tool_execute_after(result: ToolResult, session: Session, config: Config) -> None:
    code = result.metadata.get("exit")
    await _keep(result.call, result.output, session, config, success=not isinstance(code, int) or code == 0)


@observe
async def tool_execute_failed(failure: ToolFailure, session: Session, config: Config) -> None:
    await _keep(failure.call, failure.error, session, config, success=False)


async def _keep(call: ToolCall, output: str, session: Session, config: Config, *, success: bool) -> None:
    watcher, begun = config.watcher, session.state(Begun)
    start = begun.at.pop(call.call_id, None)
    if not config.enabled or not session.directory or call.tool in watcher.skipTools or call.tool.startswith("evolution"):
        return
    args = json.dumps(dict(call.args), default=str, ensure_ascii=False)
    trace = Trace(
        call_id=shortened(call.call_id, NAME),
        at=time.time(),
        agent=shortened(session.agent, NAME),
        tool=shortened(call.tool, NAME),
        args=shortened(args, watcher.maxArgChars),
        output=shortened(output, watcher.maxOutputChars),
        ms=None if start is None else round((time.monotonic() - start) * 1_000),
        success=success,
    )
    try:
        await run_sync(evolution.keep, session.directory, session.id, trace)
    except OSError as error:
        if not begun.told:
            log.warning("evolution-watcher keeps no traces in %s: %s", session.directory, error)
        begun.told = True
