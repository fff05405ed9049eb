from pathlib import Path
from typing import Any

import anyio
import matrixx_category_skill_reminder as hook
import pytest

from matrixx_builtin.services.agents import assign
from matrixx_core.testing import SESSION, Rig, result

MARK = "[work can be delegated]"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def skill(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(f"# {name}\n")


def made(directory: Path, agent: str = "morpheus", **settings: Any) -> Rig:
    rig = Rig(hook, settings={"category-skill-reminder": settings}, directory=str(directory))
    assign(rig.host.sessions[SESSION], agent)
    return rig


def notes(rig: Rig, *tools: str) -> list[str]:
    """What the model is told beside each call."""
    return [anyio.run(rig.host.tool_execute_after, result(tool, "out")).event.output.removeprefix("out").strip() for tool in tools]


@pytest.mark.parametrize(
    ("agent", "reminded"),
    [
        ("morpheus", True),
        ("Morpheus (Orchestrator)", True),
        ("architect", True),
        ("atlas", True),
        ("mouse", False),
        ("operator", False),
        ("build", False),
        ("", False),
    ],
)
def test_those_who_delegate_are_reminded_at_the_third_call_once(home: Path, agent: str, reminded: bool) -> None:
    told = notes(made(home, agent), "read", "bash", "edit", "write", "grep", "glob")
    assert [MARK in one for one in told] == [False, False, reminded, False, False, False]


def test_two_calls_and_other_tools_are_not_enough(home: Path) -> None:
    assert notes(made(home), "read", "bash", "lsp", "skill", "webfetch", "todowrite") == [""] * 6


@pytest.mark.parametrize("tool", sorted(hook.DELEGATING))
def test_who_has_delegated_is_not_reminded(home: Path, tool: str) -> None:
    rig = made(home)
    rig.before(tool)
    assert notes(rig, *["read"] * 6) == [""] * 6


def test_sub_agents_are_left_alone(home: Path) -> None:
    rig = made(home)
    rig.host.sessions[SESSION].parent = "ses_main"
    assert notes(rig, *["read"] * 6) == [""] * 6


def test_a_summary_starts_it_anew(home: Path) -> None:
    rig = made(home)
    notes(rig, *["read"] * 3)
    rig.event("session.compacted")
    assert MARK in notes(rig, *["read"] * 3)[2]


def test_the_projects_skills_are_named_before_the_persons(home: Path) -> None:
    skill(home / "home/.claude/skills", "review")
    skill(home / "project/.opencode/skill", "release")
    (home / "project/.opencode/skill/empty").mkdir()
    told = notes(made(home / "project"), *["read"] * 3)[2]
    assert "Skills here: release, review." in told
    assert 'load_skills=["release"]' in told


def test_many_skills_are_counted_and_none_is_no_word(home: Path) -> None:
    for number in range(11):
        skill(home / "project/.claude/skills", f"s{number:02}")
    assert "s07 and 3 more" in notes(made(home / "project"), *["read"] * 3)[2]
    told = notes(made(home / "other"), *["read"] * 3)[2]
    assert "load_skills=[]" in told
    assert "Skills here" not in told


def test_settings_name_other_agents_counts_and_categories(home: Path) -> None:
    told = notes(made(home, "build", agents=["Build"], after=1, category="quick"), "read")[0]
    assert 'category="quick"' in told


def test_hostile_directories_are_no_error(home: Path) -> None:
    assert hook.skills("\0") == hook.skills("") == hook.skills(str(home / "nowhere")) == []
