"""Play recorded payloads of Claude Code through an engine (``matrixx replay``): ``{"hook": EVENT, "input": PAYLOAD}`` a line."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from matrixx_core.host import Host
from matrixx_core.watchdog import watching

from .. import records
from .adapter import ClaudeCode
from .client import ClaudeCodeClient
from .translate import Raw, table, text


async def replay(
    lines: Iterable[tuple[int, Raw]],
    emit: Callable[[records.Record], None],
    *,
    directory: Path,
    config: Sequence[Path] = (),
    disabled: Sequence[str] = (),
) -> None:
    """Run numbered lines in order through one engine and emit a record for each; ``output`` is what Claude Code gets back."""
    client = ClaudeCodeClient()
    async with Host.open(directory, client=client, config=config, disabled=disabled) as host:
        adapter = ClaudeCode(host, client)
        with watching(host.rules.running):
            for _, line in lines:
                hook = text(line.get("hook"))
                answer = await adapter.hear({**table(line.get("input")), "hook_event_name": hook})
                emit(
                    {
                        "hook": hook,
                        **records.verdict(answer.outcomes),
                        "output": answer.reply(hook),
                        "notes": records.notes(answer.outcomes),
                        "ran": records.ran(answer.outcomes),
                        "requests": [],
                    }
                )
