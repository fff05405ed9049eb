"""The demo in the real OpenCode: the same script, said by a scripted model, once with the hooks installed and once without."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio

from matrixx_core.errors import MatrixxError
from matrixx_core.host import Host
from matrixx_core.trust import write_atomic

from ..hosts.opencode.install import FILE, program, render
from . import facts, telling
from .model import REFUSED, Agent, serving
from .player import as_expected, verdict_of
from .report import Call, HookRun, NoteTold, Report, StepTold, hook_rows
from .run import Scratch, Stage, log_kept, own_settings, scratch_folder
from .script import Script, Step

START, TURN, END = 60.0, 120.0, 10.0
"""Deadlines in seconds: until OpenCode listens, for one prompt with all its calls, until it has ended."""

OFFLINE = (
    "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_SHARE",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_DISABLE_EXTERNAL_SKILLS", "OPENCODE_DISABLE_CLAUDE_CODE",
)  # fmt: skip

SEEDED_LOCK = '{"lockfileVersion": 3, "packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}'
"""Beside ``node_modules`` in a configuration folder it keeps OpenCode from calling npm there (1.18.33)."""

JOBS = """export const Jobs = async () => ({ tool: { background_task: { description: "Start a job in the background.",
  args: { description: { type: "string" }, prompt: { type: "string" }, agent: { type: "string" } },
  execute: async () => "Background task started: bg_1" } } })
"""
"""The one tool of the session that OpenCode does not have itself."""

STARTED = "Background task started"

REQUEST = {"messages_transform", "system_transform", "chat_params", "chat_headers", "tool_definition"}
"""The events of every request to the model."""

TIMED = re.compile(r"hook_timing (\S+) (\S*) (\S+) (\S+) ([\d.]+) ms")
REFUSAL = re.compile(rf"{REFUSED} hook '([^']+)': (.*?)(?:\nInstead: (.*?))?\nDo not look", re.DOTALL)


@dataclass(slots=True)
class Watch:
    """Puts together what each step of the guarded session came to, from the engine's log and what the model read."""

    stage: Stage
    log: Path
    hide: telling.Hide
    waves: Mapping[tuple[str, str], str]
    prompted: Step | None = None
    steps: list[StepTold] = field(default_factory=list[StepTold])
    notes: int = 0
    _seen: int = 0

    def heard(self, step: Step | None, read: str) -> None:
        """The model asks what is next: ``step`` is over (``None``: the prompt has arrived)."""
        calls = self._new_calls()
        if step is not None:
            self._tell(step, [call.model_copy(update={"routine": call.hook in REQUEST}) for call in calls], read)
        elif self.prompted is not None:
            self._tell(self.prompted, [call for call in calls if call.hook not in REQUEST], "sent to the model")
            self._tell(FIRST, [call for call in calls if call.hook in REQUEST], "")

    def refused(self, prompt: Step) -> None:
        """A prompt that no model has read."""
        self._tell(prompt, self._new_calls(), "")

    def _new_calls(self) -> list[Call]:
        text = self.log.read_text("utf-8", "replace")[self._seen :] if self.log.is_file() else ""
        self._seen += len(text)
        runs = [found.groups() for found in TIMED.finditer(text)]
        return [self._call(hook, [run[2:] for run in together]) for hook, together in groupby(runs, key=lambda run: run[0])]

    def _call(self, hook: str, runs: list[tuple[str, ...]]) -> Call:
        ran = [
            HookRun.model_validate({"plugin": plugin, "wave": self.waves.get((hook, plugin), "guard"), "ms": float(ms), "answer": answer})
            for plugin, answer, ms in runs
        ]
        blocked = next((one.plugin for one in ran if one.answer == "block"), "")
        return Call(hook=hook, ms=round(sum(one.ms for one in ran), 4), ran=tuple(ran), blocked_by=blocked)

    def _tell(self, step: Step, calls: list[Call], read: str) -> None:
        refusal = REFUSAL.match(read)
        calls = [_with_words(call, refusal, read) for call in calls]
        shown = [call for call in calls if not call.routine]
        verdict = verdict_of(shown)
        missing = "" if as_expected(step, verdict, calls) or step.by in {plugin for _, plugin in self.waves} else step.by
        self.notes += sum(one.answer == "inject" for call in shown for one in call.ran)
        told = StepTold(
            number=len(self.steps) + 1,
            title=step.title,
            what=step.tool or step.kind,
            action=telling.action(step, self.hide),
            verdict=verdict,
            blocked_by=next((call.blocked_by for call in shown if call.blocked_by), ""),
            result="" if refusal else telling.clip(self.hide(read), 90),
            missing=missing,
            harm=step.harm if missing else "",
            ms=round(sum(call.ms for call in shown), 4),
            calls=tuple(calls),
        )
        self.steps.append(StepTold.model_validate(telling.hidden(told.model_dump(), self.hide)))
        self.stage.step(self.steps[-1])


