"""The real OpenCode (1.18) as a process: found, offline, with a home of its own, and surely ended."""

import base64
import json
import mimetypes
import os
import re
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..services.secrets import RULE_CACHE, rule_cache
from .model import Body

START, ANSWER, END = 60.0, 90.0, 10.0
"""Deadlines in seconds: until OpenCode listens, for one prompt with all its turns, until something small is done."""

OFFLINE = {
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
    "OPENCODE_DISABLE_CLAUDE_CODE": "1",
    "npm_config_fetch_retries": "0",
}

SEEDED_LOCK = {"lockfileVersion": 3, "packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
"""In a configuration folder beside ``node_modules`` it keeps OpenCode from calling npm there (1.18.33)."""

GIT = '[user]\nname = "Test"\nemail = "test@example.invalid"\n[init]\ndefaultBranch = "main"\n'

PLAIN, PATCHING, SPARE = "scripted", "gpt-5-scripted", "spare"
"""Names of the model: to one named like the second, OpenCode offers ``apply_patch`` instead of ``write`` and ``edit``; the third is there besides."""

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Past any proxy of the person's: all of it is loopback."""

Process: TypeAlias = "subprocess.Popen[str]"


@dataclass(frozen=True, slots=True)
class Home:
    """The folders and the environment of an OpenCode that knows nothing of this machine's user."""

    root: Path
    env: dict[str, str]

    @property
    def state(self) -> Path:
        """Where Matrixx keeps what must survive a restart."""
        return Path(self.env["MATRIXX_STATE_DIR"])


def make_home(root: Path) -> Home:
    home = root / "home"
    folders = {f"XDG_{kind}_HOME": home / kind.lower() for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    folders |= {"HOME": home, "TMPDIR": root / "tmp", "MATRIXX_STATE_DIR": root / "matrixx"}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(GIT)
    seed(folders["XDG_CONFIG_HOME"] / "opencode")
    catalog = home / "models.json"
    catalog.write_text("{}")  # its own has thousands of models, and is gone through for every project: 1.5 s
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb", **OFFLINE, RULE_CACHE: str(rule_cache() or "")}
    env["OPENCODE_MODELS_PATH"] = str(catalog)
    return Home(root, env | {name: str(folder) for name, folder in folders.items()})


def seed(folder: Path) -> None:
    """Make a configuration folder for which OpenCode needs no npm."""
    (folder / "node_modules").mkdir(parents=True)
    (folder / "package-lock.json").write_text(json.dumps(SEEDED_LOCK))


@dataclass(frozen=True, slots=True)
class Server:
    """A running ``opencode serve``."""

    process: Process
    url: str
    log: Path

    def request(self, method: str, path: str, directory: Path, body: Any = None, deadline: float = ANSWER) -> Any:
        """One API call to the instance of a directory; raises ``urllib.error.HTTPError`` when OpenCode refuses."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "x-opencode-directory": str(directory)}
        request = urllib.request.Request(self.url + path, content, headers, method=method)  # noqa: S310  loopback
        with DIRECT.open(request, timeout=deadline) as response:
            return json.loads(response.read() or b"null")

    def session(self, directory: Path) -> str:
        """Begin a session; it has a title, so that OpenCode does not ask the model for one."""
        return str(self.request("POST", "/session", directory, {"title": "Scenario"})["id"])

    def prompt(self, directory: Path, session: str, text: str, attached: Sequence[Path] = ()) -> bool:
        """Say something, with files attached, and wait until the agent has ended its turn; false if OpenCode refused the prompt."""
        parts = [{"type": "text", "text": text}, *map(_attachment, attached)]
        return self._said(f"/session/{session}/message", directory, {"parts": parts})

    def command(self, directory: Path, session: str, name: str, arguments: str) -> bool:
        """Call one of OpenCode's own slash commands as its prompt line does; false if OpenCode refused it."""
        return self._said(f"/session/{session}/command", directory, {"command": name, "arguments": arguments})

    def _said(self, path: str, directory: Path, body: Any) -> bool:
        try:
            self.request("POST", path, directory, body)
        except urllib.error.HTTPError:
            return False
        return True

    def dispose(self, directory: Path) -> None:
        """End the instance of a directory, and its plugins with it."""
        self.request("POST", "/instance/dispose", directory, deadline=END)

    @contextmanager
    def events(self, directory: Path) -> Generator[list[dict[str, Any]]]:
        """The events of a directory's instance from now on; the block must end with the instance disposed of."""
        events: list[dict[str, Any]] = []
        connected = threading.Event()
        request = urllib.request.Request(f"{self.url}/event", headers={"x-opencode-directory": str(directory)})  # noqa: S310  loopback

        def follow() -> None:
            with suppress(OSError), DIRECT.open(request, timeout=ANSWER) as stream:
                for line in stream:
                    if line.startswith(b"data: "):
                        events.append(json.loads(line[6:]))
                        connected.set()
                        if events[-1].get("type") == "server.instance.disposed":
                            return

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        connected.wait(END)
        yield events
        follower.join(END)


def _attachment(path: Path) -> dict[str, str]:
    mime = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    content = base64.b64encode(path.read_bytes()).decode()
    return {"type": "file", "mime": mime, "filename": path.name, "url": f"data:{mime};base64,{content}"}


@contextmanager
def serve(program: Path, home: Home) -> Generator[Server]:
    """Run ``opencode serve``; nothing of it is left afterwards."""
    log = home.root / "opencode.log"
    with log.open("w") as sink, started([str(program), "serve", "--port", "0", "--print-logs"], home.root, home, sink) as process:
        yield Server(process, _address(process, log), log)


@contextmanager
def started(argv: list[str], directory: Path, home: Home, errors: Any) -> Generator[Process]:
    """A process that leads its own group, which is killed at the end."""
    process = subprocess.Popen(
        argv,
        cwd=directory,
        env=home.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        end(process)


def end(process: Process, how: signal.Signals = signal.SIGTERM) -> None:
    """End a process, by force if it does not go by itself, and whatever is left of its group."""
    with suppress(ProcessLookupError):
        process.send_signal(how)
    with suppress(subprocess.TimeoutExpired):
        process.wait(END)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()


def _address(process: Process, log: Path) -> str:
    timer = threading.Timer(START, process.kill)
    timer.start()
    try:
        for line in process.stdout or ():
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                return found[0]
    finally:
        timer.cancel()
    raise RuntimeError(f"opencode serve did not start within {START:g} s: {log.read_text()[-2_000:]}")


def classify(body: Body, headers: Mapping[str, str]) -> str:
    """Who asks the model: the main session, a sub-agent, or OpenCode itself for a summary, without tools."""
    if not body.get("tools"):
        return "summary"
    return "subagent" if "x-parent-session-id" in headers else "main"


def configure(project: Path, base_url: str, model: str, **more: Any) -> None:
    """The project's OpenCode settings: the scripted model, every permission given, so that only Matrixx refuses, and what is said besides."""
    seeing = {"attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}
    offered = {"name": model, "tool_call": True, "limit": {"context": 128_000, "output": 4_096}, **seeing}
    options = {"baseURL": f"{base_url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {model: offered, SPARE: {**offered, "name": SPARE}}}
    chosen = {"model": f"scripted/{model}", "small_model": f"scripted/{model}", "enabled_providers": ["scripted"]}
    quiet = {"autoupdate": False, "share": "disabled", "lsp": False, "formatter": False, "snapshot": False, "permission": "allow"}
    (project / "opencode.json").write_text(json.dumps({**chosen, **quiet, "provider": {"scripted": provider}, **more}))
