"""Who may import whom: the architecture, held by a test."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CORE_LAYERS = (
    {"errors", "events", "trust", "entries"},
    {"answers", "settings"},
    {"markers", "session", "client", "sections"},
    {"tools", "specs", "plan"},
    {"timing", "watchdog", "notes", "taken"},
    {"loading", "dispatch"},
    {"host", "wire"},
    {"testing"},
)
"""Each layer imports from those above it in this list, and from itself."""


def imported(path: Path) -> Iterator[str]:
    """Absolute names of every module that the file imports, wherever in the file."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def files(pattern: str) -> list[Path]:
    return [path for path in sorted(ROOT.glob(pattern)) if not path.name.startswith("test_")]


def layer(name: str) -> int:
    return next(number for number, names in enumerate(CORE_LAYERS) if name in names)


@pytest.mark.parametrize("path", files("matrixx_core/**/*.py"), ids=lambda path: str(path.relative_to(ROOT)))
def test_core_knows_no_builtin_and_its_modules_only_those_below(path: Path) -> None:
    own = path.relative_to(ROOT / "matrixx_core").parts[0].removesuffix(".py")
    for name in imported(path):
        root, *rest = name.split(".")
        assert root != "matrixx_builtin", name
        if root == "matrixx_core" and rest and own != "__init__" and (ROOT / "matrixx_core" / f"{rest[0]}.py").exists():
            assert layer(rest[0]) <= layer(own), f"{own} imports {rest[0]}"


@pytest.mark.parametrize("path", files("plugins/*/*.py"), ids=lambda path: path.stem)
def test_a_hook_imports_core_and_services_and_no_other_hook(path: Path) -> None:
    for name in imported(path):
        root, *rest = name.split(".")
        if root == "matrixx_builtin":
            assert rest[0] == "services", f"{path.stem} imports {name}"
        elif root.startswith("matrixx_") and root != "matrixx_core":
            assert root == path.stem, f"{path.stem} imports {root}"


@pytest.mark.parametrize("path", files("matrixx_builtin/services/**/*.py"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_service_knows_no_host_no_command_and_no_essential(path: Path) -> None:
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "matrixx_builtin" and len(parts) > 1:
            assert parts[1] == "services", name


def test_core_names_no_host_program_and_no_hook() -> None:
    hooks = [path.name.removeprefix("matrixx-") for path in (ROOT / "plugins").iterdir()]
    for path in files("matrixx_core/**/*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        docs = {id(node.body[0].value) for node in ast.walk(tree) if _documented(node)}  # type: ignore[attr-defined]
        words = [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
        ]
        for word in words:
            assert "opencode" not in word.lower(), f"{path}: {word!r}"
            assert word not in hooks, f"{path}: {word!r}"


def _documented(node: ast.AST) -> bool:
    body = getattr(node, "body", None)
    return isinstance(body, list) and bool(body) and isinstance(body[0], ast.Expr)


def test_the_command_line_starts_without_the_engine() -> None:
    import subprocess

    code = "import sys, matrixx_builtin.cli as c; c.cli.list_commands(None); print([m for m in ('pydantic', 'asyncio', 'rich', 'json5') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
