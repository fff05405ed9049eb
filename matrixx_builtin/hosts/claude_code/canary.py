"""The canary's calls in the real Claude Code, which knows no patch tool: there a patch is Git's."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from matrixx_core.errors import MatrixxError

from ...canary.cage import Cage
from ...daemon import stop
from ...rehearsal.claude_code import classify, environment, make_home, own_turn, say
from ...rehearsal.model import serving
from ...rehearsal.turns import Request, Turn
from .install import installation, program

PROMPT = "Try every way out."
PUT = "mcp__canary__put_file"


def rehearse(cage: Cage) -> Sequence[Request]:
    """Play the calls and give the requests that the model got."""
    named = os.environ.get("CLAUDE_BIN") or program()
    if not named:
        raise MatrixxError("Claude Code is not on this machine; install it, or name its program in CLAUDE_BIN")
    home = make_home(cage.root / "claude")
    home.env.update(cage.env)
    mcp = cage.root / "mcp.json"
    command, *arguments = cage.mcp_server
    mcp.write_text(json.dumps({"mcpServers": {"canary": {"command": command, "args": arguments}}}), "utf-8")
    with environment(home.env), serving(classify) as model:
        for change in installation(cage.project, fail_closed=False).changes:
            change.make()
        url, script = model.play("canary", {"main": _main(cage), "subagent": [own_turn(Turn(tool="write", args=cage.writes("child")))]})
        options = ["--mcp-config", str(mcp), "--allowedTools", f"Agent,Bash,Write,{PUT}"]
        try:
            say(Path(named), home, (cage.project, url), PROMPT, options)
        finally:
            stop(cage.project)
    return script.requests


def _main(cage: Cage) -> Sequence[Turn]:
    lines = ["diff --git a/{0} b/{0}", "new file mode 100644", "--- /dev/null", "+++ b/{0}", "@@ -0,0 +1 @@", "+out"]
    applied = "git apply <<'EOF'\n" + "\n".join(lines).format(cage.file("patch")) + "\nEOF"
    task = {"description": "Try", "prompt": PROMPT, "subagent_type": "general-purpose", "run_in_background": False}
    turns = [cage.free, Turn(tool="write", args=cage.writes("main")), cage.put(PUT), cage.listen, Turn(tool="task", args=task)]
    return [own_turn(turn) for turn in [*turns, Turn(tool="bash", args={"command": applied, "description": "Apply"})]]
