"""The handlers in Claude Code's settings: which, in which file, how they go in beside what is there, and out again.

Claude Code 2.1.332 never sends SessionStart to an http handler, so one of another kind has to start the engine. It refuses a
file with a comment or a comma too many as a whole, takes a byte order mark, and of a key that is there twice the last.
"""

import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from matrixx_core.errors import MatrixxError
from matrixx_core.trust import state_dir

from ...daemon import CLIENT, compile_client, endpoint
from ...daemon.client import BLOCKABLE, SECONDS
from .. import jsonc
from ..changes import Change, Installation
from . import switches

HOST = "claude-code"

EVENTS: Mapping[str, str] = {
    "SessionStart": "command",
    "SessionEnd": "http",
    "UserPromptSubmit": "command",
    "UserPromptExpansion": "http",
    "PreToolUse": "http",
    "PostToolUse": "http",
    "PostToolUseFailure": "http",
    "PostToolBatch": "http",
    "PermissionRequest": "http",
    "Stop": "http",
    "SubagentStart": "http",
    "SubagentStop": "http",
    "PreCompact": "command",
    "Notification": "http",
}
"""The events that get a handler, and its kind in a project: a ``command`` starts the engine where there is none, ``http`` costs least."""

TIMEOUT = round(SECONDS) + 10
"""Seconds that Claude Code waits for a handler: longer than the client and the engine wait themselves, so that their answer counts."""

HEADER = "X-Matrixx"
"""Tells our http handlers from others; its value is the version that wrote them."""

COMPILED = "matrixx-client"

CLIENTS = (f"/{COMPILED}", "/matrixx_builtin/daemon/client.py")
"""How the path of a client of ours ends, whichever it is."""

Handler = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A handler of ours: what it says, and each container around it with the item that leads to it, from the inside out."""

    event: str
    handler: Handler
    bare: bool
    """Whether its group has no matcher, so that every call gets there."""
    ways: Sequence[tuple[jsonc.Value, jsonc.Item]]


def settings_file(directory: Path | None) -> Path:
    """Claude Code's settings of a project; without one the user's."""
    if directory is not None:
        return directory / ".claude" / "settings.json"
    given = os.environ.get("CLAUDE_CONFIG_DIR", "").strip()
    return (Path(given) if given else Path.home() / ".claude") / "settings.json"


def program() -> str:
    """Where Claude Code is on this machine, or ``""``."""
    usual = (Path.home() / ".local" / "bin" / "claude", Path.home() / ".claude" / "local" / "claude")
    return shutil.which("claude") or next((str(path) for path in usual if os.access(path, os.X_OK)), "")


def read(path: Path) -> bytes | None:
    """A settings file, or ``None``; raises ``MatrixxError`` for what cannot be read or must not be written to."""
    if path.is_symlink():
        raise MatrixxError(f"{path} is a symbolic link, which would be replaced; put the file in its place, and run this again")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise MatrixxError(f"{path} is no file; look at what is there and move it away")
        data = path.read_bytes()
        data.decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise MatrixxError(f"{path} cannot be read ({why}); correct it and run this again") from None
    return data


def places(path: Path, data: bytes) -> list[Place]:
    """Our handlers in a settings file, in order; raises ``MatrixxError`` for one that Claude Code would not understand either."""
    try:
        return list(_places(jsonc.parse(data)))
    except (jsonc.JsonError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise MatrixxError(f"{path} cannot be changed: {why}; correct it and run this again") from None


def wanted(directory: Path | None, *, fail_closed: bool, client: Path | None) -> dict[str, Handler]:
    """The handler of each event as this version, run by this interpreter, writes it; ``client`` is the compiled one."""
    if not sys.executable:
        raise MatrixxError(
            "this Python does not know its own program, so Claude Code could not start it; run matrixx from a virtual environment"
        )
    made: dict[str, Handler] = {}
    for event, kind in EVENTS.items():
        policy = "closed" if fail_closed and event in BLOCKABLE else "open"
        handler = _http(directory) if kind == "http" and directory else _command(event, policy, directory, client)
        made[event] = {**handler, "timeout": TIMEOUT, **({"onFailure": "block"} if policy == "closed" else {})}
    return made


def client_file() -> Path:
    """Where the compiled client of this version is, once it has been compiled."""
    return state_dir().absolute() / "clients" / version("matrixx-core") / COMPILED


def installation(directory: Path | None, *, fail_closed: bool) -> Installation:
    """What installing would change; raises ``MatrixxError`` for a settings file that cannot be changed.

    The client is compiled, and the project's port and token are chosen, to say so: both are kept in our own state folder.
    """
    path = settings_file(directory)
    data = read(path)
    if data is not None:
        places(path, data)
    made = wanted(directory, fail_closed=fail_closed, client=compile_client(client_file().parent))
    after = _new(path, made) if data is None else _merged(path, data, made)
    mode = 0o600 if directory or data is None else stat.S_IMODE(path.stat().st_mode)
    before = None if data is None else data.decode()
    changes = [] if before == after else [Change(path, before, after, mode=mode)]
    return Installation(changes, [*_elsewhere(directory), *_held_up(directory, after), *_next_steps(directory)])


def removal(directory: Path | None) -> Installation:
    """What uninstalling would change: our handlers, what was made around them, and a file that holds nothing else."""
    path = settings_file(directory)
    data = read(path)
    if data is None or not places(path, data):
        return Installation(advice=[f"there is no handler of ours in {path}", *_elsewhere(directory)])
    after = _stripped(path, data)
    mode = stat.S_IMODE(path.stat().st_mode)
    folders = len(data) - len(data.rstrip(b"\n"))
    change = Change(path, data.decode(), after, folders=0 if after is not None else folders, mode=mode)
    return Installation([change], [*_elsewhere(directory), "sessions that run keep them until they end"])


def installed(directory: Path | None) -> Path | None:
    """The settings file with handlers of ours in a project, or without one the user's; ``None`` where there is none."""
    path = settings_file(directory)
    try:
        data = read(path)
        return path if data is not None and places(path, data) else None
    except MatrixxError:
        return None


