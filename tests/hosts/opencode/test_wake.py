"""Who may wake a session, in the real OpenCode: two hooks offer a prompt each time it falls idle, and never stop by themselves."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from matrixx_builtin.rehearsal.opencode import ANSWER

from ..programs import program
from ..scenario import Scenario
from .runner import Opened, Runner, install, start
from .test_bridge import run

OFFERS = """'''Offer a prompt each time a session falls idle, and count these times.'''
from pathlib import Path
from matrixx_builtin.services import wake
from matrixx_core import Session, SessionEvent, rewrite

@rewrite(types={"session.idle"})
def session_event(event: SessionEvent, session: Session) -> None:
    with Path(session.directory, "idle-NAME").open("a") as times:
        times.write("x")
    wake.offer(session, wake.Offer("NAME", "NAME", "NAME says go on", "same"))
"""

GO_ON = "loop says go on"
"""The more urgent of the two offers."""

SETTLED = 1.0
"""Seconds after which a prompt that should not come would have come: one comes within 0.1 s."""


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("wake")) as runner:
        yield runner


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """The engine's command, with two offering hooks installed for it."""
    site = tmp_path_factory.mktemp("site")
    info = site / "offers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offers\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[matrixx.hooks]\noffers-tasks = offers_tasks\noffers-loop = offers_loop\n", "utf-8")
    for name in ("tasks", "loop"):
        (site / f"offers_{name}.py").write_text(OFFERS.replace("NAME", name), "utf-8")
    return ["/usr/bin/env", f"PYTHONPATH={site}", sys.executable, "-m", "matrixx_builtin", "serve", "opencode"]


def opened(opencode: Runner, engine: Sequence[str], *turns: dict[str, Any]) -> Opened:
    scenario = {"hook": "wake", "needs": [], "prompts": [], "turns": [*turns, {"say": "done"}], "expect": []}
    one = opencode.open(Scenario.model_validate(scenario))
    install(one.project, engine)
    return one


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + ANSWER
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def asked(one: Opened) -> list[str]:
    """The first line of the newest message in each of the agent's requests."""
    return [request.messages[-1].text.partition("\n")[0] for request in list(one.script.requests) if request.kind == "main"]


def idle_times(one: Opened, hook: str) -> int:
    return len((one.project / f"idle-{hook}").read_text())


def test_one_prompt_for_each_idle_three_without_progress_and_the_person_starts_anew(opencode: Runner, engine: Sequence[str]) -> None:
    one = opened(opencode, engine)
    with opencode.server.events(one.project) as events:

        def told() -> int:
            return sum("Nothing changed" in str(event) for event in list(events) if event.get("type") == "tui.toast.show")

        session = opencode.server.session(one.project)
        for number, prompt in enumerate(("Begin.", "Again."), 1):
            assert opencode.server.prompt(one.project, session, prompt)
            until(lambda wanted=number: told() >= wanted)  # type: ignore[misc]  # mypy cannot infer a lambda's default
            time.sleep(SETTLED)
            assert asked(one)[-4:] == [prompt, GO_ON, GO_ON, GO_ON]
        opencode.server.dispose(one.project)
    assert len(asked(one)) == 8
    assert told() == 2
    assert (idle_times(one, "loop"), idle_times(one, "tasks")) == (8, 8)


def test_after_an_abort_nothing_wakes_the_session_until_its_person_writes(opencode: Runner, engine: Sequence[str]) -> None:
    one = opened(opencode, engine, {"tool": "bash", "args": {"command": "touch begun; sleep 60", "description": "Wait"}})
    with opencode.server.events(one.project) as events:
        session = opencode.server.session(one.project)
        body = {"parts": [{"type": "text", "text": "Begin."}]}
        opencode.server.request("POST", f"/session/{session}/prompt_async", one.project, body)
        until((one.project / "begun").exists)
        opencode.server.request("POST", f"/session/{session}/abort", one.project)
        until(lambda: any(event.get("type") == "session.idle" for event in list(events)))
        until((one.project / "idle-loop").exists)
        time.sleep(SETTLED)
        assert asked(one) == ["Begin."]
        assert opencode.server.prompt(one.project, session, "Again.")
        until(lambda: len(asked(one)) > 2)
        opencode.server.dispose(one.project)
    assert asked(one)[1:3] == ["Again.", GO_ON]


@pytest.mark.parametrize("by_host", [False, True])
def test_after_stop_continuation_nothing_wakes_the_session_until_its_person_writes(
    opencode: Runner, engine: Sequence[str], by_host: bool
) -> None:
    one = opened(opencode, engine)
    if by_host:
        file = one.project / ".opencode" / "command" / "stop-continuation.md"
        file.parent.mkdir()
        file.write_text("Stop everything.")
    with opencode.server.events(one.project):
        session = opencode.server.session(one.project)
        if by_host:
            assert opencode.server.command(one.project, session, "stop-continuation", "")
        else:
            assert opencode.server.prompt(one.project, session, "/stop-continuation")
        until((one.project / "idle-loop").exists)
        time.sleep(SETTLED)
        assert asked(one) == ["Stop everything." if by_host else "/stop-continuation"]
        assert opencode.server.prompt(one.project, session, "Again.")
        until(lambda: len(asked(one)) > 2)
        opencode.server.dispose(one.project)
    assert asked(one)[1:3] == ["Again.", GO_ON]


def test_opencode_run_ends_with_its_answer_and_no_prompt_is_lost_on_it(opencode: Runner, engine: Sequence[str]) -> None:
    one = opened(opencode, engine)
    assert run(opencode, one, "Begin.").returncode == 0
    assert asked(one) == ["Begin."]
    assert (idle_times(one, "loop"), idle_times(one, "tasks")) == (1, 1)
    sessions = opencode.server.request("GET", "/session", one.project)
    messages = opencode.server.request("GET", f"/session/{sessions[0]['id']}/message", one.project)
    opencode.server.dispose(one.project)
    assert [message["info"]["role"] for message in messages] == ["user", "assistant"]
