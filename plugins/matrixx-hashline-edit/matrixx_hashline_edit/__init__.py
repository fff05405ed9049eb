"""Give the model an edit tool that names lines by number and content, and notices when they have changed.

It takes the place of the host's own ``edit``, and asks the person for the same permission. With ``matrixx-hashline-read-enhancer``
installed, the same setting makes ``read`` show the anchors; without it the model gets them from the tool's own errors. The host's formatters are not run: they
would move lines that the model has anchors of.
"""

from collections.abc import Sequence

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from matrixx_core import Session, Tool, ToolResult, hookimpl, observe

from .disk import Locks, located, read_or_none
from .memory import Memory
from .tool import edit_tool

SETTINGS_KEY = "experimental"


class Config(BaseModel):
    model_config = ConfigDict(frozen=True)

    hashline_edit: bool = Field(default=False, description="Replace the host's edit tool by one with LINE#ID anchors.")


def off_because(config: Config) -> str:
    """Why the tool is not there, or ``""``."""
    return "" if config.hashline_edit else f"{SETTINGS_KEY}.hashline_edit is false"


@observe(tools={"read", "write"})
async def tool_execute_after(result: ToolResult, session: Session) -> None:
    """Remember the file as the session knows it now."""
    given = result.call.args.get("filePath")
    if isinstance(given, str) and given:
        path = located(given, result.call.directory or session.directory)
        session.state(Memory).learn(path, await run_sync(read_or_none, path))


@hookimpl
def tools() -> Sequence[Tool]:
    return (edit_tool(Locks()),)
