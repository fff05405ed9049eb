"""The canary tells in every host what it obeys: all of it with the canary's hook, nothing of it without."""

import pytest

from matrixx_builtin.canary import canary, seen
from matrixx_builtin.canary.cage import cage
from matrixx_builtin.hosts import host_module

from .programs import NAMES, program

VARIABLES = {"claude_code": "CLAUDE_BIN", "opencode": "OPENCODE_BIN"}


@pytest.fixture(params=NAMES)
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLES[request.param], str(program(request.param)))
    return str(request.param).replace("_", "-")


def test_the_host_obeys(host: str) -> None:
    assert [(line.what, line.why) for line in canary(host_module(host)) if not line.held] == []


def test_without_the_canarys_hook_no_line_holds_but_that_the_agent_works(host: str) -> None:
    with cage() as made:
        (made.root / "site/matrixx_canary.py").write_text("", "utf-8")
        held = [line.what for line in seen(made, host_module(host).rehearse(made)) if line.held]
    assert held == ["a write that nobody denies"]
