from collections.abc import Iterator
from typing import Any

import pytest

from matrixx_builtin.services import secrets

from .programs import NAMES, program, runner_of


@pytest.fixture(scope="session", params=NAMES)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The runner of one host program, which runs once for all tests of a worker."""
    secrets.wait_ready(60)  # with a folder to keep them: an engine that ends with its scenario would compile the rules in each
    found = program(request.param)
    with runner_of(request.param).start(found, tmp_path_factory.mktemp(request.param)) as runner:
        yield runner
