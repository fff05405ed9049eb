"""Which model is asked, and how often, when a provider fails, in the real OpenCode: each request is counted."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ..programs import program
from ..scenario import Scenario
from .runner import Opened, Runner, install, start
from .test_recovery import shown
from .test_wake import SETTLED, until

DOWN, UNKNOWN_KEY = {"error": 503}, {"error": 401}
DONE = {"say": "done"}
SPARE = {"models": ["scripted/spare"]}


@pytest.fixture(scope="module")
def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with start(program("opencode"), tmp_path_factory.mktemp("fallback")) as runner:
        yield runner


def opened(opencode: Runner, turns: Sequence[dict[str, Any]], **settings: Any) -> Opened:
    """A project for these turns; the last one is the model's answer to all further requests too."""
    scenario = {"hook": "x", "needs": [], "prompts": [], "turns": [*turns, *[turns[-1]] * 6], "expect": []}
    one = opencode.open(Scenario.model_validate(scenario), settings={"runtime_fallback": {**SPARE, **settings}})
    install(one.project)
    return one


def models(one: Opened) -> list[str]:
    """The model of each request."""
    return [json.loads(request.body)["model"] for request in list(one.script.requests)]


def played(opencode: Runner, one: Opened, prompts: Sequence[str], requests: int, told: str, *attached: Path) -> list[dict[str, Any]]:
    with opencode.server.events(one.project) as events:
        session = opencode.server.session(one.project)
        for prompt in prompts:
            opencode.server.prompt(one.project, session, prompt, attached)
            until(lambda: len(models(one)) >= requests and shown(list(events), told) > 0)
            time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    return events


@pytest.mark.parametrize("failure", [DOWN, UNKNOWN_KEY])
def test_one_failure_one_other_model_also_for_the_persons_next_prompt(opencode: Runner, failure: dict[str, Any]) -> None:
    one = opened(opencode, [failure, DONE])
    played(opencode, one, ["Begin.", "Go on."], 2, "goes on with scripted/spare")
    assert models(one) == ["scripted", "spare", "spare"]


def test_a_model_that_has_recovered_is_asked_again(opencode: Runner) -> None:
    one = opened(opencode, [UNKNOWN_KEY, DONE], cooldown_seconds=0)
    played(opencode, one, ["Begin.", "Go on."], 2, "goes on with scripted/spare")
    assert models(one) == ["scripted", "spare", "scripted"]


def test_what_was_attached_to_the_prompt_is_the_other_models_too(opencode: Runner) -> None:
    one = opened(opencode, [UNKNOWN_KEY, DONE])
    (one.project / "colours.txt").write_text("crimson and ochre")
    played(opencode, one, ["Begin."], 2, "goes on with scripted/spare", one.project / "colours.txt")
    assert models(one) == ["scripted", "spare"]
    assert "Begin." in one.script.requests[1].body
    assert "crimson and ochre" in one.script.requests[1].body


def test_when_the_other_model_fails_too_the_session_waits(opencode: Runner) -> None:
    one = opened(opencode, [UNKNOWN_KEY])
    events = played(opencode, one, ["Begin."], 2, "No other model is left")
    assert models(one) == ["scripted", "spare"]
    assert shown(events, "No other model is left") == 1


def test_after_the_persons_abort_no_other_model_is_asked(opencode: Runner) -> None:
    one = opened(opencode, [DOWN], retries=9)
    with opencode.server.events(one.project) as events:
        session = opencode.server.session(one.project)
        body = {"parts": [{"type": "text", "text": "Begin."}]}
        opencode.server.request("POST", f"/session/{session}/prompt_async", one.project, body)
        until(lambda: any("'retry'" in str(event) for event in list(events)))
        opencode.server.request("POST", f"/session/{session}/abort", one.project)
        until(lambda: any(event.get("type") == "session.idle" for event in list(events)))
        time.sleep(SETTLED)
        opencode.server.dispose(one.project)
    assert set(models(one)) == {"scripted"}
    assert shown(events, "goes on with") == 0
