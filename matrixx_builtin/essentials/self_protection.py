"""Keep agents from switching off, changing or removing Matrixx; the person does that from outside.

Protected are the settings files of the user and of the project, the trust store, the plugin file and hook entries that the installer
wrote, and the installed packages; ``matrixx install``, ``uninstall`` and ``trust``, removing our packages and ending the engine are the
person's as well. Reading all of it is free, and so are ``matrixx explain``, ``hooks``, ``doctor``, ``replay`` and the sources in a checkout.
A variable set in front of a command (``MATRIXX_DISABLED=1 rm x``) needs no guard: only the engine's own environment counts.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from matrixx_builtin.services.belongings import Belonging, belongings, entries, holds_entry
from matrixx_builtin.services.effects import Effects, Run, Touch, covers, effects_of
from matrixx_builtin.services.effects.matching import folded
from matrixx_builtin.services.effects.options import parsed
from matrixx_builtin.services.effects.paths import LONGEST, is_wild
from matrixx_builtin.services.effects.programs import program_name, unversioned
from matrixx_builtin.services.sensitive import FILELESS_TOOLS, named, printable, too_much
from matrixx_core import Block, ToolCall, guard

INSTEAD = "leave it as it is and tell the user what you would change; people change it themselves, outside of the agent."

DIRECTORY_MAKERS = frozenset({"mkdir", "md", "install -d"})
COMMANDS = frozenset({"install", "uninstall", "trust"})
LAUNCHERS = frozenset({
    "python", "pypy", "py", "uv", "uvx", "pip", "pipx", "poetry", "pdm", "rye", "hatch", "pixi", "conda", "mamba", "micromamba",
})  # fmt: skip
REMOVALS = frozenset({"uninstall", "remove", "rm"})
KILLERS = frozenset({"kill", "pkill", "killall", "skill", "taskkill", "stop-process", "spps"})
FINDERS = frozenset({"pgrep", "pidof"})
"""Programs that find the process for one of the ``KILLERS``."""
HOSTS = frozenset({"opencode", "claude", "codex", "gemini", "qwen", "copilot", "cursor-agent"})
ENGINES = tuple(f"{program} serve {what}" for program in ("matrixx", "python -m matrixx_builtin") for what in ("opencode", "daemon"))
"""Command lines of engines, of which a pattern may be meant for any."""
LASTING = frozenset({"setx", "launchctl", "systemctl", "tmux", "set"})
"""Programs that set variables for programs started later; ``export`` ends with its shell."""
RIGHTS = frozenset({"chmod", "chown", "chgrp", "chattr", "setfacl", "chcon", "icacls", "attrib"})

LINKERS = frozenset({"ln", "link", "mklink"})

STARTUP = re.compile(
    r".*/(?:\.?(?:ba|z|k|c)?sh(?:rc|env)|\.?(?:bash_|z)?(?:profile|login)|\.envrc|\.env|environment|[^/]*\.(?:fish|service))", re.IGNORECASE
)
"""Files whose variables reach a host program that is started later."""
SWITCHES = re.compile(r"MATRIXX_(?:DISABLED|STATE_DIR)|OPENCODE_PURE|OPENCODE_CONFIG_DIR|CLAUDE_CONFIG_DIR|disableAllHooks|--pure\b")
"""What makes a host program run without us, or with settings of the agent's making."""
ENTRY_SWITCHES = re.compile(r"matrixx|disableAllHooks|hooksConfig|codex_hooks", re.IGNORECASE)
OURS = re.compile(r"(?:.*[/.])?matrixx(?:_builtin)?(?:[/.](?:cli|__main__)(?:\.py)?)*", re.DOTALL)
OWN_CODE = re.compile(
    r"matrixx_(?:core|builtin).*\b(?:trust|withdraw|uninstall|main|cli)\s*\(|run_(?:module|path)\s*\([^)]{0,200}matrixx", re.DOTALL
)


