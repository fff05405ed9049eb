"""Every block of Python on the written pages runs, and every link leads to something that is there."""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from matrixx_core.loading import load_installed
from matrixx_core.settings import load_settings
from matrixx_core.testing import Rig, call
from matrixx_core.trust import trust

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/**/*.md")])
WITH_CODE = ("README.md", "docs/embedding.md", "docs/order.md", "docs/writing-a-hook.md")
HOOK = "matrixx_no_push_to_main"

SETTINGS = re.compile(r"^```jsonc\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ADDRESS = re.compile(r"[a-z]+:")


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Each block of Python with the place where it begins."""
    text = (ROOT / page).read_text("utf-8")
    for found in PYTHON.finditer(text):
        yield f"{page}:{text[: found.start(1)].count(chr(10)) + 1}", found[1]


def run(place: str, code: str) -> ModuleType:
    """The block as a module, which may wait at its top: an excerpt of an async function."""
    module = ModuleType(HOOK)
    compiled = compile(code, place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    waiting = eval(compiled, module.__dict__)
    if inspect.iscoroutine(waiting):

        async def finish() -> None:
            await waiting

        anyio.run(finish)
    return module


def whole_page(page: str, monkeypatch: pytest.MonkeyPatch) -> list[ModuleType]:
    """All blocks of a page in turn; the first is what later ones import as the hook."""
    modules: list[ModuleType] = []
    for place, code in blocks(page):
        modules.append(run(place, code))
        monkeypatch.setitem(sys.modules, HOOK, modules[0])
    return modules


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home without settings, and a project where the pages say that one is."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "path" / "to" / "project").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", WITH_CODE)
def test_every_block_of_python_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert whole_page(page, monkeypatch)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_settings_on_a_page_are_understood_as_they_stand(page: Path, tmp_path: Path) -> None:
    for number, found in enumerate(SETTINGS.finditer(page.read_text("utf-8"))):
        folder = tmp_path / f"project{number}"
        folder.mkdir()
        text = found[1] if found[1].startswith("{") else f"{{{found[1]}}}"
        (folder / "matrixx.jsonc").write_text(text)
        trust(folder / "matrixx.jsonc")
        settings = load_settings(folder)
        load_installed(settings)
        assert settings.raw and settings.problems == []


def test_a_page_with_python_is_among_those_that_are_run() -> None:
    pages = {page.relative_to(ROOT).as_posix() for page in PAGES if PYTHON.search(page.read_text("utf-8"))}
    assert pages - {"docs/events.md"} == set(WITH_CODE), "events.md shows signatures, generated from the hookspecs"


@pytest.mark.parametrize("page", ["README.md", "docs/embedding.md"])
def test_the_embedded_host_refuses_what_the_page_has_it_asked(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole_page(page, monkeypatch)
    said = capsys.readouterr().out
    assert said.startswith("Blocked by Matrixx hook 'env-file-") and ".env" in said


@pytest.mark.parametrize("page", ["README.md", "docs/writing-a-hook.md"])
@pytest.mark.parametrize(("command", "blocked"), [("sh -c 'git push origin main'", True), ("git push origin topic", False)])
def test_the_hook_that_a_page_writes_does_what_it_says(page: str, command: str, blocked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = whole_page(page, monkeypatch)[0]
    assert (Rig(hook).before("bash", command=command).block is not None) is blocked


def test_the_test_that_the_page_writes_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = 0
    for module in whole_page("docs/writing-a-hook.md", monkeypatch):
        for test in [one for name, one in vars(module).items() if name.startswith("test_")]:
            for values in _rows(test):
                test(*values)
                ran += 1
    assert ran == 3


def _rows(test: Any) -> list[tuple[Any, ...]]:
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    return [(value,) for mark in marks for value in mark.args[1]] or [()]


def test_what_a_call_writes_is_as_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    [written] = [vars(module)["written"] for module in whole_page("docs/writing-a-hook.md", monkeypatch) if "written" in vars(module)]
    assert written(call("bash", command="echo x > out.txt", directory="/project")) == ["/project/out.txt"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if ADDRESS.match(target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target} is not there"
        assert not anchor or anchor in headings(file), f"{target} is no heading of {file.name}"


def headings(page: Path) -> set[str]:
    """Anchors as code hosts make them of headings."""
    found = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}
