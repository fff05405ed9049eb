import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import matrixx_auto_update_checker as hook
import pytest

from matrixx_core import SessionEvent
from matrixx_core.testing import SESSION, RecordingClient, Rig
from matrixx_core.trust import state_dir

LISTING = json.dumps([
    {"name": "matrixx-core", "version": "0.1.0", "latest_version": "0.2.0"},
    {"name": "requests", "version": "1", "latest_version": "2"},
    {"name": "matrixx-quality-gate", "version": "0.1.0", "latest_version": "0.1.1"},
])  # fmt: skip


@pytest.fixture
def pip(tmp_path: Path) -> Path:
    """A pip that prints a file, and counts how often it was asked."""
    program = tmp_path / "pip"
    program.write_text('#!/bin/sh\necho x >> "$0.asked"\n. "$0.answer"\n')
    program.chmod(0o755)
    answer(program, f"cat <<'EOF'\n{LISTING}\nEOF")
    return program


def answer(pip: Path, script: str) -> None:
    pip.with_name("pip.answer").write_text(f"{script}\n")


def begun(pip: Path, *sessions: dict[str, Any]) -> list[str]:
    """What the person is shown when sessions begin."""
    client = RecordingClient()
    rig = Rig(hook, settings={"auto-update-checker": {"check": True, "command": [str(pip)]}}, client=client)

    async def play() -> None:
        for properties in sessions:
            await rig.host.session_event(SessionEvent(session_id=SESSION, type="session.created", properties=properties))
        await rig.host.sessions[SESSION].settled()

    asyncio.run(play())
    return [arguments["message"] for name, arguments in client.requests if name == "toast"]


def test_it_is_off_until_the_person_allows_it() -> None:
    assert hook.off_because(hook.Config())
    assert not hook.off_because(hook.Config(check=True))


def test_newer_versions_of_ours_are_told_with_the_command_and_nothing_is_installed(pip: Path) -> None:
    assert begun(pip, {}) == [
        "Newer: matrixx-core 0.2.0, matrixx-quality-gate 0.1.1. Upgrade with: pip install --upgrade matrixx-core matrixx-quality-gate"
    ]


def test_one_look_a_day_however_many_sessions_begin(pip: Path) -> None:
    begun(pip, {}, {}, {"info": {"id": "x"}})
    begun(pip, {})
    assert pip.with_name("pip.asked").read_text() == "x\n"
    yesterday = time.time() - hook.DAY - 1
    os.utime(state_dir() / "update-checked", (yesterday, yesterday))
    assert len(begun(pip, {})) == 1


def test_sub_agents_ask_nothing(pip: Path) -> None:
    assert begun(pip, {"info": {"parentID": "ses_1"}}) == []
    assert not pip.with_name("pip.asked").exists()


@pytest.mark.parametrize(
    "script",
    [
        "exit 1",
        "echo '[]'",
        "echo no json",
        "echo '{}'",
        'echo \'[5, null, {}, {"name": "matrixx-core"}]\'',
        'echo \'[{"name": "requests", "latest_version": "2"}]\'',
        "kill -9 $$",
    ],
)
def test_what_gives_no_answer_is_silent(pip: Path, script: str) -> None:
    answer(pip, script)
    assert begun(pip, {}) == []


def test_a_lister_that_hangs_is_ended(pip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "DEADLINE", 0.3)
    answer(pip, "exec sleep 60")
    assert begun(pip, {}) == []


def test_a_missing_lister_is_silent(tmp_path: Path) -> None:
    assert begun(tmp_path / "nowhere", {}) == []


def test_many_are_counted() -> None:
    rows = [{"name": f"matrixx-{number}", "latest_version": "2"} for number in range(9)]
    assert len(hook.outdated(json.dumps(rows))) == 9
    assert hook.outdated("[" * 100_000) == []
