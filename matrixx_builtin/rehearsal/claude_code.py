"""The real Claude Code (2.1) as a process: found, offline, with a home of its own, and surely ended."""

import json
import os
import signal
import subprocess
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..hosts.claude_code.translate import TOOLS, own_args
from ..services.secrets import RULE_CACHE, rule_cache
from .model import Body
from .turns import Call, Turn

ANSWER = 90.0
"""Seconds for one prompt with all its turns."""

OFFLINE = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "ENABLE_TOOL_SEARCH": "false",
    "NO_PROXY": "127.0.0.1,localhost",
}

GIT = '[user]\nname = "Test"\nemail = "test@example.invalid"\n[init]\ndefaultBranch = "main"\n'

MODEL = "claude-sonnet-4-5"


@dataclass(frozen=True, slots=True)
class Home:
    """The folders and the environment of a Claude Code that knows nothing of this machine's user."""

    root: Path
    env: dict[str, str]

    @property
    def state(self) -> Path:
        """Where Matrixx keeps what must survive a restart."""
        return Path(self.env["MATRIXX_STATE_DIR"])


def make_home(root: Path) -> Home:
    home = root / "home"
    folders = {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": home / "claude",
        "TMPDIR": root / "tmp",
        "XDG_RUNTIME_DIR": root / "run",
        "MATRIXX_STATE_DIR": root / "matrixx",
    }
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (home / ".gitconfig").write_text(GIT)
    (folders["CLAUDE_CONFIG_DIR"] / ".claude.json").write_text(json.dumps({"hasCompletedOnboarding": True}))
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb", "ANTHROPIC_API_KEY": "none", **OFFLINE}
    env[RULE_CACHE] = str(rule_cache() or "")
    return Home(root, env | {name: str(folder) for name, folder in folders.items()})


@dataclass(frozen=True, slots=True)
class Said:
    """How one run of the program ended."""

    code: int
    out: str
    err: str


def say(program: Path, home: Home, place: tuple[Path, str], prompt: str, options: Sequence[str] = ()) -> Said:
    """``claude -p`` in a project, with a model's URL: say something and wait for the turn's end; nothing of it is left then."""
    project, url = place
    process = subprocess.Popen(
        [str(program), "-p", prompt, "--model", MODEL, *options],
        cwd=project,
        env={**home.env, "ANTHROPIC_BASE_URL": url},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=ANSWER)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return Said(process.returncode, out, err)


def classify(body: Body, _headers: Mapping[str, str]) -> str:
    """Who asks the model: the main session, a sub-agent, or Claude Code itself for a summary, without tools."""
    if not body.get("tools"):
        return "summary"
    return "subagent" if "cc_is_subagent=true" in str(body.get("system")) else "main"


OWN = {canonical: own for own, (canonical, _) in TOOLS.items() if own != "Task"}
"""Claude Code's names of the canonical tools."""


EXPECTED: Mapping[str, Mapping[str, Any]] = {
    "Agent": {"run_in_background": False},
    "Grep": {"output_mode": "content"},
    "WebFetch": {"prompt": "What does it say?"},
}
"""Arguments without which a tool does something else here, or nothing."""


def own_name(tool: str) -> str:
    """Claude Code's name of a tool."""
    return OWN.get(tool, tool)


def own_turn(turn: Turn) -> Turn:
    """A turn whose calls are in Claude Code's words."""
    told: dict[str, Any] = {**turn.model_dump(exclude_unset=True), "calls": [own for call in turn.made_calls for own in _own_calls(call)]}
    return Turn.model_validate({key: value for key, value in told.items() if key not in {"tool", "args", "raw"}})


def _own_calls(call: Call) -> Iterator[dict[str, Any]]:
    name = own_name(call.tool)
    if name == "TodoWrite":  # it is not offered any more: a list is made task by task
        for number, todo in enumerate(call.args["todos"], 1):
            yield {"tool": "TaskCreate", "args": {"subject": todo["content"], "description": todo["content"]}}
            yield {"tool": "TaskUpdate", "args": {"taskId": str(number), "status": todo["status"]}}
        return
    args = {**own_args(name, call.args), **EXPECTED.get(name, {})}
    if args.get("subagent_type") == "general":
        args["subagent_type"] = "general-purpose"
    yield {"tool": name, "args": {key: value for key, value in args.items() if (name, key) != ("WebFetch", "format")}, "raw": call.raw}


@contextmanager
def environment(env: Mapping[str, str]) -> Generator[None]:
    """This process with another environment, for what is done here in the place of somebody else."""
    before = dict(os.environ)
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
