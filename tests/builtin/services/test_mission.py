"""One mission a project: read whatever is in the file, never lose a session, never tear the file."""

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixx_builtin.services.mission import Mission, MissionFile


@pytest.fixture
def file(tmp_path: Path) -> MissionFile:
    return MissionFile(tmp_path)


def holding(file: MissionFile, content: str | bytes) -> MissionFile:
    file.path.parent.mkdir(parents=True, exist_ok=True)
    file.path.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_without_a_file_there_is_no_mission(file: MissionFile) -> None:
    assert file.read() is None
    assert file.append("ses_1") is None
    assert file.clear() is False
    assert not file.path.exists()


@pytest.mark.parametrize("content", ["null", "7", '"text"', "[]", "", "{", '{"session_ids": [', b"\xff\x00"])
def test_what_is_no_mission_is_set_aside(file: MissionFile, content: str | bytes) -> None:
    assert holding(file, content).read() is None
    assert len(list(file.path.parent.glob("mission.json.corrupt-*"))) == 1
    assert file.start(Path("/p/login.md"), "ses_1").session_ids == ("ses_1",)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, Mission()),
        ({"session_ids": "ses_1"}, Mission()),
        ({"session_ids": None, "agent": None, "plan_name": 7}, Mission()),
        ({"session_ids": ["ses_1", 7, None, "ses_1", "ses_2"]}, Mission(session_ids=("ses_1", "ses_2"))),
        ({"active_plan": "/p/x.md", "agent": "architect"}, Mission(active_plan="/p/x.md", agent="architect")),
    ],
)
def test_an_odd_field_is_empty_and_the_rest_stands(file: MissionFile, content: dict[str, Any], expected: Mission) -> None:
    assert holding(file, json.dumps(content)).read() == expected
    assert list(file.path.parent.glob("*.corrupt-*")) == []


def test_a_mission_begins_and_ends(file: MissionFile) -> None:
    made = file.start(Path("/p/.matrixx/plans/login.md"), "ses_1", "architect")
    assert made == file.read()
    assert (made.active_plan, made.plan_name, made.session_ids, made.agent) == (
        "/p/.matrixx/plans/login.md",
        "login",
        ("ses_1",),
        "architect",
    )
    assert datetime.fromisoformat(made.started_at).tzinfo
    assert file.clear() is True and file.read() is None


def test_the_same_plan_goes_on_and_another_begins_anew(file: MissionFile) -> None:
    first = file.start(Path("/p/login.md"), "ses_1", "architect")
    assert file.start(Path("/p/login.md"), "ses_2") == first.model_copy(update={"session_ids": ("ses_1", "ses_2")})
    assert file.start(Path("/p/other.md"), "ses_3").session_ids == ("ses_3",)


def test_a_session_is_added_once_and_what_others_wrote_stays(file: MissionFile) -> None:
    holding(file, '{"active_plan": "/p/x.md", "session_ids": ["ses_1"], "worktree": "/w"}')
    for _ in range(2):
        assert file.append("ses_2")
    assert json.loads(file.path.read_text()) == {
        "active_plan": "/p/x.md",
        "agent": "",
        "plan_name": "",
        "session_ids": ["ses_1", "ses_2"],
        "started_at": "",
        "worktree": "/w",
    }


def test_two_processes_lose_no_session(file: MissionFile, tmp_path: Path) -> None:
    file.start(Path("/p/x.md"), "ses_0")
    script = (
        "import sys; from matrixx_builtin.services.mission import MissionFile\n"
        "for n in range(30): MissionFile(sys.argv[1]).append(f'ses_{sys.argv[2]}{n}')"
    )
    workers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), name]) for name in "ab"]
    assert [worker.wait(120) for worker in workers] == [0, 0]
    there = file.read()
    assert there and len(there.session_ids) == 61


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(list(Mission.model_fields)), JSON))
def test_any_object_is_a_mission(content: dict[str, Any]) -> None:
    assert Mission.model_validate_json(json.dumps(content))
