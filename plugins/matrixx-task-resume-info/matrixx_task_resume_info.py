"""Say under an agent's report how to go on with the same agent instead of starting a new one."""

import re

from matrixx_core import Inject, ToolResult, rewrite

RUN_AFTER = ("architect",)  # its steps speak of the report; how to go on stands last

DELEGATING = {"task", "task_tool", "delegate_agent", "agent"}

WRAPPER = re.compile(r'\s*<task\s+id="([A-Za-z0-9_-]{1,100})"')
METADATA = "<task_metadata>"
NAMED = re.compile(r"[^<]{0,1000}?\bsession_id:\s*([A-Za-z0-9_-]{1,100})")
"""Where hosts put a session's id around a report; what stands in the report itself is the agent's word, not the host's."""

FAILED = re.compile(r"\s*(?:error|failed)\b", re.IGNORECASE)
SAID = re.compile(r"^to continue:", re.MULTILINE)


@rewrite(tools=DELEGATING)
def tool_execute_after(result: ToolResult) -> Inject | None:
    session_id = _session_of(result)
    if not session_id or FAILED.match(result.output) or SAID.search(result.output):
        return None
    return Inject(
        f'to continue: task(task_id="{session_id}", prompt="..."), or a message to it where agents have those, goes on with all that it knows.'
    )


def _session_of(result: ToolResult) -> str:
    """The session that the host names: in its metadata, else around the report; ``""`` for none."""
    named = result.metadata.get("sessionId")
    if isinstance(named, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,100}", named):
        return named
    _, found, metadata = result.output.rpartition(METADATA)
    last = NAMED.match(metadata) if found else WRAPPER.match(result.output)
    return last[1] if last else ""