@guard(but=FILELESS_TOOLS | {"read", "glob", "grep"})
def tool_execute_before(call: ToolCall) -> Block | None:
    effects = effects_of(call)
    harms = (why for run in effects.runs if (why := _harm_of(run, call, effects.runs)))
    hit = next(_harmed_files(call, effects), "") or next(harms, "")
    return Block(hit, INSTEAD, person="do it by hand, outside of the agent") if hit else too_much(effects)


def _harmed_files(call: ToolCall, effects: Effects) -> Iterator[str]:
    """Say which of our things the call writes, deletes, moves, links or locks away."""
    rights = (touch for touch in effects.metadata if touch.how in RIGHTS)
    links = (touch for touch in effects.reads if touch.how in LINKERS)
    touches = [touch for touch in (*effects.writes, *effects.deletes, *rights, *links) if len(touch.path) <= LONGEST]
    ours = belongings(call.directory) if touches else {}
    for touch in touches:
        for own in (*_touched(touch, ours), *_taken(touch, ours, effects)):
            if _matters(touch, own, call):
                yield f"{named(touch)} {_role(touch, own)}"
        if touch in effects.writes and STARTUP.fullmatch(touch.path) and SWITCHES.search(_text(call.args)):
            yield f"{named(touch)} would start the agent without Matrixx, or with other settings for it"


def _touched(touch: Touch, ours: Mapping[str, Belonging]) -> Iterator[Belonging]:
    """What of ours the touch names itself, or finds itself in."""
    for name in {folded(touch.path), folded(touch.link)}:
        own = ours.get(name)
        if own and (own.kind != "folder" or (touch.mode != "read" and touch.how not in DIRECTORY_MAKERS)):
            yield own
        yield from (own for path, own in ours.items() if own.is_tree and name.startswith(f"{path}/"))
    if is_wild(touch.path) and touch.path.rpartition("/")[2].strip("*?"):
        yield from (own for own in ours.values() if own.kind != "folder" and covers(touch, own.path) and os.path.lexists(own.path))


def _taken(touch: Touch, ours: Mapping[str, Belonging], effects: Effects) -> Iterator[Belonging]:
    """What of ours goes away with a directory, or arrives in one that is copied."""
    above = folded(touch.path).rstrip("/") + "/"
    for path, own in ours.items():
        if own.kind == "folder" or not path.startswith(above):
            continue
        below = path.removeprefix(above)
        if (touch.mode == "delete" and os.path.lexists(own.path)) or (
            touch in effects.writes and any(os.path.lexists(f"{source.path}/{below}") for source in effects.reads)
        ):
            yield own


def _matters(touch: Touch, own: Belonging, call: ToolCall) -> bool:
    """Whether a touch of a file that is only partly ours concerns our part."""
    if own.kind == "neighbour":
        return touch.mode != "delete"
    if own.kind != "hook entry":
        return True
    if touch.mode in {"delete", "metadata"}:
        return holds_entry(own.path)
    return ENTRY_SWITCHES.search(_text(call.args)) is not None or (holds_entry(own.path) and not _keeps_entries(call, own.path))


def _keeps_entries(call: ToolCall, path: str) -> bool:
    """Whether an edit leaves our entries, and the keys above them, as they are; false where the new text is not known."""
    old, new = call.args.get("oldString"), call.args.get("newString")
    if call.tool != "edit" or not isinstance(old, str) or not isinstance(new, str) or not old:
        return False
    try:
        before = Path(path).read_text("utf-8")
        return entries(before) == entries(before.replace(old, new, -1 if call.args.get("replaceAll") else 1))
    except (OSError, ValueError, RecursionError):
        return False


def _role(touch: Touch, own: Belonging) -> str:
    what = {
        "settings": "is a settings file of Matrixx",
        "plugin file": "is the plugin file that runs Matrixx in the agent",
        "neighbour": "would keep the agent from loading Matrixx's plugin file",
        "hook entry": "holds, or switches, the hook entry that runs Matrixx in the agent",
        "folder": "is a folder of settings that Matrixx reads",
        "state": "belongs to Matrixx's own state, such as what the user trusts",
        "program": "is a part of the installed Matrixx",
    }[own.kind]
    around = touch.mode == "delete" and Path(touch.path).name != Path(own.path).name
    return f"is a directory around '{printable(own.path)}', which {what}" if around and not own.is_tree else what


