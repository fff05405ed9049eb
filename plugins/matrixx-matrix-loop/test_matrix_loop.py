import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import matrixx_matrix_loop as hook
import pytest

from matrixx_builtin.essentials import wake_gates
from matrixx_builtin.services import wake
from matrixx_core import Command, Message
from matrixx_core.errors import ClientError
from matrixx_core.testing import SESSION, RecordingClient, Rig


class Host(RecordingClient):
    """A host whose agent has said something last."""

    def says(self, text: str, kind: str = "text") -> None:
        said = {"type": kind, "text": text}
        self.answer_messages = (
            Message(info={"role": "user"}, parts=({"type": "text", "text": "<promise>DONE</promise>"},)),
            Message(info={"role": "assistant"}, parts=(said,)),
        )


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return made(tmp_path)


def made(directory: Path, **settings: Any) -> Rig:
    client = Host()
    client.says("I have begun.")
    return Rig(hook, wake_gates, directory=str(directory), client=client, settings={hook.NAME: settings})


def said(rig: Rig, text: str) -> str:
    """What the agent reads behind a prompt."""
    parts = rig.chat(text).event.parts
    return str(parts[-1]["text"]) if len(parts) > 1 else ""


def idle(rig: Rig) -> str:
    """The prompt that is sent when the session falls idle."""
    rig.event("session.idle")
    chosen = wake.decide(rig.host.sessions[SESSION])
    if chosen is not None:
        wake.settle(rig.host.sessions[SESSION], sent=True)
    return chosen.text if chosen else ""


def loops(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in directory.glob(".matrixx/loops/*.json")]


@pytest.mark.parametrize(
    ("typed", "task", "most", "promise"),
    [
        ('/matrix-loop "fix the tests"', "fix the tests", 100, None),
        ('/matrix-loop "x" --max-iterations=3 --completion-promise=FIXED', "x", 3, "FIXED"),
        ("/matrix-loop fix it --max-iterations 7", "fix it", 7, None),
        ("/matrix-loop", "Complete what was asked for", 100, None),
        ("/matrix-loop x --max-iterations=0", "x", 1, None),
        ("/matrix-loop x --max-iterations=99999", "x", 1_000, None),
        ("/matrix-loop x --max-iterations=many", "x", 100, None),
        ("/matrix-loop x --completion-promise=</promise>", "x", 100, None),
    ],
)
def test_a_loop_begins_as_it_was_typed(rig: Rig, tmp_path: Path, typed: str, task: str, most: int, promise: str | None) -> None:  # noqa: PLR0917
    told = said(rig, typed)
    [loop] = loops(tmp_path)
    assert loop["task"].startswith(task)
    assert loop["most"] == most
    assert loop["promise"] == (promise or loop["promise"])
    assert f"<promise>{loop['promise']}</promise>" in told


def test_the_hosts_own_command_begins_one_as_well(rig: Rig, tmp_path: Path) -> None:
    command = Command(session_id=SESSION, name="matrix-loop", arguments='"fix it" --max-iterations=2', parts=())
    anyio.run(rig.host.command_execute_before, command)
    assert [(loop["task"], loop["most"]) for loop in loops(tmp_path)] == [("fix it", 2)]


def test_it_goes_on_until_the_promise_is_kept(rig: Rig, tmp_path: Path) -> None:
    said(rig, '/matrix-loop "fix it" --completion-promise=FIXED')
    for number in (1, 2, 3, 4):
        rig.client.says(f"step {number}")  # type: ignore[attr-defined]
        prompt = idle(rig)
        assert f"[matrix loop {number}/100]" in prompt
        assert prompt.endswith("fix it")
    rig.client.says("All done. <promise>FIXED</promise>")  # type: ignore[attr-defined]
    assert idle(rig) == ""
    assert loops(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "kind"), [("<promise>DONE</promise>", "text"), ("<promise>FIXED</promise>", "reasoning"), ("FIXED", "text")]
)
def test_only_the_agents_own_words_and_its_own_promise_count(rig: Rig, text: str, kind: str) -> None:
    said(rig, "/matrix-loop x --completion-promise=FIXED")
    rig.client.says(text, kind)  # type: ignore[attr-defined]
    assert idle(rig)


