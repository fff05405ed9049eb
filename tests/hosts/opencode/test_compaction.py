"""How often a model is asked when a conversation is too long for it, in the real OpenCode: each request is counted."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from ..programs import program
from ..scenario import Scenario
from .runner import Opened, Runner, install, start
from .test_recovery import shown
from .test_wake import SETTLED, until

BEGIN = "Begin."
TOO_LONG = {
    "error": 400,
    "body": {"error": {"message": "the number of input tokens 90000 cannot exceed the total tokens limit 80000 for this model"}},
}
"""As a provider says it whose words OpenCode 1.18.33 does not know."""

READ = {"tool": "bash", "args": {"command": "cat long.txt", "description": "Read"}}
LONG = {"long.txt": {"text": "a line of thread\n", "repeat": 1_500}}
IN_VAIN = "has not helped"


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
    with opencode.server.events(one.project) as events:
        session = opencode.server.session(one.project)
        opencode.server.prompt(one.project, session, BEGIN)
        until(lambda: len(one.script.requests) >= len(kinds) and (not told or shown(list(events), told) > 0))
        time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    assert [request.kind for request in one.script.requests] == list(kinds)
    return events


def test_what_cannot_be_made_short_enough_is_summarised_and_gone_on_with(opencode: Runner) -> None:
    one = opened(opencode, [READ, TOO_LONG, {"say": "done"}])
    played(opencode, one, ["main", "main", "summary", "main"])
    assert "Continue if you have next steps" in one.script.requests[-1].body


def test_a_summary_that_does_not_help_is_the_last(opencode: Runner) -> None:
    one = opened(opencode, [READ, TOO_LONG])
    events = played(opencode, one, ["main", "main", "summary", "main"], IN_VAIN)
    assert shown(events, IN_VAIN) == 1
    assert shown(events, "90,000 tokens, and the model takes 80,000") == 2


def test_a_window_that_no_summary_empties_is_summarised_once_until_the_person_writes(opencode: Runner) -> None:
    full = {"usage": {"prompt_tokens": 101_000}}
    turns = [{**READ, **full}, {**READ, **full}, {**READ, **full}, {"say": "done", **full}]
    one = opened(opencode, turns, experimental={"preemptive_compaction": True, "preemptive_cooldown_ms": 0})
    with opencode.server.events(one.project):
        session = opencode.server.session(one.project)
        opencode.server.prompt(one.project, session, BEGIN)
        until(lambda: len(one.script.requests) >= 5)
        time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    kinds = [request.kind for request in one.script.requests]
    assert kinds.count("summary") == 1, kinds
