"""For every test of the repository: a home of its own, and no deadline that a busy machine could miss."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("matrixx", deadline=None)
settings.load_profile("matrixx")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, state and home below the test's own folder, never those of whoever runs the tests."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(folder / "state"))
    for name in ("OPENCODE_CONFIG_DIR", "MATRIXX_DISABLED_HOOKS", "MATRIXX_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    return folder
