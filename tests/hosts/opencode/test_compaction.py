"""How often a model is asked when a conversation is too long for it, in the real OpenCode: each request is counted."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from matrixx_builtin.rehearsal.opencode import PLAIN
from matrixx_builtin.rehearsal.turns import Turn

from ..programs import program
from ..scenario import Scenario
from .runner import Opened, Runner, install, start
from .test_recovery import Turns, shown
from .test_wake import SETTLED, until

BEGIN = "Begin."
TOO_LONG = {
    "error": 400,
    "body": {"error": {"message": "the number of input tokens 90000 cannot exceed the total tokens limit 80000 for this model"}},
}
"""As a provider says it whose words OpenCode 1.18.33 does not know."""

UNDERSTOOD = {
    "error": 400,
    "body": {
        "error": {
            "message": "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
            "code": "context_length_exceeded",
        }
    },
}
"""As a provider says it whose words it does know: it summarises by itself, and again and again if that does not help."""

READ = {"tool": "bash", "args": {"command": "cat long.txt", "description": "Read"}}
WAIT = {"tool": "bash", "args": {"command": "sleep 1", "description": "Wait"}}
LONG = {"long.txt": {"text": "a line of thread\n", "repeat": 1_500}}
IN_VAIN = "has not helped"
GO_ON = "Continue if you have next steps"
EARLY = {"preemptive_compaction": True, "preemptive_cooldown_ms": 0}


def used(tokens: int) -> dict[str, Any]:
    """What a turn reports; OpenCode is told of a window of 128,000 tokens, and summarises at 123,904."""
    return {"usage": {"prompt_tokens": tokens}}


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("compaction")) as runner:
        yield runner


def opened(opencode: Runner, turns: Sequence[dict[str, Any]], **settings: Any) -> Opened:
    """A project for these turns of the model; the last one is its answer to all further requests too."""
    scenario = {"hook": "x", "needs": [], "prompts": [], "files": LONG, "turns": [*turns, *[turns[-1]] * 6], "expect": []}
    one = opencode.open(Scenario.model_validate(scenario), settings=settings)
    install(one.project)
    return one


def played(opencode: Runner, one: Opened, kinds: Sequence[str], told: str = "") -> list[dict[str, Any]]:
    """Say a prompt, wait for requests of these kinds, for what the person is told, and for what should not come."""
    events = waited_for(opencode, one, len(kinds), told)
    assert [request.kind for request in one.script.requests] == list(kinds)
    return events


def waited_for(opencode: Runner, one: Opened, count: int, told: str) -> list[dict[str, Any]]:
    """What OpenCode told while a prompt was said, so many requests came, and the person was told something."""
    with opencode.server.events(one.project) as events:
        session = opencode.server.session(one.project)
        opencode.server.prompt(one.project, session, BEGIN)
        until(lambda: len(one.script.requests) >= count and (not told or shown(list(events), told) > 0))
        time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    return events


def test_what_cannot_be_made_short_enough_is_summarised_and_gone_on_with(opencode: Runner) -> None:
    one = opened(opencode, [READ, TOO_LONG, {"say": "done"}])
    played(opencode, one, ["main", "main", "summary", "main"])
    assert GO_ON in one.script.requests[-1].body


def test_a_summary_that_does_not_help_is_the_last(opencode: Runner) -> None:
    one = opened(opencode, [READ, TOO_LONG])
    events = played(opencode, one, ["main", "main", "summary", "main"], IN_VAIN)
    assert shown(events, IN_VAIN) == 1
    assert shown(events, "90,000 tokens, and the model takes 80,000") == 2


def test_what_an_earlier_summary_stands_for_is_not_left_out_once_more(opencode: Runner) -> None:
    one = opened(opencode, [READ, {"say": "done"}, TOO_LONG, {"say": "done"}])
    with opencode.server.events(one.project):
        session = opencode.server.session(one.project)
        opencode.server.prompt(one.project, session, BEGIN)
        opencode.server.request("POST", f"/session/{session}/summarize", one.project, {"providerID": "scripted", "modelID": PLAIN})
        opencode.server.prompt(one.project, session, "Next.")
        until(lambda: len(one.script.requests) >= 6)
        time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    assert [request.kind for request in one.script.requests] == ["main", "main", "summary", "main", "summary", "main"]
    assert GO_ON in one.script.requests[-1].body


def test_a_host_that_summarises_in_vain_is_ended_after_one_time(opencode: Runner) -> None:
    one = opened(opencode, [READ, UNDERSTOOD])
    events = waited_for(opencode, one, 4, IN_VAIN)
    kinds = [request.kind for request in one.script.requests]
    assert kinds[:4] == ["main", "main", "summary", "main"]
    assert kinds[4:] in ([], ["summary"]), "the host may have begun another one before it was ended"
    assert shown(events, "130,000 tokens, and the model takes 128,000. Summarising it has not helped") == 1


def test_a_host_whose_summary_does_is_left_alone(opencode: Runner) -> None:
    one = opened(opencode, [READ, UNDERSTOOD, {"say": "done"}])
    events = played(opencode, one, ["main", "main", "summary", "main"])
    assert shown(events, "The conversation is") == 0


def test_what_was_too_long_even_for_the_hosts_summary_is_summarised_without_the_long_output(opencode: Runner) -> None:
    one = opened(opencode, [READ, UNDERSTOOD, {"say": "done"}])
    one.script.turns["summary"] = [Turn.model_validate(UNDERSTOOD)]
    played(opencode, one, ["main", "main", "summary", "summary", "main"])
    first, second = (request.body for request in one.script.requests if request.kind == "summary")
    assert "a line of thread" in first and "a line of thread" not in second
    assert "characters are left out here by Matrixx" in second


def test_in_the_middle_of_its_work_the_agent_goes_on_with_the_summary(opencode: Runner) -> None:
    one = opened(opencode, [{**READ, **used(101_000)}, {**WAIT, **used(102_000)}, {"say": "done", **used(5_000)}], experimental=EARLY)
    events = played(opencode, one, ["main", "main", "summary", "main"])
    assert GO_ON in one.script.requests[-1].body
    assert shown(events, "tokens are used") == 0


def test_at_its_end_the_session_waits_for_its_person(opencode: Runner) -> None:
    one = opened(opencode, [{"say": "done", **used(101_000)}], experimental=EARLY)
    played(opencode, one, ["main", "summary"])


def test_where_the_host_summarises_at_the_same_time_there_is_one_summary(opencode: Runner) -> None:
    one = opened(opencode, [{**READ, **used(127_000)}, {"say": "done", **used(5_000)}], experimental=EARLY)
    one.script.turns["summary"] = Turns([Turn(say="sewn")], 1, lambda: time.sleep(SETTLED))  # a model takes longer than both to ask
    played(opencode, one, ["main", "summary", "main"])


@pytest.mark.parametrize(
    ("turns", "kinds"),
    [
        ([{"say": "seen", **used(101_000)}], ["subagent"]),
        (
            [{**READ, **used(101_000)}, {**WAIT, **used(5_000)}, {"say": "seen", **used(5_000)}],
            ["subagent", "subagent", "summary", "subagent"],
        ),
    ],
)
def test_a_sub_agent_is_summarised_in_its_work_only_and_its_parent_has_its_answer(
    opencode: Runner, turns: list[dict[str, Any]], kinds: list[str]
) -> None:
    brief = {"description": "Look", "prompt": "Look.", "subagent_type": "general"}
    one = opened(opencode, [{"tool": "task", "args": brief}, {"say": "done"}], experimental=EARLY)
    one.script.turns["subagent"] = list(map(Turn.model_validate, turns))
    played(opencode, one, ["main", *kinds, "main"])
    assert "<task_result>\\nseen" in one.script.requests[-1].body


def test_a_window_that_no_summary_empties_is_summarised_once_until_the_person_writes(opencode: Runner) -> None:
    full = used(101_000)
    one = opened(opencode, [{**READ, **full}, {**READ, **full}, {**READ, **full}, {"say": "done", **full}], experimental=EARLY)
    events = waited_for(opencode, one, 5, "although the conversation was summarised")
    kinds = [request.kind for request in one.script.requests]
    assert kinds.count("summary") == 1, kinds
    assert shown(events, "of 128,000 tokens are used, although the conversation was summarised") == 1
