"""Play scenarios in the real Claude Code: ``claude -p`` for each prompt, against the warm engine of a project of its own."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from matrixx_builtin.daemon import stop
from matrixx_builtin.hosts.claude_code import installation
from matrixx_builtin.hosts.claude_code.translate import TOOLS
from matrixx_builtin.rehearsal import MCP_SERVER
from matrixx_builtin.rehearsal.claude_code import Home, classify, environment, make_home, own_name, own_turn, say
from matrixx_builtin.rehearsal.model import Model, Script, serving
from matrixx_builtin.rehearsal.turns import Turn

from ..played import Played, state
from ..programs import found
from ..projects import is_essential, lay_out, settle, without_hook
from ..scenario import Scenario
from ..values import made_values

__all__ = ["ABILITIES", "Runner", "find", "start"]

EVERYWHERE = frozenset(
    {
        "block",
        "rewrite_input",
        "rewrite_output",
        "rewrite_attachments",
        "note",
        "failure_note",
        "prompt_block",
        "prompt_note",
        "wake",
        "usage",
        "compaction",
        "toast",
        "todo",
        "named_tools",
    }
)
ABILITIES = {"main": EVERYWHERE | {"unread_write"}, "subagent": EVERYWHERE}

CHANGING = {"edit", "multiedit", "write"}
"""Tools that Claude Code lets change only what it has read: the person's prompt mentions such files, a sub-agent reads them first."""


def find() -> Path | None:
    """The program: named by CLAUDE_BIN, the one that the Claude Agent SDK brings (the version that all facts are of), or on PATH."""
    bundled = [path for spec in [find_spec("claude_agent_sdk")] if spec for path in spec.submodule_search_locations or ()]
    return found("CLAUDE_BIN", "claude", [Path(path, "_bundled/claude") for path in bundled])


@dataclass(slots=True, repr=False)
class Runner:
    """Plays scenarios in one program."""

    program: Path
    model: Model
    home: Home
    opened: int = 0
    abilities: Mapping[str, frozenset[str]] = field(default_factory=lambda: ABILITIES)

    def play(self, scenario: Scenario, where: str = "main", *, without: str = "") -> Played:
        """Play a scenario, perhaps without one hook; an essential is left out by leaving out all of Matrixx."""
        self.opened += 1
        name = f"run{self.opened}"
        project = self.home.root / "projects" / name
        project.mkdir(parents=True)
        scenario = _named(scenario.with_values(made_values() | {"PROJECT": str(project)}))
        url, script = self.model.play(name, _turns(scenario, where, project), frozenset({"subagent"} if where == "main" else ()))
        lay_out(scenario, project, self.home.env, ignored=(".claude/", ".matrixx/"))
        settle(project, self.home.state, without_hook(scenario.settings, without))
        with environment(self.home.env):
            if not is_essential(without):
                _install(project)
            before = {one.file: state(project / one.file) for one in scenario.expect if one.file}
            try:
                told = "\n".join(self._say(scenario, project, url, script))
            finally:
                stop(project)
        scenario = scenario.with_values(script.saved)
        return Played(scenario, project, where, before, script.requests, script.unplayed, self._written(), told)

    def _say(self, scenario: Scenario, project: Path, url: str, script: Script) -> Iterator[str]:
        for number, prompt in enumerate(scenario.prompts):
            shown = ["--output-format", "stream-json", "--verbose"] if "toast" in scenario.needs else []
            options = [
                *shown,
                *_allowed(scenario),
                *_named_tools(scenario, project),
                *(["--continue"] if number and script.requests else []),
            ]
            said = say(self.program, self.home, (project, url), f"{prompt}{''.join(f' @{name}' for name in _changed(scenario))}", options)
            yield f"{said.out}\n{said.err}"

    def _written(self) -> str:
        folders = (self.home.state, Path(self.home.env["CLAUDE_CONFIG_DIR"]) / "debug")
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        return "\n".join(path.read_text("utf-8", "replace") for path in files)


@contextmanager
def start(program: Path, folder: Path) -> Iterator[Runner]:
    """A runner in an empty folder; at the end all that it started is gone."""
    with serving(classify) as model:
        yield Runner(program, model, make_home(folder))


def _install(project: Path) -> None:
    for change in installation(project, fail_closed=False).changes:
        change.make()


def _allowed(scenario: Scenario) -> list[str]:
    """Every permission given, so that only Matrixx refuses."""
    return ["--allowedTools", ",".join(sorted({*TOOLS, "TaskCreate", "TaskUpdate", *(own_name(call.tool) for call in scenario.calls)}))]


def _named_tools(scenario: Scenario, project: Path) -> list[str]:
    """An MCP server with the tools that the scenario names: Claude Code takes them from nowhere else."""
    if not scenario.tools:
        return []
    config = project.parent / f"{project.name}-mcp.json"
    server = {"command": sys.executable, "args": ["-I", str(MCP_SERVER), *scenario.tools]}
    config.write_text(json.dumps({"mcpServers": {"tools": server}}))
    return ["--mcp-config", str(config)]


def _named(scenario: Scenario) -> Scenario:
    """The scenario with its named tools called as Claude Code calls those of a server."""
    names = {name: f"mcp__tools__{name}" for name in scenario.tools}
    turns = [turn.model_copy(update={"tool": names.get(turn.tool, turn.tool)}) for turn in scenario.turns]
    return scenario.model_copy(update={"turns": tuple(turns)})


def _changed(scenario: Scenario) -> list[str]:
    """Files of the project that the scenario's calls change."""
    named = [str(call.args.get("filePath", "")) for call in scenario.calls if call.tool in CHANGING]
    return sorted(name for name in scenario.files if any(path.endswith(f"/{name}") for path in named))


def _turns(scenario: Scenario, where: str, project: Path) -> dict[str, Sequence[Turn]]:
    """Who says the scenario's turns, in Claude Code's words; to a sub-agent they are delegated by the main session's only call."""
    turns = tuple(map(own_turn, scenario.turns))
    if where == "main":
        return {"main": turns, "subagent": tuple(map(own_turn, scenario.delegated))}
    brief = {"description": "Do it", "prompt": "\n".join(scenario.prompts), "subagent_type": "general-purpose", "run_in_background": False}
    looks = [Turn(tool="Read", args={"file_path": str(project / name)}, uncounted=True) for name in _changed(scenario)]
    return {"main": [Turn(tool="Agent", args=brief), Turn(say="done")], "subagent": (*looks, *turns)}
