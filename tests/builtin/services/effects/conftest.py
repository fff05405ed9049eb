"""What the tests of the effects share: calls in an empty directory, and a guard's view of what they touch."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.services.effects import Effects, Touch, effects_of, matching
from matrixx_core import ToolCall

SECRETS = (
    ".env",
    ".env.*",
    "!*[._-]example",
    "!*[._-]template",
    "!*.pub",
    "*.pem",
    "*.key",
    "id_rsa",
    "id_ed25519",
    "credentials.json",
    ".npmrc",
)


@pytest.fixture
def tool(tmp_path: Path) -> Callable[..., Effects]:
    """Make a tool call in an empty directory and tell its effects."""

    def make(name: str, **args: Any) -> Effects:
        return effects_of(ToolCall(session_id="ses_1", call_id="call_1", tool=name, args=args, directory=str(tmp_path)))

    return make


@pytest.fixture
def bash(tool: Callable[..., Effects]) -> Callable[[str], Effects]:
    """Tell the effects of a shell command."""
    return lambda command: tool("bash", command=command)


@pytest.fixture
def secrets(tmp_path: Path) -> Callable[[Effects], str]:
    """Tell which of a call's effects a guard of secret files would stop: some of the letters ``rwd``."""

    def letters(found: Effects) -> str:
        groups = (("r", found.reads), ("w", found.writes), ("d", found.deletes))
        return "".join(letter for letter, touches in groups if matching(touches, SECRETS, base=str(tmp_path)))

    return letters


@pytest.fixture
def names(tmp_path: Path) -> Callable[[Iterable[Touch]], set[str]]:
    """Tell the paths of touches, as seen from the call's directory."""
    return lambda touches: {touch.path.removeprefix(f"{tmp_path.resolve()}/") for touch in touches}