def _harm_of(run: Run, call: ToolCall, runs: tuple[Run, ...]) -> str:
    """Say what a program would do to us, or ``""``."""
    name, words = unversioned(program_name(run.argv[0])), run.argv[1:]
    if command := _own_command(name, run.argv):
        return f"`matrixx {command}` is the user's to run"
    if name in LAUNCHERS and REMOVALS.intersection(words) and _is_named(words, call):
        return "this removes Matrixx, or a hook of it"
    finds = name in FINDERS and any(program_name(one.argv[0]) in KILLERS for one in runs)
    if (name in KILLERS and _is_named(words, call)) or ((name in KILLERS or finds) and _hits_engine(name, words)):
        return "this ends Matrixx's engine"
    if name in HOSTS and SWITCHES.search(_text(call.args)):
        return f"this starts {name} without Matrixx, or with other settings for it"
    if name in LASTING and any(SWITCHES.search(word) for word in words):
        return "this would start the agent without Matrixx, or with other settings for it"
    if name in LAUNCHERS and OWN_CODE.search(_text(call.args)):
        return "this calls what only the user may call: trust, install and uninstall"
    return ""


def _own_command(name: str, argv: tuple[str, ...]) -> str:
    """The forbidden sub-command of ``matrixx``, however it is started (``uv run``, ``python -m``); asking for help is free."""
    if {"--help", "-h", "--dry-run"}.intersection(argv):
        return ""
    for at, word in enumerate(argv if name in LAUNCHERS else argv[:1]):
        if OURS.fullmatch(word.replace("\\", "/").removesuffix(".exe").removeprefix("-m")):
            command = next((later for later in argv[at + 1 :] if not later.startswith("-")), "")
            return command if command in COMMANDS or (command == "serve" and "--stop" in argv) else ""
    return ""


def _is_named(words: Iterable[str], call: ToolCall) -> bool:
    """Whether an argument names us, or is only known to the running shell in a command that does."""
    plain = [re.sub(r"[\[\]\\]", "", word).lower() for word in words if not word.startswith("--")]
    operands = [word for word in plain if word and not word.startswith("-") and word not in REMOVALS | {"pip", "tool"}]
    open_ended = not operands or any("$" in word for word in operands)
    return any("matrixx" in word for word in plain) or (open_ended and "matrixx" in _text(call.args).lower())


def _hits_engine(name: str, words: tuple[str, ...]) -> bool:
    """Whether a process id, a name or a pattern is one of the engine, which this code runs in."""
    found = parsed("-* -u/-U/-g/-G/-P/-s/-t/-d/-n/--signal/--euid/--uid/--parent/--user=-", words)
    if name in {"kill", "taskkill", "stop-process", "spps"}:
        return "-1" in words[1:] or any(word.lstrip("-") == str(os.getpid()) for word in words)
    if found.has("-f", "--full"):
        return any(_fits(word, line) for word in found.operands for line in (" ".join(sys.orig_argv), *ENGINES))
    names = {Path(sys.executable).name, Path(sys.executable).resolve().name, "python", "python3", "matrixx"}
    if name in {"pkill", "pgrep"}:
        return any(_fits(word, one) for word in found.operands for one in names)
    return not names.isdisjoint(found.operands)


def _fits(pattern: str, text: str) -> bool:
    try:
        return len(pattern) < 200 and re.search(pattern, text) is not None
    except re.error:
        return pattern in text


def _text(value: object) -> str:
    """All text among the arguments of a call."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(map(_text, cast("Mapping[str, object]", value).values()))
    return "\n".join(map(_text, cast("list[object]", value))) if isinstance(value, list | tuple) else ""
