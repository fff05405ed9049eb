"""The plugin file that OpenCode loads: where it goes, what is in it, and whether one that is there is ours.

OpenCode 1.18 loads ``{plugin,plugins}/*.{js,ts}`` of its configuration folders; ``.mjs`` it does not. A ``package.json``
beside the file whose ``main`` names another one hides it without a word; ``"type": "commonjs"`` does no harm (1.18.33).
"""

import hashlib
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from matrixx_core.errors import MatrixxError

from ..changes import Change, Installation

FILE = Path("plugin", "matrixx.js")
"""The plugin file below a configuration folder."""

MARK = "// Matrixx for OpenCode:"
"""How every plugin file of ours begins."""

SERVE = ("-m", "matrixx_builtin", "serve", "opencode")

_INSTALLED = re.compile(r"^const INSTALLED = (.*) // @installed$", re.MULTILINE)

OBEYED = {
    "host_opened": "",
    "tools": "",
    "session_event": "block change inject",
    "chat_message": "block change inject",
    "command_execute_before": "block change inject",
    "tool_definition": "change inject",
    "messages_transform": "change inject",
    "system_transform": "change inject",
    "chat_params": "change",
    "chat_headers": "change",
    "tool_execute_before": "block change inject",
    "permission_asked": "block allow",
    "shell_env": "change",
    "tool_execute_after": "change inject",
    "tool_execute_failed": "inject",
    "text_complete": "change",
    "session_compacting": "change inject",
    "host_closed": "",
}
"""The hookspecs that OpenCode 1.18 feeds through this adapter, each with the answers that take effect there."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A plugin file as found; ``ours`` is false for a file of somebody else, ``edited`` true when a hand has changed ours."""

    path: Path
    content: str
    ours: bool = False
    edited: bool = False
    command: tuple[str, ...] = ()
    fail_closed: bool = False
    folders: int = 0


def config_folder(directory: Path | None) -> Path:
    """OpenCode's folder of a project; without one the user's."""
    if directory is not None:
        return directory / ".opencode"
    given = os.environ.get("OPENCODE_CONFIG_DIR", "").strip()
    base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return Path(given) if given else base / "opencode"


def program() -> str:
    """Where OpenCode is on this machine, or ``""``."""
    return shutil.which("opencode") or next((str(path) for path in (Path.home() / ".opencode" / "bin" / "opencode",) if path.is_file()), "")


def look(path: Path) -> Installed | None:
    """The plugin file at this place, or ``None``; raises ``MatrixxError`` for one that cannot be read."""
    if path.is_symlink():
        return Installed(path, "")
    try:
        content = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise MatrixxError(f"{path} cannot be read ({why}); look at what is there and move it away") from None
    line = _INSTALLED.search(content)
    if not content.startswith(MARK) or line is None:
        return Installed(path, content)
    try:
        said = cast(dict[str, Any], json.loads(line.group(1)))
    except ValueError:
        return Installed(path, content, ours=True, edited=True)
    return Installed(
        path,
        content,
        ours=True,
        edited=said.get("digest") != _digest(content),
        command=tuple(map(str, said.get("command") or ())),
        fail_closed=bool(said.get("failClosed")),
        folders=int(said.get("folders") or 0),
    )


def render(*, fail_closed: bool, folders: int) -> str:
    """The plugin file that this version, run by this interpreter, installs."""
    if not sys.executable:
        raise MatrixxError(
            "this Python does not know its own program, so OpenCode could not start it; run matrixx from a virtual environment"
        )
    bridge = Path(__file__).with_name("bridge.js").read_text("utf-8")
    said = {
        "command": [sys.executable, *SERVE],
        "failClosed": fail_closed,
        "version": version("matrixx-core"),
        "folders": folders,
        "digest": _digest(bridge),
    }
    return _INSTALLED.sub(lambda _: f"const INSTALLED = {json.dumps(said)} // @installed", bridge, count=1)


def installation(directory: Path | None, *, fail_closed: bool) -> Installation:
    """What installing would change; raises ``MatrixxError`` rather than touch a file of somebody else."""
    path = config_folder(directory) / FILE
    there = look(path)
    if there is not None and not there.ours:
        kind = "is a symbolic link" if path.is_symlink() else "was not written by Matrixx"
        raise MatrixxError(f"{path} {kind}; move it away, for example to {path.name}.old, and run this again")
    folders = there.folders if there else sum(not folder.exists() for folder in path.parents)
    after = render(fail_closed=fail_closed, folders=folders)
    changes = [] if there and there.content == after else [Change(path, there.content if there else None, after)]
    return Installation(changes, [*_elsewhere(directory), *_next_steps(directory)])


def removal(directory: Path | None) -> Installation:
    """What uninstalling would change: the file that installing wrote, and the folders made for it."""
    path = config_folder(directory) / FILE
    there = look(path)
    if there is None:
        return Installation(advice=[f"there is no {path}", *_elsewhere(directory)])
    if not there.ours:
        raise MatrixxError(f"{path} was not written by Matrixx, so it stays; remove it yourself if you want it gone")
    advice = ["it was edited since it was installed; what was written into it goes too"] if there.edited else []
    return Installation([Change(path, there.content, None, there.folders)], [*advice, *_elsewhere(directory)])


def _elsewhere(directory: Path | None) -> list[str]:
    """Two plugin files mean two engines, and every note twice."""
    if directory is None:
        return []
    path = config_folder(None) / FILE
    other = look(path)
    return [f"Matrixx is installed for all projects as well ({path}): one of the two is enough"] if other and other.ours else []


def _next_steps(directory: Path | None) -> list[str]:
    steps = ["start OpenCode again: it reads plugins only at its start", "then run: matrixx doctor"]
    if directory is not None and (directory / ".git").exists():
        steps.append("the file names this machine's Python: keep it out of Git")
    return steps if program() else ["OpenCode is not on this machine's PATH yet", *steps]


def _digest(content: str) -> str:
    """What tells a file that was edited by hand from one that another version wrote: all of it but the line with the digest."""
    return hashlib.sha256(_INSTALLED.sub("", content, count=1).encode()).hexdigest()[:16]
