"""A project with a warm engine of its own, and an adapter that does as its payload says."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin import daemon
from matrixx_builtin.daemon.control import Status
from matrixx_builtin.daemon.place import holder, place_of

ADAPTER = """'''A host whose payloads say what is to happen.'''
import asyncio, json, os, subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from matrixx_builtin.daemon import http, serving

vars(serving).update(json.loads(os.environ.get("STUB_SERVING", "{}")))

@asynccontextmanager
async def warm(directory):
    async def answer(payload):
        if "fail" in payload:
            raise RuntimeError("as told")
        if "begun" in payload and not Path(payload["begun"]).exists():
            Path(payload["begun"]).touch()
            while not Path(payload["until"]).exists():
                await asyncio.sleep(0.02)
        if "child" in payload:
            return {"code": subprocess.run(["sh", "-c", f"exit {payload['child']}"]).returncode}
        if "plain" in payload:
            return payload["plain"]
        if "big" in payload:
            return {"big": "x" * payload["big"]}
        if "variable" in payload:
            return {"value": os.environ.get(payload["variable"], "")}
        return {"pid": os.getpid(), "project": str(directory), **payload} if payload else {}
    yield answer
"""

PATIENCE = 60.0
"""Seconds after which something that was to happen has not."""


def until(holds: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.03)


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or " Z " not in stat.read_text("utf-8", "replace")


@dataclass
class World:
    """One project, with a runtime folder and a state folder of its own."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def log(self) -> str:
        file = self.folder / "state" / "matrixx.log"
        return file.read_text("utf-8") if file.exists() else ""

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("XDG_RUNTIME_DIR", "MATRIXX_STATE_DIR"):
                patch.setenv(name, self.env[name])
            yield

    def status(self) -> Status | None:
        with self.here():
            return daemon.status(self.project)

    def running(self) -> Status:
        found = self.status()
        assert found
        return found

    def endpoint(self) -> Any:
        with self.here():
            return daemon.endpoint(self.project)

    def socket(self) -> Path:
        with self.here():
            return place_of(self.project).socket

    def holder(self) -> int | None:
        with self.here():
            return holder(place_of(self.project))

    def stop(self) -> bool:
        with self.here():
            return daemon.stop(self.project)

    def begin(self, client: Sequence[str], payload: object, *arguments: str, **env: str) -> "subprocess.Popen[bytes]":
        """Start a client that has its payload; arguments are event, policy, project and seconds."""
        given = [*arguments, *("PreToolUse", "open", str(self.project), "50")[len(arguments) :]]
        process = subprocess.Popen(
            [*client, "stub", *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.env, **env},
            cwd=self.folder,
        )
        assert process.stdin
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
            process.stdin.close()
        process.stdin = None
        return process

    def ask(self, client: Sequence[str], payload: object, *arguments: str, **env: str) -> "subprocess.CompletedProcess[bytes]":
        process = self.begin(client, payload, *arguments, **env)
        with process:
            out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def answer(self, client: Sequence[str], payload: object, *arguments: str, **env: str) -> Mapping[str, Any]:
        """What the engine answered; the host was told nothing else."""
        done = self.ask(client, payload, *arguments, **env)
        assert (done.returncode, done.stderr) == (0, b"")
        found: Mapping[str, Any] = json.loads(done.stdout)
        assert "systemMessage" not in found, self.log
        return found

    def install(self, name: str, group: str, module: str) -> None:
        info = self.site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {name}_module\n", "utf-8")
        (self.site / f"{name}_module.py").write_text(module, "utf-8")


@contextlib.contextmanager
def made_world() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="mx-", ignore_cleanup_errors=True) as name:  # a socket's path must be short
        one = World(Path(name).resolve())
        for folder in ("project", "site", "run", "home"):
            (one.folder / folder).mkdir(mode=0o700)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("CLAUDE", "MATRIXX", "XDG", "STUB", "TMPDIR"))}
        one.env = {
            **kept,
            "HOME": str(one.folder / "home"),
            "XDG_RUNTIME_DIR": str(one.folder / "run"),
            "MATRIXX_STATE_DIR": str(one.folder / "state"),
            "PYTHONPATH": os.pathsep.join([str(one.site), *filter(None, sys.path)]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        one.install("stub", "matrixx.hosts", ADAPTER)
        try:
            yield one
        finally:
            one.stop()
            assert one.holder() is None
