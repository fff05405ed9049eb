"""What the first calls need is there before they come."""

import subprocess
import sys

CODE = """
import sys
from matrixx_builtin.services.effects import matching
from matrixx_builtin.services.secrets.rules import TOKEN_RULES
from matrixx_builtin.services.warming import warm
compiled = sys.modules[matching.__module__]._compiled
print("tree_sitter_bash" in sys.modules, compiled.cache_info().currsize, "pattern" in vars(TOKEN_RULES[-1]))
warm()
print("tree_sitter_bash" in sys.modules, compiled.cache_info().currsize, "pattern" in vars(TOKEN_RULES[-1]))
"""


def test_warming_loads_the_grammar_and_compiles_the_patterns_of_files_and_secrets() -> None:
    shown = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "0", "False", "True", "1", "True"]