def test_it_ends_after_its_last_prompt_and_says_so(rig: Rig, tmp_path: Path) -> None:
    said(rig, "/matrix-loop x --max-iterations=2")
    for number in range(5):
        rig.client.says(f"step {number}")  # type: ignore[attr-defined]
        assert bool(idle(rig)) == (number < 2)
    assert loops(tmp_path) == []
    assert any("after 2 prompts" in arguments.get("message", "") for _, arguments in rig.client.requests)  # type: ignore[attr-defined]


def test_three_equal_answers_end_it(rig: Rig) -> None:
    said(rig, "/matrix-loop x")
    assert [bool(idle(rig)) for _ in range(6)] == [True, True, True, False, False, False]


@pytest.mark.parametrize("command", sorted(hook.ENDS))
def test_it_is_cancelled_at_a_word(rig: Rig, tmp_path: Path, command: str) -> None:
    said(rig, "/matrix-loop x")
    assert "cancelled" in said(rig, f"/{command}")
    assert loops(tmp_path) == []
    assert idle(rig) == ""
    assert said(rig, f"/{command}") == ""


@pytest.mark.parametrize(("name", "ends"), [("MessageAbortedError", True), ("AbortError", True), ("APIError", False)])
def test_an_abort_ends_it_and_another_error_does_not(rig: Rig, tmp_path: Path, name: str, ends: bool) -> None:
    said(rig, "/matrix-loop x")
    rig.event("session.error", error={"name": name})
    assert (loops(tmp_path) == []) == ends


def test_a_restarted_engine_goes_on_where_it_was(rig: Rig, tmp_path: Path) -> None:
    said(rig, "/matrix-loop x")
    idle(rig)
    again = made(tmp_path)
    again.client.says("step")  # type: ignore[attr-defined]
    assert "[matrix loop 2/100]" in idle(again)


def test_an_idle_time_at_which_nothing_may_be_sent_is_none_of_its_prompts(rig: Rig) -> None:
    said(rig, "/matrix-loop x")
    children = rig.host.sessions[SESSION].state(wake.Wake).running_children
    children.add("ses_child")
    assert idle(rig) == ""
    children.clear()
    assert "[matrix loop 1/100]" in idle(rig)


def test_ultrawork_stands_before_each_prompt_of_its_loop(rig: Rig) -> None:
    said(rig, "/ulw-loop x")
    assert idle(rig).startswith("ultrawork [matrix loop 1/100]")


def test_another_session_and_sub_agents_have_no_part_in_it(rig: Rig, tmp_path: Path) -> None:
    said(rig, "/matrix-loop x")
    [path] = tmp_path.glob(".matrixx/loops/*.json")
    path.write_text(json.dumps({**loops(tmp_path)[0], "session": "ses_other"}))
    assert idle(rig) == ""
    rig.host.sessions[SESSION].parent = "ses_main"
    assert said(rig, "/matrix-loop y") == ""


def test_it_is_refused_where_it_is_switched_off(tmp_path: Path) -> None:
    assert "switched off" in said(made(tmp_path, enabled=False), "/matrix-loop x")
    assert loops(tmp_path) == []


class Silent(Host):
    async def messages(self, session_id: str) -> Sequence[Message]:
        raise ClientError("no such session")


@pytest.mark.parametrize("content", ["{broken", "[]", '{"session": "ses_test"}', "{}"])
def test_a_broken_file_ends_it_and_a_host_that_tells_nothing_does_not(tmp_path: Path, content: str) -> None:
    rig = Rig(hook, wake_gates, directory=str(tmp_path), client=Silent())
    rig.chat("/matrix-loop x")
    assert idle(rig)
    [path] = tmp_path.glob(".matrixx/loops/*.json")
    path.write_text(content)
    assert idle(rig) == ""
