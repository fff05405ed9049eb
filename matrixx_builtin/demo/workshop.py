"""Carry the agent's tool calls out, for real, but only inside one scratch project.

Answers and errors are worded as OpenCode 1.18 words them, since hooks read them.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .script import Script

DEADLINE = 20.0
"""Seconds that any scripted command may take."""

LOOK = 0.05
"""Seconds between two looks at whether a command waits for a person."""

GIT = """[user]
\tname = Ada
\temail = ada@example.org
[init]
\tdefaultBranch = main
[core]
\teditor = "touch '{asked}'\\"$(basename \\"$PWD\\")\\"; sleep {seconds};:"
"""
"""The editor leaves a mark that it was opened, and then waits, as one does that nobody sees."""

NOT_FOUND = "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings."


class ToolError(Exception):
    """What the model reads when a tool fails."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a tool answered, as OpenCode reports it; ``summary`` is for people."""

    output: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    summary: str = ""


class Workshop:
    """A scratch project and the tools that work in it. ``home`` stands in for the person's home directory."""

    def __init__(self, project: Path, home: Path, script: Script) -> None:
        self.project, self.home, self.script = project, home, script
        self.waited = 0
        self.jobs = 0
        self.gitconfig = home / ".gitconfig"
        self._asked = home / f"asked-{project.name}"

    def furnish(self) -> None:
        """Put the project's files there, and commit them where git is installed."""
        self.home.mkdir(parents=True, exist_ok=True)
        for name, text in self.script.files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.gitconfig.write_text(GIT.format(asked=self._asked.parent / "asked-", seconds=int(DEADLINE)), "utf-8")
        if shutil.which("git"):
            self._shell("git init -q && git add -A && git commit -q -m 'Shop'", {})

    def run(self, tool: str, args: Mapping[str, Any], env: Mapping[str, str]) -> Done:
        """Carry out one call; raises ``ToolError`` with what the model reads when it fails."""
        work: Callable[[Mapping[str, Any], Mapping[str, str]], Done] | None = getattr(self, f"tool_{tool}", None)
        if work is None:
            raise ToolError(f"Model tried to call unavailable tool '{tool}'.")
        return work(args, env)

    def tests_pass(self) -> bool:
        """Whether the project's own tests pass as it stands."""
        return self._shell("python -m unittest", {})[0] == 0

    def history(self) -> str:
        """Every text that the project's git history holds, ``""`` without git."""
        return self._shell("git log -p --all", {})[1] if shutil.which("git") else ""

    def tool_read(self, args: Mapping[str, Any], _env: Mapping[str, str]) -> Done:
        path = self._path(args)
        if not path.is_file():
            raise ToolError(f"File not found: {path}")
        lines = path.read_text("utf-8", "replace").splitlines()
        body = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))
        output = f"<path>{path}</path>\n<type>file</type>\n<content>\n{body}\n\n(End of file - total {len(lines)} lines)\n</content>"
        return Done(output, path.name, {"preview": "\n".join(lines[:20]), "truncated": False, "loaded": []}, f"{len(lines)} lines")

    def tool_write(self, args: Mapping[str, Any], _env: Mapping[str, str]) -> Done:
        path, there = self._path(args), self._path(args).exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(args.get("content", "")), "utf-8")
        metadata: dict[str, Any] = {"diagnostics": {}, "filepath": str(path), "exists": there, "truncated": False}
        return Done("Wrote file successfully.", path.name, metadata, "the old file is replaced" if there else "a new file")

    def tool_edit(self, args: Mapping[str, Any], _env: Mapping[str, str]) -> Done:
        path, old, new = self._path(args), str(args.get("oldString", "")), str(args.get("newString", ""))
        text = path.read_text("utf-8") if path.is_file() else ""
        if not old or old not in text:
            raise ToolError(NOT_FOUND)
        path.write_text(text.replace(old, new, 1), "utf-8")
        return Done("Edit applied successfully.", path.name, {"diagnostics": {}, "diff": "", "truncated": False}, "the file is changed")

    def tool_grep(self, args: Mapping[str, Any], _env: Mapping[str, str]) -> Done:
        pattern = re.compile(str(args.get("pattern", "")))
        found: list[str] = []
        matches = 0
        for path in sorted(self._path(args, "path").rglob("*")):
            lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
            hits = [f"  Line {number}: {line}" for number, line in enumerate(lines, 1) if pattern.search(line)]
            found += [f"{path}:", *hits] if hits else []
            matches += len(hits)
        output = "\n".join([f"Found {matches} matches", *found, ""])
        return Done(output, pattern.pattern, {"matches": matches, "truncated": False}, f"{matches:,} matches")

    def tool_bash(self, args: Mapping[str, Any], env: Mapping[str, str]) -> Done:
        """Hooks may put something in front of a command or behind it; without one of the script's own in it nothing runs."""
        command = str(args.get("command", ""))
        if not any(one in command for one in self.script.commands):
            raise ToolError("The demo runs only the commands of its own script.")
        code, output = self._shell(command, env)
        if code is None:
            self.waited += 1
            return Done(output, command, {"output": output, "exit": None, "truncated": False}, "waits for a person: ended by the demo")
        return Done(output or "(no output)", command, {"output": output, "exit": code, "truncated": False}, f"exit {code}")

    def tool_background_task(self, _args: Mapping[str, Any], _env: Mapping[str, str]) -> Done:
        self.jobs += 1
        return Done(f"Background task started: bg_{self.jobs}", "background task", {"truncated": False}, "a job runs on")

    def tool_invalid(self, args: Mapping[str, Any], _env: Mapping[str, str]) -> Done:
        output = f"The arguments provided to the tool are invalid: {args.get('error')}"
        return Done(output, "Invalid Tool", {"truncated": False}, "the arguments cannot be read")

    def _path(self, args: Mapping[str, Any], name: str = "filePath") -> Path:
        path = (self.project / str(args.get(name, "."))).resolve()
        if not path.is_relative_to(self.project):
            raise ToolError(f"{path} is outside the scratch project, where the demo does nothing.")
        return path

    def _shell(self, command: str, env: Mapping[str, str]) -> tuple[int | None, str]:
        """Exit code and output; the code is ``None`` for a command that waits for a person, which is then ended."""
        process = subprocess.Popen(
            [shutil.which("bash") or "sh", "-c", command],
            cwd=self.project,
            env={**self._environment(), **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        for _ in range(int(DEADLINE / LOOK)):
            try:
                output, _ = process.communicate(timeout=LOOK)
            except subprocess.TimeoutExpired:
                if self._asked.exists():
                    break
            else:
                return process.returncode, output.decode("utf-8", "replace")
        self._asked.unlink(missing_ok=True)
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0].decode("utf-8", "replace")

    def _environment(self) -> dict[str, str]:
        """Nothing of the person's own settings; this Python first on the path, since the tests are run with it."""
        return {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_GLOBAL": str(self.gitconfig),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
