"""The scratch project of a canary: its hook, found as a stranger's plugin is, and an MCP server that writes files."""

import os
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..rehearsal import MCP_SERVER
from ..rehearsal.turns import Call, Turn

DENIED = "is in the cage"
SONG = "The canary sings."
FREE = "free.txt"
LISTEN = "echo listen"

HOOK = f'''"""Deny every write into the cage, and sing beside a shell call."""

from matrixx_builtin.services.effects import effects_of
from matrixx_core import Block, Inject, ToolCall, guard


@guard
def tool_execute_before(call: ToolCall) -> Block | Inject | None:
    for touch in effects_of(call).writes:
        name = touch.path.rpartition("/")[2]
        if name.startswith("caged-"):
            return Block(f"{{name}} {DENIED}")
    return Inject({SONG!r}) if call.args.get("command") == {LISTEN!r} else None
'''

METADATA = "Metadata-Version: 2.1\nName: matrixx-canary\nVersion: 1.0\n"
ENTRY_POINTS = "[matrixx.hooks]\ncanary = matrixx_canary\n"


@dataclass(frozen=True, slots=True)
class Cage:
    """Folders of one canary; ``site`` holds its hook and belongs on the engine's ``PYTHONPATH``."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def env(self) -> dict[str, str]:
        """What the host program's environment must have besides its own."""
        before = os.environ.get("PYTHONPATH")
        return {"PYTHONPATH": os.pathsep.join([str(self.root / "site"), *([before] if before else [])])}

    @property
    def mcp_server(self) -> Sequence[str]:
        """The command of an MCP server ``canary`` with a tool ``put_file(path, text)``."""
        return [sys.executable, "-I", str(MCP_SERVER)]

    def file(self, name: str) -> str:
        """The file that the call of this name would write; none of them must come to be."""
        return f"caged-{name}.txt"

    def writes(self, name: str) -> dict[str, str]:
        """Arguments of the canonical ``write`` for that file."""
        return {"filePath": str(self.project / self.file(name)), "content": "out\n"}

    @property
    def free(self) -> Turn:
        """A write that nothing speaks against."""
        return Turn(tool="write", args={"filePath": str(self.project / FREE), "content": "free\n"})

    @property
    def listen(self) -> Turn:
        """The shell call beside which the canary sings."""
        return Turn(tool="bash", args={"command": LISTEN, "description": "Listen"})

    def put(self, tool: str) -> Turn:
        """A call of the MCP tool, under the host's name for it."""
        return Turn(calls=(Call(tool=tool, args={"path": str(self.project / self.file("mcp")), "text": "out\n"}),))


@contextmanager
def cage() -> Generator[Cage]:
    """Make it in a temporary folder, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="matrixx-canary-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve()
        info = root / "site/matrixx_canary-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(METADATA, "utf-8")
        (info / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
        (root / "site/matrixx_canary.py").write_text(HOOK, "utf-8")
        (root / "project").mkdir()
        yield Cage(root)
