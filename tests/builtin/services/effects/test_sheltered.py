"""tree-sitter-bash 0.25 ends the process at some characters beyond U+00FF behind a brace: it never sees them."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services.effects import effects_of
from matrixx_builtin.services.effects.words import sheltered, unsheltered
from matrixx_core.testing import call

FATAL = ["{\U000de79f", "echo {\U0001f600}", "echo ${\U000de79f}", "x\U0010ffff{\U0010ffff", "{\U0001d7d8..3}"]


@pytest.mark.parametrize("command", FATAL)
def test_no_character_ends_the_process(command: str) -> None:
    code = "import sys; from matrixx_core.testing import call; from matrixx_builtin.services.effects import effects_of; effects_of(call('bash', command=sys.argv[1]))"
    assert subprocess.run([sys.executable, "-c", code, command], check=False).returncode == 0


@given(st.text())
def test_sheltering_loses_nothing(text: str) -> None:
    whole = text.encode("utf-8", "replace").decode("utf-8")
    assert unsheltered(sheltered(text)) == whole
    assert sheltered(text).decode("utf-8").isascii() or max(sheltered(text).decode("utf-8")) <= "\xff"


@pytest.mark.parametrize("name", ["é.env", "日本.txt", "😀", "a\u00ff\u00feb", "{\U000de79f"])
def test_names_come_out_as_they_went_in(name: str) -> None:
    effects = effects_of(call("bash", command=f"echo x > '{name}'", directory="/project"))
    assert [touch.path for touch in effects.writes] == [f"/project/{name}"]
