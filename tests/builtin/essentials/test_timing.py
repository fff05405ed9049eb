from pathlib import Path

import anyio
import pytest

from matrixx_builtin.essentials import timing
from matrixx_builtin.services import state
from matrixx_core import SessionEvent, ToolCall, guard
from matrixx_core.host import Host
from matrixx_core.loading import load


class Guard:
    @guard
    def tool_execute_before(self, call: ToolCall) -> None:
        """Answer nothing."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATRIXX_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def host() -> Host:
    host = Host(load({"guard": Guard(), "timing": timing}), directory="/p")
    host.plugins.manager.hook.host_opened(host=host)
    return host


def call(host: Host) -> None:
    anyio.run(host.tool_execute_before, ToolCall(session_id="s", call_id="c", tool="bash", args={}))


def idle(host: Host) -> None:
    anyio.run(host.session_event, SessionEvent(session_id="s", type="session.idle"))


def close(host: Host) -> None:
    host.plugins.manager.hook.host_closed(host=host)


def kept() -> dict[str, int]:
    return {one.plugin: one.timing.calls for one in state.kept_timings("/p")}


def test_what_was_counted_is_kept_when_the_host_closes(host: Host) -> None:
    call(host)
    call(host)
    assert kept() == {}
    close(host)
    assert kept() == {"guard": 2}


def test_an_idle_session_writes_it_down_at_most_once_in_the_interval(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    call(host)
    idle(host)
    assert kept() == {}, "the host was opened just now"
    monkeypatch.setattr(timing, "INTERVAL", 0.0)
    idle(host)
    assert kept()["guard"] == 1
    call(host)
    close(host)
    assert kept()["guard"] == 2, "nothing is counted twice"


def test_what_cannot_be_written_is_written_later(host: Host, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "INTERVAL", 0.0)
    folder.write_text("a file where the folder should be")
    call(host)
    idle(host)
    folder.unlink()
    call(host)
    close(host)
    assert kept()["guard"] == 2
