"""A home of its own for every test, and distributions made on the spot."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matrixx_core import settings as settings_module

MakeDist = Callable[..., None]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, state and home below the test's own folder."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(folder / "state"))
    for name in ("OPENCODE_CONFIG_DIR", "MATRIXX_DISABLED_HOOKS", "MATRIXX_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def make_dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeDist]:
    """``make_dist(name, source, dist=..., group=...)``: a plugin installed for this test only."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    made: list[str] = []

    def make(name: str, source: str, *, dist: str = "", group: str = "matrixx.hooks", module: str = "") -> None:
        dist = dist or f"their-{name}"
        module = module or dist.replace("-", "_")
        if source:
            (site / f"{module}.py").write_text(source, "utf-8")
        info = site / f"{dist.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\nSummary: Made for a test.\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n", "utf-8")
        made.append(module)

    yield make
    for module in made:
        sys.modules.pop(module, None)


@pytest.fixture(autouse=True)
def fresh_hosts() -> None:
    """The installed hosts are remembered for the life of a process; not across tests."""
    settings_module._hosts.cache_clear()
