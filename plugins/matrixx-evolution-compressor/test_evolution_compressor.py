import time
from pathlib import Path
from typing import Any

import matrixx_evolution_compressor as hook
import pytest

from matrixx_builtin.services import evolution
from matrixx_builtin.services.evolution import Lesson, Trace
from matrixx_core.testing import SESSION, Rig


def traced(folder: Path, *successes: bool, session_id: str = SESSION) -> None:
    for number, success in enumerate(successes):
        trace = Trace(call_id=str(number), at=time.time(), tool="bash", args='{"command": "make test"}', output="", success=success)
        evolution.keep(str(folder), session_id, trace)


def made(folder: Path, **settings: Any) -> Rig:
    return Rig(hook, settings={hook.NAME: {"enabled": True, **settings}}, directory=str(folder))


def lessons(folder: Path) -> list[Lesson]:
    return evolution.pending(str(folder))


def test_it_is_off_until_asked_for(tmp_path: Path) -> None:
    assert hook.off_because(hook.Config()) and not hook.off_because(hook.Config(enabled=True))
    traced(tmp_path, *[True] * 5)
    made(tmp_path, enabled=False).event("session.idle")
    assert lessons(tmp_path) == []


def test_what_went_well_waits_for_the_person(tmp_path: Path) -> None:
    traced(tmp_path, *[True] * 5)
    made(tmp_path).event("session.idle")
    [lesson] = lessons(tmp_path)
    assert (lesson.slug, lesson.traces, lesson.confidence) == ("workflow-bash-make", 5, 0.9)
    assert "- bash make: 5 calls, 0 failed" in lesson.text
    assert not (tmp_path / ".opencode").exists()


@pytest.mark.parametrize(
    ("successes", "settings", "waits"),
    [
        ([True] * 4, {}, False),
        ([True, True, False, False, False], {}, False),
        ([True, True, True, True, False], {}, True),
        ([True, False, False], {"compressor": {"minTraces": 3}, "governance": {"minConfidence": 0.3}}, True),
    ],
)
def test_too_little_and_too_unsure_is_dropped(tmp_path: Path, successes: list[bool], settings: dict[str, Any], waits: bool) -> None:
    traced(tmp_path, *successes)
    made(tmp_path, **settings).event("session.idle")
    assert bool(lessons(tmp_path)) == waits


@pytest.mark.parametrize(
    ("trigger", "kind", "waits"),
    [
        ("both", "session.idle", True),
        ("both", "session.compacted", True),
        ("idle", "session.compacted", False),
        ("compacting", "session.compacted", True),
        ("compacting", "session.idle", False),
        ("both", "session.created", False),
    ],
)
def test_settings_say_when(tmp_path: Path, trigger: str, kind: str, waits: bool) -> None:
    traced(tmp_path, *[True] * 5)
    made(tmp_path, compressor={"trigger": trigger}).event(kind)
    assert bool(lessons(tmp_path)) == waits


def test_an_attempt_counts_whatever_came_of_it(tmp_path: Path) -> None:
    traced(tmp_path, *[False] * 5)
    rig = made(tmp_path)
    rig.event("session.idle")
    traced(tmp_path, *[True] * 95)
    rig.event("session.idle")
    assert lessons(tmp_path) == []


def test_other_sessions_and_sub_agents_teach_nothing_here(tmp_path: Path) -> None:
    traced(tmp_path, *[True] * 5, session_id="ses_other")
    rig = made(tmp_path)
    rig.event("session.idle")
    traced(tmp_path, *[True] * 5)
    rig.host.sessions[SESSION].parent = "ses_parent"
    rig.event("session.idle")
    assert lessons(tmp_path) == []


def test_where_nothing_can_be_written_nothing_is_raised(tmp_path: Path) -> None:
    traced(tmp_path, *[True] * 5)
    (tmp_path / ".matrixx/evolution/pending").write_text("in the way")
    outcome = made(tmp_path).event("session.idle")
    assert [one.error for one in outcome.ran if one.error] == []
