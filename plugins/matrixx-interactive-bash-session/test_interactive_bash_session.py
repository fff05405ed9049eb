import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import anyio
import matrixx_interactive_bash_session as hook
import pytest

from matrixx_core import SessionEvent
from matrixx_core.testing import SESSION, RecordingClient, result


def after(tool: str, *commands: Any, output: str = "") -> list[str]:
    """What the model is told after each command of a conversation."""
    key = "command" if tool == "bash" else "tmux_command"
    notes = [anyio.run(hook.tool_execute_after, result(tool, output, **{key: command})) for command in commands]
    return [note.text.partition(": ")[2].rstrip("]") if note else "" for note in notes]


@pytest.mark.parametrize(
    ("commands", "told"),
    [
        (["new-session -d -s matrixx-dev"], ["matrixx-dev"]),
        (["new -d -s matrixx-dev"], ["matrixx-dev"]),
        (["new-session -d -smatrixx-dev"], ["matrixx-dev"]),
        (["-L other new-session -d -s matrixx-dev"], ["matrixx-dev"]),
        (["-f /dev/null -- new-session -d -s 'matrixx-dev'"], ["matrixx-dev"]),
        (["new-session\t-d\n-s matrixx-dev"], ["matrixx-dev"]),
        (["new-session -d -s matrixx-a", "new-session -d -s matrixx-b"], ["matrixx-a", "matrixx-a, matrixx-b"]),
        (["new-session -d -s matrixx-a", "kill-session -t matrixx-a"], ["matrixx-a", ""]),
        (["new-session -d -s matrixx-a", "kill-session -t =matrixx-a:0.1"], ["matrixx-a", ""]),
        (["new-session -d -s matrixx-a", "kill-session -t matrixx-ab"], ["matrixx-a", "matrixx-a"]),
        (["new-session -d -s matrixx-a", "-L other kill-server"], ["matrixx-a", "matrixx-a"]),
        (["new-session -d -s matrixx-a", "kill-server"], ["matrixx-a", ""]),
        (["new-session -d -s matrixx-a", "new-session -d -s matrixx-a"], ["matrixx-a", "matrixx-a"]),
        (["new-session -d -s mine"], [""]),
        (["new-session -d -s matrixx"], [""]),
        (["new-session -d -s matrixx.1"], [""]),
        (["send-keys -t matrixx-dev ls Enter"], [""]),
        (["new-session -s 'never closed"], [""]),
        (["", "-L", "--", "kill-session"], ["", "", "", ""]),
        ([None, 5, ["new-session"]], ["", "", ""]),
    ],
)
def test_sessions_of_our_name_are_counted(commands: list[Any], told: list[str]) -> None:
    assert after("interactive_bash", *commands) == told


def test_a_shell_command_counts_as_well() -> None:
    assert after("bash", "cd /p && tmux -L x new-session -d -s matrixx-dev 'npm run dev'", "ls", "tmux kill-session -t matrixx-dev") == [
        "matrixx-dev",
        "",
        "matrixx-dev",
    ]
    assert after("bash", "tmux -L x kill-session -t matrixx-dev") == [""]


def test_what_has_failed_has_opened_nothing() -> None:
    assert after("interactive_bash", "new-session -s matrixx-dev", output="Error: no server") == [""]


def test_the_model_is_told_only_when_something_was_opened_or_ended() -> None:
    after("interactive_bash", "new-session -d -s matrixx-dev")
    assert after("interactive_bash", "send-keys -t matrixx-dev x") == [""]


def deleted(client: RecordingClient, session_id: str = SESSION) -> None:
    anyio.run(hook.session_event, SessionEvent(session_id=session_id, type="session.deleted"), client)


def test_a_session_that_opened_nothing_ends_nothing() -> None:
    client = RecordingClient()
    deleted(client)
    deleted(client, "../../etc/passwd\0\ud800")
    assert client.requests == []


@pytest.fixture
def server() -> Iterator[str]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed, so nothing was ended")
    name = "matrixx-test-server"
    yield name
    subprocess.run(["tmux", "-L", name, "kill-server"], check=False, capture_output=True, timeout=10)


def running(server: str) -> list[str]:
    done = subprocess.run(["tmux", "-L", server, "ls", "-F", "#S"], check=False, capture_output=True, text=True, timeout=10)
    return sorted(done.stdout.split())


def test_the_end_of_a_session_ends_its_own_tmux_sessions_and_no_other(server: str) -> None:
    for name in ("matrixx-a", "matrixx-ab", "mine"):
        subprocess.run(["tmux", "-L", server, "new-session", "-d", "-s", name, "sleep 60"], check=True, timeout=10)
    after("interactive_bash", f"-L {server} new-session -d -s matrixx-a")
    deleted(RecordingClient())
    assert running(server) == ["matrixx-ab", "mine"]
    after("interactive_bash", f"-L {server} send-keys")
    assert after("interactive_bash", "kill-server") == [""]


def test_a_broken_record_loses_nothing_else() -> None:
    after("interactive_bash", "new-session -d -s matrixx-dev")
    path = hook._record(SESSION)
    path.write_text("{broken")
    assert after("interactive_bash", "new-session -d -s matrixx-b") == ["matrixx-b"]