def is_ours(handler: Any) -> bool:
    """Whether a handler asks our engine, whoever's Python and whatever version."""
    if not isinstance(handler, dict):
        return False
    headers, words = handler.get("headers"), handler.get("args")
    if handler.get("type") == "http":
        return isinstance(headers, dict) and HEADER in headers and str(handler.get("url")).endswith(f"/{HOST}")
    args: list[Any] = words if isinstance(words, list) else []
    command = [handler.get("command"), *args]
    return HOST in command and any(str(word).endswith(CLIENTS) for word in command)


def _http(directory: Path) -> Handler:
    there = endpoint(directory)
    headers = {"Authorization": f"Bearer {there.token}", HEADER: version("matrixx-core")}
    return {"type": "http", "url": there.url(HOST), "headers": headers}


def _command(event: str, policy: str, directory: Path | None, client: Path | None) -> Handler:
    start = [str(client), sys.executable] if client else [sys.executable, "-I", "-S", "-E", str(CLIENT)]
    words = [*start, HOST, event, policy, *([str(directory.resolve())] if directory else [])]
    return {"type": "command", "command": words[0], "args": words[1:]}


def _places(root: jsonc.Value) -> Iterator[Place]:
    if not isinstance(root.plain, dict):  # all of it is read: what is wrong anywhere keeps Claude Code from taking the file
        raise jsonc.JsonError(f"it is no object, but {'a list' if root.kind == 'array' else 'a single value'}")
    hooks = next((item for item in root.items if item.key == "hooks"), None)
    if hooks is None:
        return
    _expect(hooks, "object")
    for event in hooks.value.items:
        _expect(event, "array")
        for group in event.value.items:
            handlers = group.value.get("hooks") if group.value.kind == "object" else None
            for handler in handlers.items if handlers else ():
                if handlers and is_ours(said := handler.value.plain):
                    ways = ((handlers, handler), (event.value, group), (hooks.value, event), (root, hooks))
                    matcher = group.value.get("matcher")
                    yield Place(event.key, said, matcher is None or matcher.plain in {"", "*"}, ways)


