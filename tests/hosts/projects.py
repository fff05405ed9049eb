"""The project of a scenario, as every host finds it: files, a Git repository, settings that a person vouches for."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from matrixx_core.loading import ESSENTIALS, installed
from matrixx_core.trust import trust

from .scenario import Scenario

DEADLINE = 10.0
"""Seconds for one call of Git."""


def lay_out(scenario: Scenario, project: Path, env: Mapping[str, str], *, ignored: Sequence[str]) -> None:
    """Write the scenario's files and commit them; add its staged files. Git does not see what is ``ignored``."""
    _git(project, env, "init", "-q")
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/exclude").write_text("".join(f"{pattern}\n" for pattern in ignored))
    for name, file in scenario.files.items():
        file.write(project / name)
    _git(project, env, "add", "-A")
    _git(project, env, "commit", "-q", "--allow-empty", "-m", "begin")
    for name, file in scenario.staged.items():
        file.write(project / name)
        _git(project, env, "add", name)


def settle(project: Path, state: Path, settings: Mapping[str, Any]) -> None:
    """Write the project's settings of Matrixx and vouch for them, as a person does with ``matrixx trust``."""
    if not settings:
        return
    path = project / ".matrixx/matrixx.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings))
    with patch.dict(os.environ, MATRIXX_STATE_DIR=str(state)):
        trust(path)


def without_hook(settings: Mapping[str, Any], hook: str) -> dict[str, Any]:
    """These settings with one hook more switched off; ``""`` is none."""
    return {**settings, "disabled_hooks": [*settings.get("disabled_hooks", ()), hook]} if hook else dict(settings)


def is_essential(hook: str) -> bool:
    """Whether a hook cannot be disabled by name: without it means without all of Matrixx."""
    found = installed().get(hook)
    return found is not None and found.group == ESSENTIALS


def _git(project: Path, env: Mapping[str, str], *words: str) -> None:
    subprocess.run(["git", *words], cwd=project, env=dict(env), check=True, timeout=DEADLINE)
