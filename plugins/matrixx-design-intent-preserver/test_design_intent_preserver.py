import os
from pathlib import Path
from typing import Any

import anyio
import matrixx_design_intent_preserver as hook
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services.mission import MissionFile
from matrixx_core import ChatMessage
from matrixx_core.events import is_added
from matrixx_core.testing import SESSION, Rig, message, session

DESIGNED = "## Phase 1\n- [x] Shape the page (@construct)\n## Phase 2\n- [ ] Wire it\n"
PLAIN = "## Phase 1\n- [ ] Construct the parser\n"


def put(project: Path, name: str, text: str, age: int = 0) -> Path:
    path = project / ".matrixx" / "plans" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_700_000_000 - age,) * 2)
    return path


def told(project: Path, text: str = "Start phase 2.") -> bool:
    first, *rest = Rig(hook, directory=str(project)).chat(text).event.parts
    assert first["text"] == text
    assert all(is_added(part) and part["text"] == hook.TEXT for part in rest)
    return bool(rest)


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("Start phase 2.", True),
        ("PHASE 3: wire it", True),
        ("do phase #2 now", True),
        ("Phase-2? no: phase:4", True),
        ("phases 2 and 3", True),
        ("the next phase", False),
        ("a phase of 2 weeks", False),
        ("open src/phase2.py", False),
        ("see `phase 2`", False),
        ("multiphase 2", False),
        (f"phase 2 {hook.TAG}", False),
        ("", False),
    ],
)
def test_a_numbered_phase_that_the_person_speaks_of_is_meant(tmp_path: Path, text: str, there: bool) -> None:
    put(tmp_path, "page", DESIGNED)
    assert told(tmp_path, text) is there


@pytest.mark.parametrize(
    ("plan", "there"),
    [
        ("- [ ] ui (construct)", True),
        ("delegate to construct.", True),
        ("by @web-designer", True),
        ("load frontend-ui-ux", True),
        ("ask @designer", True),
        ("ask the designer", False),
        ("construct a tree", False),
        ("Construct the parser; constructed, construction, constructor", False),
        ("see src/construct.py", False),
        ("", False),
    ],
)
def test_a_plan_that_hands_work_to_design_agents_is_meant(tmp_path: Path, plan: str, there: bool) -> None:
    put(tmp_path, "page", plan)
    assert told(tmp_path) is there


def test_without_a_mission_the_newest_plan_decides(tmp_path: Path) -> None:
    put(tmp_path, "page", DESIGNED, age=60)
    put(tmp_path, "parser", PLAIN)
    assert not told(tmp_path)
    put(tmp_path, "page", DESIGNED, age=-60)
    assert told(tmp_path)


def test_with_a_mission_its_plan_decides_and_its_sessions_are_told(tmp_path: Path) -> None:
    page = put(tmp_path, "page", DESIGNED, age=60)
    parser = put(tmp_path, "parser", PLAIN)
    MissionFile(tmp_path).start(page, "ses_other")
    assert not told(tmp_path)
    MissionFile(tmp_path).append(SESSION)
    assert told(tmp_path)
    MissionFile(tmp_path).start(parser, SESSION)
    assert not told(tmp_path)


def test_a_mission_whose_plan_lies_elsewhere_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "page", DESIGNED)
    MissionFile(tmp_path).start(tmp_path / "page.md", SESSION)
    assert not told(tmp_path)


def test_without_plans_or_a_directory_and_in_delegated_sessions_nothing_is_said(tmp_path: Path) -> None:
    assert not told(tmp_path)
    put(tmp_path, "page", DESIGNED)
    nowhere, delegated = session(), session()
    delegated.directory, delegated.parent = str(tmp_path), "ses_parent"
    for open_session in (nowhere, delegated):
        assert anyio.run(hook.chat_message, message("phase 2"), open_session) is None


@pytest.mark.parametrize("said", ["frozen", "goes back to the design agent", "mechanical", ".matrixx/drafts/design-changes.md"])
def test_the_text_says_what_it_must(said: str) -> None:
    assert said in hook.TEXT


@pytest.mark.parametrize("content", [b"", b"\xff\0@construct", b"@construct " * 20_000])
def test_odd_plans_are_no_mistake(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, "page", "").write_bytes(content)
    told(tmp_path)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"active_plan": 5}', b'{"active_plan": "\\u0000/x.md", "session_ids": ["ses_test"]}'])
def test_odd_missions_are_no_mistake(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, "page", DESIGNED)
    (tmp_path / ".matrixx" / "mission.json").write_bytes(content)
    told(tmp_path)


@given(st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.none() | st.integers() | st.text()}), max_size=3))
def test_no_prompt_is_too_odd(parts: Any) -> None:
    open_session = session()
    open_session.directory = "/nowhere"
    anyio.run(hook.chat_message, ChatMessage(session_id=SESSION, parts=tuple(parts)), open_session)
