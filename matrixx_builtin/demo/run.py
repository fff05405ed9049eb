"""Play the session twice, with every installed hook and with none, in a scratch folder of its own."""

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from matrixx_core.host import Host
from matrixx_core.loading import load
from matrixx_core.watchdog import watching

from ..hosts.opencode.adapter import OpenCode
from ..hosts.opencode.client import OpenCodeClient
from ..hosts.opencode.replay import Recorder
from ..services.secrets.engine import KINGFISHER
from . import facts, keys, telling
from .player import Player
from .report import Report, StepTold, hook_rows
from .script import Script
from .script import load as load_script
from .workshop import Workshop

WARM_UP = 2.5
"""Seconds that we wait for the secret scanner's rules; without them its own small rule set answers."""

FOREIGN = ("MATRIXX_", "GIT_")
"""Prefixes of environment variables that would make one person's demo differ from another's."""


class Stage(Protocol):
    """Where the demo is shown while it runs."""

    def opened(self, hooks: Sequence[str]) -> None:
        """All hooks are loaded; the first step is about to come."""
        ...

    def step(self, step: StepTold) -> None:
        """One step is done."""
        ...

    def busy(self, what: str) -> AbstractContextManager[None]:
        """Something may take over a second."""
        ...


@dataclass(slots=True)
class Scratch:
    """A run's folder, its made-up keys, and the script filled in for each of its two projects."""

    root: Path
    keys: Mapping[str, str] = field(default_factory=lambda: keys.made_up())

    def workshop(self, name: str) -> Workshop:
        """A furnished project."""
        project = self.root / name
        workshop = Workshop(project, self.root / "home", self.script(project))
        project.mkdir()
        workshop.furnish()
        return workshop

    def script(self, project: Path) -> Script:
        return load_script(self.keys, project)

    def hide(self, project: Path) -> telling.Hide:
        return telling.hider(self.keys, str(project))


async def run(stage: Stage, *, disabled: Collection[str] = (), keep: bool = False) -> Report:
    """Play the whole demo and report; the scratch folder is gone afterwards unless it is kept."""
    started = time.monotonic()
    KINGFISHER.warm()
    with scratch_folder(keep=keep) as root, own_settings(root), log_kept() as problems:
        scratch = Scratch(root)
        with stage.busy("loading the secret scanner's rules"):
            KINGFISHER.wait(WARM_UP)
        report, hooked = await _with_hooks(stage, scratch, disabled)
        with stage.busy("the same session without hooks"):
            without = await _without_hooks(scratch)
        return report.model_copy(
            update={
                "comparison": facts.compare(without, hooked),
                "problems": tuple(dict.fromkeys(map(scratch.hide(root), problems))),
                "kept": str(root) if keep else "",
                "seconds": round(time.monotonic() - started, 3),
            }
        )


async def _with_hooks(stage: Stage, scratch: Scratch, disabled: Collection[str]) -> tuple[Report, facts.Left]:
    workshop = scratch.workshop("with")
    client = OpenCodeClient(Recorder().request)
    steps: list[StepTold] = []
    async with Host.open(workshop.project, client=client, disabled=disabled) as host:
        plugins = host.plugins
        on = tuple(name for name in plugins.order if name not in plugins.gates)
        off = {**plugins.disabled, **plugins.gates, **{one.name: one.reason for one in plugins.failed}}
        stage.opened(on)
        player = Player(OpenCode(host), workshop, scratch.hide(workshop.project))
        with watching(host.rules.running):
            async for step in player.play():
                steps.append(step)
                stage.step(step)
    report = Report(host="scripted", seconds=0, installed=on, off=off, steps=tuple(steps), hooks=hook_rows(steps))
    return report, facts.Left(workshop, scratch.keys, player.read, player.notes)


async def _without_hooks(scratch: Scratch) -> facts.Left:
    workshop = scratch.workshop("without")
    player = Player(OpenCode(Host(load({}), directory=str(workshop.project))), workshop, scratch.hide(workshop.project))
    async for _step in player.play():
        pass
    return facts.Left(workshop, scratch.keys, player.read, player.notes)


@contextmanager
def scratch_folder(*, keep: bool) -> Generator[Path]:
    """A folder that nobody else uses."""
    root = Path(tempfile.mkdtemp(prefix="matrixx-demo-")).resolve()
    try:
        yield root
    finally:
        if not keep:
            shutil.rmtree(root, ignore_errors=True)


@contextmanager
def own_settings(root: Path) -> Generator[None]:
    """No settings, state or switches of the person while the demo runs, and none of the demo's afterwards."""
    before = dict(os.environ)
    for name in [name for name in before if name.startswith(FOREIGN) or name.endswith("_CONFIG_DIR")]:
        del os.environ[name]
    os.environ |= {"XDG_CONFIG_HOME": str(root / "config"), "MATRIXX_STATE_DIR": str(root / "state")}
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def log_kept() -> Generator[list[str]]:
    """The engine's warnings as texts, in place of a log that would run through the picture."""
    kept: list[str] = []
    handler = _Keeping(kept)
    log = logging.getLogger("matrixx")
    propagates = log.propagate
    log.propagate = False
    log.addHandler(handler)
    try:
        yield kept
    finally:
        log.removeHandler(handler)
        log.propagate = propagates


class _Keeping(logging.Handler):
    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(" ".join(record.getMessage().split()))
