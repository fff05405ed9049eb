"""What can be wrong with Claude Code's side: not there, not connected, switched off, or connected to something old."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from matrixx_core.errors import MatrixxError

from ...daemon import endpoint
from .. import jsonc
from ..findings import Finding
from .install import CLIENTS, HOST, Place, client_file, places, program, read, settings_file, wanted
from .switches import comments, switches

TESTED = (2, 1)
"""The line of Claude Code that this adapter was tried with: 2.1.332."""

PATIENCE = 10.0
"""Seconds for the program to tell its version."""

INSTALL = f"run: matrixx install {HOST}"


def examine(directory: Path, *, asked: bool) -> Iterator[Finding]:
    """Look at Claude Code on this machine and at our handlers; ``asked`` says that somebody wants Claude Code to be here."""
    where = program()
    looked = {folder: _look(folder) for folder in (directory, None)}
    ours = {folder: found for folder, found in looked.items() if isinstance(found, list) and found}
    broken = [found for found in looked.values() if isinstance(found, Finding)]
    if not where and not ours and not asked:
        yield Finding("ok", "Claude Code is not on this machine", "there is nothing to connect")
        return
    yield _found(where, asked=asked)
    yield from broken
    if not ours:
        why = f"Claude Code knows nothing of Matrixx in {directory}"
        yield Finding("error" if asked else "warn", "no handler of ours in Claude Code's settings", why, INSTALL)
        return
    if len(ours) > 1:
        why = "two handlers answer every event, and the model reads every note twice"
        yield Finding("warn", "Matrixx is installed for the project and for the user", why, f"uninstall one: matrixx uninstall {HOST}")
    for folder, found in ours.items():
        yield from _handlers(folder, found)
    url = endpoint(directory).url(HOST) if directory in ours else ""
    yield from switches(directory, settings_file(None), url)


def _look(directory: Path | None) -> list[Place] | Finding:
    """Our handlers, or what is wrong with the settings file."""
    path = settings_file(directory)
    try:
        data = read(path)
        return places(path, data) if data is not None else []
    except MatrixxError as error:
        return Finding("error", str(error), "Claude Code may ignore the whole file")


def _found(where: str, *, asked: bool) -> Finding:
    if not where:
        why = "no session can be guarded"
        return Finding(
            "error" if asked else "warn", "Claude Code is not on PATH", why, "install it: npm install -g @anthropic-ai/claude-code"
        )
    said = _version(where)
    number = re.match(r"(\d+)\.(\d+)", said)
    if number is None:
        return Finding("warn", f"Claude Code is {where}, which does not tell its version", "it may not start", f"run: {where} --version")
    if (int(number[1]), int(number[2])) != TESTED:
        tested = ".".join(map(str, TESTED))
        return Finding(
            "warn", f"Claude Code is {where}, {said}", f"Matrixx was tried with {tested}", f"see: matrixx doctor --canary --host {HOST}"
        )
    return Finding("ok", f"Claude Code is {where}, {said}")


def _version(where: str) -> str:
    try:
        ran = subprocess.run([where, "--version"], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False)
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return ran.stdout.partition("\n")[0].strip()[:60]


def _handlers(directory: Path | None, found: list[Place]) -> Iterator[Finding]:
    path = settings_file(directory)
    if jsonc.has_comments(path.read_bytes()):
        yield comments(path)
    gone = next((word for place in found for word in _programs(place) if not os.access(word, os.R_OK)), "")
    others = {word for place in found for word in _programs(place) if not word.endswith(CLIENTS)} - {sys.executable}
    if gone:
        yield Finding("error", f"{path} starts {gone}, which is not there", "Claude Code runs unguarded, or refuses", INSTALL)
    elif others:
        why = f"they start {min(others)}, this is {sys.executable}: the hooks of the former are in force"
        yield Finding("warn", f"the handlers in {path} were made by another Python", why, f"if that is not meant, {INSTALL}")
    elif {place.event: place.handler for place in found if place.bare} != _right(directory, found) or not all(
        place.bare for place in found
    ):
        why = "another version wrote them, a hand has changed them, or the project was moved"
        yield Finding("error", f"the handlers in {path} are not as this version writes them", why, INSTALL)
    else:
        yield Finding("ok", f"the handlers in {path} are as this version writes them")


def _right(directory: Path | None, found: list[Place]) -> dict[str, object]:
    closed = any(place.handler.get("onFailure") == "block" for place in found)
    compiled = client_file()
    return dict(wanted(directory, fail_closed=closed, client=compiled if compiled.exists() else None))


def _programs(place: Place) -> list[str]:
    """The interpreter and the client of a command handler."""
    words = [place.handler.get("command"), *(place.handler.get("args") or ())]
    return [str(word) for word in words[: words.index(HOST)] if word and not str(word).startswith("-")] if HOST in words else []
