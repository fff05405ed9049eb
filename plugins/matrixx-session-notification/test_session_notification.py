import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matrixx_session_notification as hook
import pytest
from matrixx_session_notification import backends

from matrixx_builtin.services import wake
from matrixx_core import SessionEvent
from matrixx_core.client import NoClient
from matrixx_core.errors import ClientError
from matrixx_core.testing import SESSION, RecordingClient, Rig, message

DELAY = 0.05
MAIN = {"id": SESSION}
CHILD = {"id": SESSION, "parentID": "ses_other"}

Step = tuple[str, Any]
IDLE: Step = ("session.idle", {})
BUSY: Step = ("session.status", {"status": {"type": "busy"}})
STATUS_IDLE: Step = ("session.status", {"status": {"type": "idle"}})
PROMPT: Step = ("prompt", "go on")
LATER: Step = ("later", None)


class Lost(RecordingClient):
    async def sessions(self, parent: str = "") -> Sequence[Mapping[str, Any]]:
        raise ClientError("no such session")


@pytest.fixture
def notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    shown: list[str] = []

    async def show(title: str, text: str, **_options: Any) -> bool:
        shown.append(text)
        return True

    monkeypatch.setattr(backends, "show", show)
    monkeypatch.setenv("HOME", str(tmp_path))
    return shown


def played(steps: Sequence[Step], client: Any, directory: Path, **settings: Any) -> Rig:
    rig = Rig(
        hook, settings={"session-notification": {"delay_ms": int(DELAY * 1_000), **settings}}, directory=str(directory), client=client
    )

    async def play() -> None:
        for kind, value in steps:
            if kind == "later":
                await asyncio.sleep(4 * DELAY)
            elif kind == "prompt":
                await rig.host.chat_message(message(value))
            else:
                await rig.host.session_event(SessionEvent(session_id=SESSION, type=kind, properties=value))
        await asyncio.sleep(4 * DELAY)

    asyncio.run(play())
    return rig


@pytest.mark.parametrize(
    ("steps", "client", "count"),
    [
        ([IDLE], RecordingClient(answer_sessions=[MAIN]), 1),
        ([PROMPT, IDLE], NoClient(), 1),
        ([IDLE], RecordingClient(answer_sessions=[CHILD]), 0),
        ([IDLE], RecordingClient(answer_sessions=[]), 0),
        ([IDLE], Lost(), 0),
        ([IDLE], NoClient(), 0),
        ([PROMPT, IDLE, IDLE], NoClient(), 1),
        ([PROMPT, IDLE, LATER, IDLE, LATER, STATUS_IDLE], NoClient(), 1),
        ([PROMPT, IDLE, BUSY], NoClient(), 0),
        ([PROMPT, IDLE, PROMPT], NoClient(), 0),
        ([PROMPT, IDLE, LATER, BUSY, IDLE], NoClient(), 2),
        ([PROMPT, IDLE], RecordingClient(answer_todo=[{"content": "x", "status": "pending"}]), 0),
        ([PROMPT, IDLE], RecordingClient(answer_todo=[{"content": "x", "status": "completed"}]), 1),
        ([PROMPT, ("question.asked", {}), ("permission.asked", {})], NoClient(), 2),
        ([("permission.asked", {})], RecordingClient(answer_sessions=[CHILD]), 0),
        ([PROMPT, ("session.status", {"status": 5}), ("session.status", {}), IDLE], NoClient(), 1),
    ],
)
def test_the_person_is_told_once_for_each_time_that_the_main_session_waits(
    notices: list[str], tmp_path: Path, steps: Sequence[Step], client: Any, count: int
) -> None:
    played(steps, client, tmp_path)
    assert len(notices) == count


def test_a_session_that_was_woken_in_the_meantime_waits_for_nobody(notices: list[str], tmp_path: Path) -> None:
    rig = Rig(hook, settings={"session-notification": {"delay_ms": 0}}, directory=str(tmp_path), client=NoClient())

    async def play() -> None:
        await rig.host.chat_message(message("go on"))
        rig.host.sessions[SESSION].state(wake.Wake).busy = True
        await rig.host.session_event(SessionEvent(session_id=SESSION, type="session.idle"))
        await asyncio.sleep(DELAY)

    asyncio.run(play())
    assert notices == []


def test_five_children_that_finish_are_silent(notices: list[str], tmp_path: Path) -> None:
    rig = Rig(hook, settings={"session-notification": {"delay_ms": 0}}, directory=str(tmp_path), client=NoClient())

    async def play() -> None:
        await rig.host.chat_message(message("go on"))
        for number in range(5):
            rig.host.sessions[f"child{number}"].parent = SESSION
            await rig.host.session_event(SessionEvent(session_id=f"child{number}", type="session.idle"))
        await rig.host.session_event(SessionEvent(session_id=SESSION, type="session.idle"))
        await asyncio.sleep(4 * DELAY)

    asyncio.run(play())
    assert notices == ["It waits for you."]


@pytest.mark.parametrize(("force", "count"), [(False, 0), (True, 1)])
def test_another_notifier_of_the_host_has_the_word(notices: list[str], tmp_path: Path, force: bool, count: int) -> None:
    (tmp_path / "opencode.json").write_text('{"plugin": ["@mohak34/opencode-notifier@latest"]}')
    played([PROMPT, IDLE], NoClient(), tmp_path, force_enable=force)
    assert len(notices) == count


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    return tmp_path


def program(folder: Path, name: str, script: str = 'printf "%s\\n" "$@" > "$0.args"') -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def shown(title: str, text: str, **options: Any) -> bool:
    return asyncio.run(backends.show(title, text, **options))


@pytest.mark.parametrize("name", backends.PROGRAMS)
@pytest.mark.parametrize("text", ["It waits.", '"; rm -rf / #', "$(touch x) `touch x`", "-e", "--help"])
def test_each_system_gets_title_and_text_as_arguments(programs: Path, name: str, text: str) -> None:
    path = program(programs, name)
    assert shown("my project", text)
    assert (programs / f"{path.name}.args").read_text().splitlines()[-2:] == ["my project", text]


def test_a_command_of_the_persons_own_goes_first(programs: Path) -> None:
    program(programs, "notify-send", "exit 1")
    own = program(programs, "own")
    assert shown("t", "x", command=[str(own), "--flag"])
    assert (programs / "own.args").read_text().splitlines() == ["--flag", "t", "x"]


def test_odd_text_is_made_one_plain_line(programs: Path) -> None:
    program(programs, "notify-send")
    assert shown("a\0b\n\x1b[31m", "\ud800" + "x" * 10_000)
    title, text = (programs / "notify-send.args").read_text().splitlines()[-2:]
    assert (title, len(text) <= backends.LONGEST) == ("a b  [31m", True)


def test_a_program_that_hangs_is_ended_and_one_that_fails_shows_nothing(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "DEADLINE", 0.3)
    sleep = shutil.which("sleep", path=os.defpath)
    program(programs, "notify-send", f"exec {sleep} 60")
    assert not shown("t", "x")
    program(programs, "notify-send", "exit 1")
    assert not shown("t", "x")


def test_where_nothing_can_show_a_notice_nothing_happens(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_ring", lambda: False)
    assert not shown("t", "x")
    monkeypatch.delenv("DISPLAY")
    program(programs, "notify-send")
    assert not shown("t", "x"), "there is no desktop"