FIRST = Step(title="OpenCode asks the model for the first time", event="request", expect="help", by="env-context-injector")


def _with_words(call: Call, refusal: re.Match[str] | None, read: str) -> Call:
    """The call with what the model read of it: the refusal, or the last paragraph of what was added."""
    if refusal and call.hook == "tool_execute_before":
        return call.model_copy(update={"blocked_by": refusal[1], "reason": refusal[2], "instead": refusal[3] or "", "refusal": read})
    noted = [one.plugin for one in call.ran if one.answer == "inject"]
    if noted and not call.routine and "\n\n" in read:
        return call.model_copy(update={"notes": (NoteTold(plugin=noted[-1], text=read.rpartition("\n\n")[2]),)})
    return call


def run(stage: Stage, *, disabled: Collection[str] = (), keep: bool = False) -> Report:
    """Play the demo in the OpenCode that is installed; raises ``MatrixxError`` that says what is missing and the way out."""
    started = time.monotonic()
    binary = find()
    with scratch_folder(keep=keep) as root, own_settings(root), log_kept() as problems:
        scratch = Scratch(root)
        write_atomic(
            root / "config/matrixx/matrixx.jsonc", json.dumps({"experimental": {"hook_timing": True}, "disabled_hooks": [*disabled]})
        )
        waves, off = anyio.run(_installed, root)
        installed = tuple(dict.fromkeys(plugin for _, plugin in waves))
        watch = Watch(stage, root / "state/matrixx.log", scratch.hide(root / "with"), waves)
        agents = {"with": Agent(watch.heard), "without": Agent(lambda _step, _read: None)}
        with serving(agents) as model, ExitStack() as stack:
            with stage.busy("starting OpenCode"):
                url = stack.enter_context(_opencode(binary, root))
            stage.opened(installed)
            drive = Drive(scratch, url, model)
            hooked = drive.play("with", agents["with"], watch)
            with stage.busy("the same session without hooks"):
                without = drive.play("without", agents["without"])
        return Report(
            host="opencode",
            seconds=round(time.monotonic() - started, 3),
            installed=installed,
            off=off,
            steps=tuple(watch.steps),
            hooks=hook_rows(watch.steps),
            comparison=facts.compare(without, hooked),
            problems=tuple(dict.fromkeys(map(scratch.hide(root), problems))),
            kept=str(root) if keep else "",
        )


def find() -> Path:
    """OpenCode's program: ``OPENCODE_BIN``, or ``opencode`` where it is usually installed."""
    named = os.environ.get("OPENCODE_BIN") or program()
    if not named or not os.access(named, os.X_OK):
        raise MatrixxError(
            "OpenCode is not installed (npm install -g opencode-ai, or name its program in OPENCODE_BIN); "
            "`matrixx demo` without --host plays the same session without it"
        )
    if not shutil.which("rg"):
        raise MatrixxError("OpenCode cannot search without ripgrep: put `rg` on PATH (apt, brew, cargo install ripgrep)")
    return Path(named)


async def _installed(root: Path) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """Which wave each plugin's hooks are in, by event and plugin; and the plugins that are off."""
    async with Host.open(root) as host:
        waves = {(name, step.plugin): str(step.wave) for name, plans in host.plans.items() for step in plans.steps}
        return waves, {**host.plugins.disabled, **host.plugins.gates, **{one.name: one.reason for one in host.plugins.failed}}


