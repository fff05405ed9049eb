"""The canary's calls in the real OpenCode: ``write`` and its like in one session, ``apply_patch`` in one with a model that gets it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from matrixx_core.errors import MatrixxError

from ...canary.cage import Cage
from ...rehearsal.model import Model, serving
from ...rehearsal.opencode import PATCHING, PLAIN, Server, classify, configure, make_home, seed, serve
from ...rehearsal.turns import Request, Turn
from .install import installation, program

PROMPT = "Try every way out."


def rehearse(cage: Cage) -> Sequence[Request]:
    """Play the calls and give the requests that the model got."""
    named = os.environ.get("OPENCODE_BIN") or program()
    if not named:
        raise MatrixxError("OpenCode is not on this machine; install it, or name its program in OPENCODE_BIN")
    home = make_home(cage.root / "opencode")
    home.env.update(cage.env)
    for change in installation(cage.project, fail_closed=False).changes:
        change.make()
    seed(cage.project / ".opencode")
    with serving(classify) as model, serve(Path(named), home) as server:
        plain = _play(cage, server, model, PLAIN, {"main": _main(cage), "subagent": [Turn(tool="write", args=cage.writes("child"))]})
        return [*plain, *_play(cage, server, model, PATCHING, {"main": [_patch(cage)]})]


def _main(cage: Cage) -> Sequence[Turn]:
    task = Turn(tool="task", args={"description": "Try", "prompt": PROMPT, "subagent_type": "general"})
    return [cage.free, Turn(tool="write", args=cage.writes("main")), cage.put("canary_put_file"), cage.listen, task]


def _patch(cage: Cage) -> Turn:
    lines = ["*** Begin Patch", f"*** Add File: {cage.file('patch')}", "+out", "*** End Patch"]
    return Turn(tool="apply_patch", args={"patchText": "\n".join(lines)})


def _play(cage: Cage, server: Server, model: Model, name: str, turns: Mapping[str, Sequence[Turn]]) -> list[Request]:
    url, script = model.play(name, turns)
    configure(cage.project, url, name, mcp={"canary": {"type": "local", "command": list(cage.mcp_server)}})
    try:
        server.prompt(cage.project, server.session(cage.project), PROMPT)
    finally:
        server.dispose(cage.project)
    return script.requests