def _expect(item: jsonc.Item, kind: str) -> None:
    if item.value.kind != kind:
        raise jsonc.JsonError(f"{item.key!r} is no {'list' if kind == 'array' else kind}")


def _new(path: Path, made: Mapping[str, Handler]) -> str:
    """A file of ours; it ends in as many line breaks as folders have to be made for it, which go with it again."""
    folders = sum(not folder.exists() for folder in path.absolute().parents)
    hooks = {event: [{"hooks": [handler]}] for event, handler in made.items()}
    return (jsonc.render(b"{}", {"hooks": hooks}, 0) + b"\n" * folders).decode()


def _merged(path: Path, data: bytes, made: Mapping[str, Handler]) -> str:
    """The settings with exactly these handlers of ours: what is there is corrected in its place, the rest added or taken out."""
    for event, handler in made.items():
        there = next((one for one in places(path, data) if one.event == event and one.bare), None)
        if there is None:
            data = _with(data, event, handler)
        elif there.handler != handler:
            data = jsonc.replace(data, there.ways[0][1].value, handler)
    while extra := _extra(places(path, data), made):
        data = _without(data, extra)
    jsonc.parse(data)
    return data.decode()


def _extra(found: Sequence[Place], made: Mapping[str, Handler]) -> Place | None:
    """One that is not wanted: behind a matcher, a second one, or for an event that has none any more."""
    seen: set[str] = set()
    for place in found:
        if not place.bare or place.event in seen or place.event not in made:
            return place
        seen.add(place.event)
    return None


def _with(data: bytes, event: str, handler: Handler) -> bytes:
    root = jsonc.parse(data)
    hooks = root.get("hooks")
    group = {"hooks": [handler]}
    if hooks is None:
        return jsonc.insert(data, root, {event: [group]}, key="hooks")
    groups = hooks.get(event)
    return jsonc.insert(data, hooks, [group], key=event) if groups is None else jsonc.insert(data, groups, group)


def _stripped(path: Path, data: bytes) -> str | None:
    """The settings without our handlers, the last one first; ``None``: nothing else was in the file, which we made."""
    while found := places(path, data):
        root, hooks = found[-1].ways[-1]
        way = _way_out(data, found[-1])
        if way == (root, hooks) and len(root.items) == 1 and jsonc.was_made(data, root):
            return None
        data = _without(data, found[-1])
    jsonc.parse(data)
    return data.decode()


def _without(data: bytes, place: Place) -> bytes:
    return jsonc.remove(data, *_way_out(data, place))


def _way_out(data: bytes, place: Place) -> tuple[jsonc.Value, jsonc.Item]:
    """What has to go: the handler, its group with the last one, and the containers that were made for it."""
    handler, group, event, hooks = place.ways
    if len(handler[0].items) > 1:
        return handler
    for container, item in (group, event):
        if len(container.items) > 1 or not jsonc.was_made(data, container):
            return container, item
    return hooks


def _elsewhere(directory: Path | None) -> list[str]:
    """Handlers in both places mean every note twice."""
    other = installed(None) if directory is not None else None
    return [f"Matrixx is installed for all projects as well ({other}): one of the two is enough"] if other else []


def _held_up(directory: Path | None, after: str) -> list[str]:
    """What keeps the handlers from being called."""
    path = settings_file(directory)
    url = endpoint(directory).url(HOST) if directory else ""
    comments = [switches.comments(path)] if jsonc.has_comments(after.encode()) else []
    return [f"{one.what}: {one.why}; {one.way_out}" for one in (*comments, *switches.switches(directory, settings_file(None), url))]


def _next_steps(directory: Path | None) -> list[str]:
    steps = ["start Claude Code again: a session keeps the hooks that it has started with", "then run: matrixx doctor"]
    if directory is not None and any((folder / ".git").exists() for folder in (directory, *directory.resolve().parents)):
        steps.append(
            "the file now holds a token and this machine's paths: keep it out of Git (a line /.claude/settings.json in .git/info/exclude); "
            "where a team shares the file, use: matrixx install claude-code --global"
        )
    return steps if program() else ["Claude Code is not on this machine's PATH yet", *steps]