@dataclass(frozen=True, slots=True)
class Drive:
    """A running OpenCode and a scripted model, and the scratch folder that they work in."""

    scratch: Scratch
    opencode: str
    model: str

    def play(self, name: str, agent: Agent, watch: Watch | None = None) -> facts.Left:
        """One whole session in a project of its own; without a watch it has no hooks."""
        workshop = self.scratch.workshop(name)
        _configure(workshop.project, f"{self.model}/{name}/v1", hooks=watch is not None)
        session = str(self.request("/session", workshop.project, {"title": "Demo"})["id"])
        for prompt, calls in _prompts(workshop.script):
            agent.brief(calls)
            if watch:
                watch.prompted = prompt
            try:
                self.request(f"/session/{session}/message", workshop.project, {"parts": [{"type": "text", "text": prompt.prompt}]})
            except urllib.error.HTTPError as error:
                error.close()
                if watch:
                    watch.refused(prompt)
        self.request("/instance/dispose", workshop.project, {})
        workshop.waited = int((workshop.home / f"asked-{name}").exists())
        workshop.jobs = agent.read.count(STARTED)
        return facts.Left(workshop, self.scratch.keys, agent.read, watch.notes if watch else 0)

    def request(self, path: str, project: Path, body: Any) -> Any:
        """One ``POST`` to OpenCode's API, for one project; raises ``urllib.error.HTTPError`` when it refuses."""
        headers = {"content-type": "application/json", "x-opencode-directory": str(project)}
        request = urllib.request.Request(f"{self.opencode}{path}", json.dumps(body).encode(), headers, method="POST")  # noqa: S310  loopback
        with _DIRECT.open(request, timeout=TURN) as response:
            return json.loads(response.read() or b"null")


_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _prompts(script: Script) -> list[tuple[Step, list[Step]]]:
    """Each prompt with the calls that follow it; the host itself brings its events about."""
    prompts: list[tuple[Step, list[Step]]] = []
    for step in script.steps:
        if step.kind == "prompt":
            prompts.append((step, []))
        elif step.kind == "tool" and all(map(shutil.which, step.needs)):
            prompts[-1][1].append(step)
    return prompts


def _configure(project: Path, model: str, *, hooks: bool) -> None:
    """OpenCode's settings for a project, kept out of its git history, and what ``matrixx install opencode`` would write."""
    offered = {"name": "Scripted", "tool_call": True, "limit": {"context": 400_000, "output": 4_096}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": model, "apiKey": "none"}, "models": {"scripted": offered}}
    chosen: dict[str, Any] = {"model": "scripted/scripted", "small_model": "scripted/scripted", "enabled_providers": ["scripted"]}
    chosen |= {"autoupdate": False, "share": "disabled", "lsp": False, "formatter": False, "snapshot": False, "permission": "allow"}
    write_atomic(project / "opencode.json", json.dumps({**chosen, "provider": {"scripted": provider}}))
    _seed(project / ".opencode")
    write_atomic(project / ".opencode/plugin/jobs.js", JOBS)
    if hooks:
        write_atomic(project / ".opencode" / FILE, render(fail_closed=True, folders=0))
    if (project / ".git").is_dir():
        write_atomic(project / ".git/info/exclude", ".opencode/\nopencode.json\n")


def _seed(folder: Path) -> None:
    (folder / "node_modules").mkdir(parents=True)
    (folder / "package-lock.json").write_text(SEEDED_LOCK, "utf-8")


def _environment(root: Path) -> dict[str, str]:
    """A home of its own, and nothing fetched from anywhere."""
    home = root / "home"
    folders = {f"XDG_{kind}_HOME": str(root / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    _seed(root / "config/opencode")
    home.mkdir(exist_ok=True)
    own = {
        "HOME": str(home),
        "MATRIXX_STATE_DIR": str(root / "state"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    quiet = {**dict.fromkeys(OFFLINE, "1"), "npm_config_fetch_retries": "0", "LANG": "C.UTF-8", "TERM": "dumb"}
    return {"PATH": os.environ.get("PATH", os.defpath), "PYTHONDONTWRITEBYTECODE": "1", **folders, **own, **quiet}


@contextmanager
def _opencode(binary: Path, root: Path) -> Generator[str]:
    """Run ``opencode serve`` and give its address; nothing of it is left afterwards."""
    with (root / "opencode.log").open("w", encoding="utf-8") as sink:
        process = subprocess.Popen(
            [binary, "serve", "--port", "0"],
            cwd=root,
            env=_environment(root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=sink,
            text=True,
            start_new_session=True,
        )
        try:
            yield _address(process)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(END)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _address(process: "subprocess.Popen[str]") -> str:
    timer = threading.Timer(START, process.kill)
    timer.start()
    try:
        for line in process.stdout or ():
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                return found[0]
    finally:
        timer.cancel()
    raise MatrixxError(f"OpenCode did not start within {START:g} s; try `opencode serve` by hand, and look at what it says")
