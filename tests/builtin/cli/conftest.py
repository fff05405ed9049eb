"""A person's home, a project, and distributions that a test installs by writing them onto the path."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builtin.cli.samples import Install, Run
from click.testing import CliRunner, Result

from matrixx_builtin.cli import cli


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the person who runs the tests is read or written."""
    home = tmp_path / "home"
    home.mkdir()
    for variable in ("MATRIXX_DISABLED", "MATRIXX_DISABLED_HOOKS", "OPENCODE_CONFIG_DIR", "OPENCODE_PURE", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    return home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def matrixx(project: Path) -> Run:
    """``matrixx("hooks", "--json")`` in the project's folder."""

    def run(*args: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(cli, list(args), input=stdin, prog_name="matrixx", catch_exceptions=False)

    return run


@pytest.fixture
def settings(project: Path, home: Path) -> Callable[[str, str], Path]:
    """``settings("user", text)`` or ``settings("project", text)`` writes a settings file and returns its path."""

    def write(scope: str, text: str) -> Path:
        folder = home / ".config" / "matrixx" if scope == "user" else project / ".matrixx"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "matrixx.jsonc"
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install("loud", code)`` puts a distribution ``acme-loud`` with the plugin ``loud`` onto the path; returns the plugin's name."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    before = set(sys.modules)

    def write(name: str, code: str | None, *, summary: str = "A stranger's hook.", group: str = "matrixx.hooks") -> str:
        module = f"acme_{name.replace('-', '_')}"
        info = site / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-{name}\nVersion: 1.2\nSummary: {summary}\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n")
        if code is not None:
            (site / f"{module}.py").write_text(code)
        importlib.invalidate_caches()
        return name

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield write
    for name in set(sys.modules) - before:
        if name.startswith("acme_"):
            del sys.modules[name]
