from pathlib import Path
from typing import Any

import matrixx_knowledge_hub_search_nudge as hook
import pytest

from matrixx_core.testing import Rig


def made(tmp_path: Path, *names: str, path: str = ".") -> Rig:
    settings = {"hubs": [{"name": name, "path": path} for name in names]}
    return Rig(hook, settings={"knowledge-hub-search-nudge": settings}, directory=str(tmp_path))


def told(rig: Rig, tool: str = "webfetch", **args: Any) -> str:
    outcome = rig.before(tool, **args)
    assert outcome.block is None
    return "".join(note.text for note in outcome.notes)


def test_it_is_off_without_settings() -> None:
    assert hook.off_because(hook.Config()) and not hook.off_because(hook.Config.model_validate({"hubs": [{"name": "n", "path": "/n"}]}))


@pytest.mark.parametrize("tool", sorted(hook.WEB))
def test_the_first_ways_to_the_web_lead_past_the_hubs(tmp_path: Path, tool: str) -> None:
    rig = made(tmp_path, "notes", "runbooks")
    said = [told(rig, tool, url="http://x") for _ in range(hook.MOST + 2)]
    assert "notes (_index.md), runbooks (_index.md)" in said[0]
    assert [bool(one) for one in said] == [True] * hook.MOST + [False] * 2


def test_after_a_summary_it_is_said_again(tmp_path: Path) -> None:
    rig = made(tmp_path, "notes")
    for _ in range(hook.MOST):
        told(rig)
    rig.event("session.compacted")
    assert told(rig)


@pytest.mark.parametrize("tool", ["bash", "read", "grep"])
def test_other_tools_are_none_of_its_business(tmp_path: Path, tool: str) -> None:
    assert told(made(tmp_path, "notes"), tool) == ""


def test_hubs_that_are_not_there_are_not_named(tmp_path: Path) -> None:
    assert told(made(tmp_path, "notes", path="nowhere")) == ""
    assert told(made(tmp_path)) == ""


def test_many_hubs_are_named_in_few_words(tmp_path: Path) -> None:
    assert len(told(made(tmp_path, *(f"hub-number-{number}" for number in range(100))))) < hook.LONGEST


@pytest.mark.parametrize("args", [{}, {"url": 5}, {"url": "\0"}, {"query": "x" * 100_000}])
def test_odd_calls_pass(tmp_path: Path, args: dict[str, Any]) -> None:
    assert told(made(tmp_path, "notes"), **args)
