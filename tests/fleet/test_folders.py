"""Every shipped plugin folder keeps every promise of the contract; no hook is named here."""

from pathlib import Path

import pytest

from matrixx_core.testing import contract

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml") if path.parent.name != "matrixx-all")


def test_there_are_folders() -> None:
    assert FOLDERS


@pytest.mark.parametrize("promise", contract.PROMISES, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_folder_keeps_the_promise(folder: Path, promise: contract.Promise) -> None:
    assert list(promise(contract.read(folder))) == []
