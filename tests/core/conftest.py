"""A project, and distributions made on the spot."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matrixx_core import settings as settings_module

MakeDist = Callable[..., None]


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
