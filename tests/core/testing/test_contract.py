"""Each promise is seen broken here once: what cannot fail holds nobody to anything."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matrixx_core.testing import contract

PROJECT = """[project]
name = "matrixx-{name}"
version = "0.1.0"
description = "Stop it."
license = "MIT"
requires-python = ">=3.11"
dependencies = ["matrixx-core==0.1.*"]

[project.entry-points."matrixx.hooks"]
{name} = "matrixx_{name}"
"""

MODULE = '''"""Stop it."""

from pydantic import BaseModel, Field

from matrixx_core import Block, ToolCall, guard


class Config(BaseModel):
    word: str = Field(default="no", description="What is stopped.")


@guard
def tool_execute_before(call: ToolCall, config: Config) -> Block | None:
    return Block("no") if call.args.get("word") == config.word else None
'''

TEST = "def test_it() -> None:\n    assert True\n"

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """``make(name, project=..., module=..., test=...)`` writes a folder; each text may say ``{name}``."""
    import sys

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made: list[str] = []

    def write(name: str, project: str = PROJECT, module: str = MODULE, test: str = TEST) -> Path:
        folder = tmp_path / f"matrixx-{name}"
        folder.mkdir()
        (folder / "pyproject.toml").write_text(project.replace("{name}", name))
        (folder / f"matrixx_{name}.py").write_text(module)
        (folder / f"test_{name}.py").write_text(test)
        made.append(f"matrixx_{name}")
        return folder

    yield write
    for name in made:
        sys.modules.pop(name, None)


def test_a_good_folder_has_no_problem(make: Make) -> None:
    assert list(contract.problems(make("good"))) == []


BROKEN = {
    "nothing": ({"project": ""}, "declares no plugin"),
    "toml": ({"project": "[project"}, "cannot be read"),
    "licence": ({"project": PROJECT.replace("license", "licence")}, "no project.license"),
    "core": ({"project": PROJECT.replace("matrixx-core==0.1.*", "pluggy")}, "does not depend on matrixx-core"),
    "syntax": ({"module": "def (:"}, "cannot be imported: SyntaxError"),
    "elsewhere": ({"project": PROJECT.replace('"matrixx_{name}"', '"json"')}, "not from this folder"),
    "renamed": ({"project": PROJECT.replace("{name} =", "other-name =")}, "name it 'renamed'"),
    "badly": ({"project": PROJECT.replace("{name} =", "Bad_Name =")}, "lower-case words"),
    "silent": ({"module": MODULE.replace("Stop it.", "")}, "docstring begins with ''"),
    "otherwise": ({"module": MODULE.replace("Stop it.", "Start it.")}, "'Start it.'"),
    "phrase": ({"project": PROJECT.replace("Stop it.", "stop it"), "module": MODULE.replace("Stop it.", "stop it")}, "not a sentence"),
    "untested": ({"test": "# later\n"}, "there is no test"),
    "unspecified": ({"module": MODULE.replace("tool_execute_before", "tool_execute_befor")}, "did you mean 'tool_execute_before'"),
    "argument": ({"module": MODULE.replace("call: ToolCall, config", "call: ToolCall, clint: object, config")}, "clint"),
    "hookless": ({"module": MODULE.replace("@guard", "")}, "answers no event"),
    "untyped": ({"module": MODULE.replace("call: ToolCall,", "call,")}, "parameter 'call' has no annotation"),
    "mistyped": ({"module": MODULE.replace("call: ToolCall,", "call: Block,")}, "is ToolCall there, not Block"),
    "unanswered": ({"module": MODULE.replace(" -> Block | None", "")}, "its answer has no annotation"),
    "looking": ({"module": MODULE.replace("guard", "observe")}, "observe does not answer Block"),
    "changing": ({"module": MODULE.replace("guard", "rewrite")}, "rewrite does not answer Block"),
    "undocumented": ({"module": MODULE.replace(', description="What is stopped."', "")}, "setting 'word' has no Field"),
    "demanding": ({"module": MODULE.replace('default="no", ', "")}, "setting 'word' has no default"),
    "modelless": (
        {"module": MODULE.replace("(BaseModel)", "").replace('Field(default="no", description="What is stopped.")', '"no"')},
        "no pydantic",
    ),
    "ordered": ({"module": MODULE + "\nRUN_AFTER = ['x']\n"}, "RUN_AFTER is a tuple"),
    "fragile": (
        {"module": MODULE.replace('call.args.get("word")', 'call.args.get("command", "").strip()')},
        "fails at tool_execute_before",
    ),
    "gated": (
        {
            "module": MODULE.replace('call.args.get("word")', 'call.args["word"]')
            + '\n\ndef off_because(config: Config) -> str:\n    return "off"\n'
        },
        "fails at tool_execute_before: KeyError",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_told(make: Make, name: str) -> None:
    texts, words = BROKEN[name]
    found = list(contract.problems(make(name, **texts)))
    assert any(words in problem for problem in found), found


def test_a_folder_that_cannot_be_looked_at_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"pyproject\.toml cannot be read"):
        contract.read(tmp_path)


def test_the_smoke_test_keeps_nothing(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(tmp_path / "state"))
    writes = 'Path(state_dir()).mkdir(exist_ok=True)\n    return Block("no") if'
    module = MODULE.replace('return Block("no") if', writes).replace(
        "from pydantic", "from pathlib import Path\nfrom matrixx_core.trust import state_dir\nfrom pydantic"
    )
    assert list(contract.problems(make("keeping", module=module))) == []
    assert not (tmp_path / "state").exists()
