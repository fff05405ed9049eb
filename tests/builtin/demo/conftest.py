import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from matrixx_builtin.cli import cli
from matrixx_builtin.demo import keys


@dataclass(frozen=True)
class Shown:
    """One run of the command: what it wrote where, the keys it made up, and the person's folders before and after."""

    keys: Mapping[str, str]
    output: str
    report: dict[str, Any]
    page: str
    left: list[str]
    touched: list[str]
    environment_kept: bool

    def step(self, title: str) -> dict[str, Any]:
        return next(step for step in self.report["steps"] if title in step["title"])


def demonstrate(folder: Path, *options: str) -> Shown:
    """Run ``matrixx demo`` for a person whose own settings would switch everything off."""
    person, temporary, page = folder / "person", folder / "tmp", folder / "demo.html"
    (person / "config/matrixx").mkdir(parents=True)
    temporary.mkdir()
    (person / "config/matrixx/matrixx.jsonc").write_text('{"disabled_hooks": ["env-file-write-guard"]}')
    made = keys.made_up()
    own = {"XDG_CONFIG_HOME": f"{person}/config", "MATRIXX_STATE_DIR": f"{person}/state", "MATRIXX_DISABLED": "1", "GIT_EDITOR": "true"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "made_up", lambda: made)
        patch.setattr("tempfile.tempdir", str(temporary))
        for name, value in own.items():
            patch.setenv(name, value)
        before = dict(os.environ)
        result = CliRunner().invoke(cli, ["demo", "--html", str(page), *options], catch_exceptions=False)
        kept = dict(os.environ) == before
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout) if "--json" in options else {}
    left = [str(path.relative_to(temporary)) for path in temporary.rglob("*") if path.is_file()]
    touched = [str(path.relative_to(person)) for path in person.rglob("*") if path.is_file()]
    return Shown(made, result.output, report, page.read_text("utf-8"), left, touched, kept)


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The demo for machines, with every installed hook."""
    return demonstrate(tmp_path_factory.mktemp("told"), "--json")


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The demo for people."""
    return demonstrate(tmp_path_factory.mktemp("shown"))
