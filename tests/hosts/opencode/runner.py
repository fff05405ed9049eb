"""Play scenarios in the real OpenCode: one ``opencode serve``, and for each run a project directory with its own engine."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from matrixx_builtin.hosts.opencode import installation
from matrixx_builtin.rehearsal.model import Model, Script, serving
from matrixx_builtin.rehearsal.opencode import ANSWER, PATCHING, PLAIN, Home, Server, classify, configure, make_home, seed, serve
from matrixx_builtin.rehearsal.turns import Turn

from ..played import Played, state
from ..programs import ROOT, found
from ..projects import is_essential, lay_out, settle, without_hook
from ..scenario import Scenario, Where
from ..values import made_values

__all__ = ["ABILITIES", "Opened", "Runner", "find", "install", "start"]

EVERYTHING = frozenset(
    {
        "block",
        "unread_write",
        "odd_write",
        "rewrite_input",
        "rewrite_output",
        "rewrite_attachments",
        "note",
        "failure_note",
        "prompt_block",
        "prompt_note",
        "prompt_rewrite",
        "attachments",
        "commands",
        "message_transform",
        "answer_rewrite",
        "shell_env",
        "shell_folder",
        "definitions",
        "toast",
        "usage",
        "compaction",
        "summarize",
        "todo",
        "wake",
        "tools",
        "named_tools",
        "models",
        "apply_patch",
    }
)

ABILITIES = dict.fromkeys(get_args(Where), EVERYTHING)

SETTLED = 1.0
"""Seconds after which a prompt of ours would have come: one comes within 0.1 s."""

STUBS = """export const Tools = async () => ({ tool: Object.fromEntries(NAMES.map((name) => [name, {
  description: `Run ${name}.`, args: { prompt: { type: "string" } }, execute: async () => `${name} was run` }])) })
"""


def find() -> Path | None:
    """The program: named by OPENCODE_BIN, on PATH, or installed by npm below the repository."""
    return found("OPENCODE_BIN", "opencode", sorted(ROOT.glob("node_modules/opencode-*/bin/opencode")))


@dataclass(frozen=True, slots=True)
class Opened:
    """A scenario made ready: its project, the model's script, and what expectations compare with."""

    scenario: Scenario
    where: str
    project: Path
    script: Script
    before: Mapping[str, bytes | str | None]


@dataclass(slots=True, repr=False)
class Runner:
    """Plays scenarios in one running OpenCode."""

    server: Server
    model: Model
    home: Home
    opened: int = 0
    abilities: Mapping[str, frozenset[str]] = field(default_factory=lambda: ABILITIES)

    def play(self, scenario: Scenario, where: str = "main", *, without: str = "") -> Played:
        """Play a scenario, perhaps without one hook; an essential is left out by leaving out all of Matrixx."""
        opened = self.open(scenario.model_copy(update={"settings": without_hook(scenario.settings, without)}), where)
        if not is_essential(without):
            install(opened.project)
        return self.finish(opened, SETTLED if without else ANSWER)

    def open(self, scenario: Scenario, where: str = "main", settings: Mapping[str, Any] | None = None) -> Opened:
        """Lay out the scenario's project, without Matrixx as yet."""
        self.opened += 1
        name = f"run{self.opened}"
        project = self.home.root / "projects" / name
        project.mkdir(parents=True)
        scenario = scenario.with_values(made_values() | {"PROJECT": str(project)})
        url, script = self.model.play(name, _turns(scenario, where), frozenset({"subagent"} if where == "main" else ()))
        configure(project, url, PATCHING if any(call.tool == "apply_patch" for call in scenario.calls) else PLAIN)
        _lay_out(scenario, project, self.home)
        settle(project, self.home.state, {**scenario.settings, **(settings or {})})
        return Opened(scenario, where, project, script, {})

    def finish(self, opened: Opened, patience: float = ANSWER) -> Played:
        """Say the prompts in a new session, end the project's instance, and take stock.

        Where a hook is to wake the agent, its turns are waited for, at most for ``patience`` seconds.
        """
        scenario, project = opened.scenario, opened.project
        before = {one.file: state(project / one.file) for one in scenario.expect if one.file}
        with self.server.events(project) as events:
            try:
                session = self.server.session(project)
                all(self._say(scenario, project, session, prompt) for prompt in scenario.prompts)
                if "wake" in scenario.needs:
                    _await_turns(opened.script, patience)
            finally:
                self.server.dispose(project)
        scenario = scenario.with_values(opened.script.saved)
        shown = "\n".join(json.dumps(event["properties"]) for event in events if event.get("type") == "tui.toast.show")
        return Played(scenario, project, opened.where, before, opened.script.requests, opened.script.unplayed, self._written(), shown)

    def _say(self, scenario: Scenario, project: Path, session: str, prompt: str) -> bool:
        """False if it was refused; a command that OpenCode knows, and ``/compact``, for which it has a key, are called as the person calls them."""
        name, _, arguments = prompt.partition(" ")
        if (project / ".opencode" / "command" / f"{name.removeprefix('/')}.md").is_file():
            return self.server.command(project, session, name.removeprefix("/"), arguments)
        if prompt != "/compact":
            return self.server.prompt(project, session, prompt, [project / one for one in scenario.attached])
        model = {"providerID": "scripted", "modelID": PLAIN}
        return bool(self.server.request("POST", f"/session/{session}/summarize", project, model))

    def _written(self) -> str:
        files = [self.server.log, *(path for path in self.home.state.rglob("*") if path.is_file())]
        return "\n".join(path.read_text("utf-8", "replace") for path in files)


def _await_turns(script: Script, patience: float) -> None:
    end = time.monotonic() + patience
    while script.unplayed and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(SETTLED)  # the last turn is being told, and what should not follow would


@contextmanager
def start(program: Path, folder: Path) -> Iterator[Runner]:
    """A runner in an empty folder; at the end all that it started is gone."""
    home = make_home(folder)
    with serving(classify) as model, serve(program, home) as server:
        yield Runner(server, model, home)


def install(project: Path, command: Sequence[str] = (), *, fail_closed: bool = False) -> Path:
    """Install as ``matrixx install opencode --project`` does; ``command`` is started instead of the engine."""
    (change,) = installation(project, fail_closed=fail_closed).changes
    change.make()
    if command:
        said = json.dumps(list(command))
        text, count = re.subn(r'"command": \[.*?\]', lambda _: f'"command": {said}', change.path.read_text("utf-8"), count=1)
        assert count == 1
        change.path.write_text(text)
    return change.path


def _lay_out(scenario: Scenario, project: Path, home: Home) -> None:
    """Lay out the scenario's project; offer its tools."""
    seed(project / ".opencode")
    if scenario.tools:
        plugin = project / ".opencode/plugin/tools.js"
        plugin.parent.mkdir()
        plugin.write_text(f"const NAMES = {json.dumps(scenario.tools)}\n{STUBS}")
    lay_out(scenario, project, home.env, ignored=(".opencode/", ".matrixx/", "opencode.json"))


def _turns(scenario: Scenario, where: str) -> dict[str, Sequence[Turn]]:
    """Who says the scenario's turns; to a sub-agent they are delegated by the main session's only call."""
    if where == "main":
        return {"main": scenario.turns, "subagent": scenario.delegated}
    brief = {"description": "Do it", "prompt": "\n".join(scenario.prompts), "subagent_type": "general"}
    return {"main": [Turn(tool="task", args=brief), Turn(say="done")], "subagent": scenario.turns}
