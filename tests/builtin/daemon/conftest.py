"""Projects with a warm engine, and both thin clients."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from builtin.daemon.worlds import World, made_world

from matrixx_builtin import daemon


@pytest.fixture
def world() -> Iterator[World]:
    """Of one test: its engine may be killed."""
    with made_world() as one:
        yield one


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    """Of all tests of a module: its engine keeps running."""
    with made_world() as one:
        yield one


@pytest.fixture(scope="session")
def clients() -> Iterator[Mapping[str, Sequence[str]]]:
    """The commands of both, without their arguments; one is missing where there is no compiler."""
    with tempfile.TemporaryDirectory(prefix="mx-client-") as name:
        python = [sys.executable, "-I", "-S", "-E", str(daemon.CLIENT)]
        compiled = daemon.compile_client(Path(name))
        assert compiled or not any(map(shutil.which, ("cc", "gcc", "clang")))
        yield {"python": python, **({"c": [str(compiled), sys.executable]} if compiled else {})}


@pytest.fixture(params=["python", "c"])
def client(request: pytest.FixtureRequest, clients: Mapping[str, Sequence[str]]) -> Sequence[str]:
    if request.param not in clients:
        pytest.skip("there is no C compiler")
    return clients[request.param]


@pytest.fixture
def quick(clients: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """One of them, where it does not matter which."""
    return clients.get("c", clients["python"])
