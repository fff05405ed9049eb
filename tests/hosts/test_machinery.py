"""The scenario machinery judges rightly, without any host program."""

import json
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from matrixx_builtin.rehearsal.model import DONE, Script, serving
from matrixx_builtin.rehearsal.turns import Message, Request, filled

from .played import Played, problems, state
from .scenario import File, Scenario, Turn
from .values import github_token

BARE = {"hook": "h", "needs": [], "prompts": ["p"], "turns": [{"tool": "t"}, {"say": "s"}], "expect": []}


def played(tmp_path: Path, *expect: Mapping[str, Any], results: tuple[str, ...] = ("out",), **more: Any) -> Played:
    """What came of a run whose first call had these results, one in each request."""
    (tmp_path / "there.txt").write_text("text")
    scenario = Scenario.model_validate({**BARE, "expect": expect})
    requests = [Request("main", (Message("user", "ask"), Message("tool", text, 1)), f"body {text}") for text in results]
    return Played(scenario, tmp_path, "main", {"there.txt": b"text", "missing.txt": None}, requests, **more)


@pytest.mark.parametrize(
    ("expectation", "holds"),
    [
        ({"file": "there.txt", "equals": "text"}, True),
        ({"file": "there.txt", "contains": "tex", "lacks": "x "}, True),
        ({"file": "there.txt", "contains": "other"}, False),
        ({"file": "there.txt", "unchanged": True}, True),
        ({"file": "missing.txt", "unchanged": True}, True),
        ({"file": "missing.txt", "lacks": "x"}, False),
        ({"file": "missing.txt", "gone": True}, True),
        ({"file": "there.txt", "gone": True}, False),
        ({"result": 1, "contains": "out"}, True),
        ({"result": 1, "contains": "in"}, False),
        ({"result": 1, "at_most": 3}, True),
        ({"result": 1, "at_most": 2}, False),
        ({"result": 1, "stable": True}, False),
        ({"result": 2, "lacks": "anything"}, False),
        ({"user": 1, "ends_with": "sk"}, True),
        ({"user": 2, "lacks": "anything"}, False),
        ({"model": True, "contains": "body"}, True),
        ({"log": True, "lacks": "secret"}, False),
        ({"told": True, "contains": "why"}, True),
    ],
)
def test_an_expectation_holds_or_does_not(tmp_path: Path, expectation: dict[str, Any], holds: bool) -> None:
    assert (list(problems(played(tmp_path, expectation, log="a secret", told="why"))) == []) == holds


@pytest.mark.parametrize(("results", "holds"), [(("a", "a"), True), (("a", "b"), False), (("a",), False)])
def test_stable_means_the_same_bytes_more_than_once(tmp_path: Path, results: tuple[str, ...], holds: bool) -> None:
    assert (list(problems(played(tmp_path, {"result": 1, "stable": True}, results=results))) == []) == holds


def test_a_changed_file_is_told_with_what_it_was(tmp_path: Path) -> None:
    run = played(tmp_path, {"file": "there.txt", "unchanged": True})
    (tmp_path / "there.txt").write_text("else")
    ((_, why),) = problems(run)
    assert why == "there.txt was b'text' and is b'else'"


@pytest.mark.parametrize(
    "wrong",
    [
        {"expect": [{"file": "a"}]},
        {"expect": [{"contains": "a"}]},
        {"expect": [{"file": "a", "result": 1, "contains": "x"}]},
        {"expect": [{"file": "a", "contain": "x"}]},
        {"needs": ["magic"]},
        {"where": ["elsewhere"]},
        {"turn": []},
    ],
)
def test_a_mistake_in_a_scenario_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Scenario.model_validate({**BARE, **wrong})


def test_values_are_filled_in_everywhere_and_an_unknown_one_is_an_error() -> None:
    assert filled({"{{A}}": ["x{{A}}", {"n": 1}]}, {"A": "b"}) == {"b": ["xb", {"n": 1}]}
    with pytest.raises(KeyError):
        filled("{{B}}", {"A": "b"})
    assert github_token() != github_token()


@pytest.mark.parametrize(
    ("file", "expected"),
    [({"text": "ab", "repeat": 2}, b"abab"), ({"base64": "AP8="}, b"\0\xff"), ({"link": "nowhere"}, "nowhere"), ({"text": ""}, b"")],
)
def test_files_of_every_kind_are_written(tmp_path: Path, file: dict[str, Any], expected: bytes | str) -> None:
    File.model_validate(file).write(tmp_path / "folder/file")
    assert state(tmp_path / "folder/file") == expected


def test_an_executable_file_can_be_run(tmp_path: Path) -> None:
    File(text="#!/bin/sh\n", executable=True).write(tmp_path / "run.sh")
    assert (tmp_path / "run.sh").stat().st_mode & 0o111


def ask(url: str, headers: Mapping[str, str] | None = None) -> str:
    body = json.dumps({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/chat/completions", body, dict(headers or {})), timeout=10) as answer:
        return str(answer.read().decode())


def test_one_model_plays_several_scripts_at_once_each_to_its_own_asker() -> None:
    def kind(_body: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        return headers.get("x-kind", "main")

    with serving(kind) as model:
        one, first = model.play("one", {"main": [Turn(say="ONE"), Turn(tool="read", raw='{"broken": ')], "subagent": [Turn(say="SUB")]})
        two, second = model.play("two", {"main": [Turn(say="TWO", usage={"prompt_tokens": 7})]})
        assert "TWO" in (said := ask(two)) and '"total_tokens": 17' in said
        assert "ONE" in ask(one)
        assert '{\\"broken\\": ' in (called := ask(one)) and "call_main_1" in called
        assert "SUB" in ask(one, {"X-Kind": "subagent"})
        assert "done" in ask(two)
        assert (first.unplayed, second.unplayed) == (0, 0)
        assert [request.kind for request in first.requests] == ["main", "main", "subagent"]
        assert second.requests[0].messages == (Message("user", "hi"),)


def test_the_models_server_can_fail() -> None:
    with serving(lambda _body, _headers: "main") as model:
        url, _ = model.play("one", {"main": [Turn(error=503, body={"error": "busy"})]})
        with pytest.raises(urllib.error.HTTPError) as failed:
            ask(url)
        assert failed.value.code == 503
        failed.value.close()


def test_what_only_a_result_tells_is_in_later_turns_and_in_expectations(tmp_path: Path) -> None:
    turns = [
        {"tool": "make", "save": {"ID": "T-[0-9]+"}},
        {"tool": "use", "args": {"id": "{{ID}}"}, "save": {"LOST": "X-[0-9]+"}},
        {"say": "{{ID}} {{LOST}}"},
    ]
    scenario = Scenario.model_validate({**BARE, "turns": turns, "expect": [{"file": "{{ID}}.json", "contains": "{{LOST}}"}]})
    scenario = scenario.with_values({})
    script = Script({"main": list(scenario.turns)})
    asked = Message("user", "is T-1 there?")
    assert script.next(Request("main", (asked,), "")).tool == "make"
    results = (asked, Message("tool", "T-2", 1))
    assert script.next(Request("main", results, "")).args == {"id": "T-2"}
    assert script.next(Request("main", (*results, Message("assistant", ""), Message("tool", "T-3", 2)), "")).say == "T-2 {{LOST}}"
    assert script.next(Request("main", results, "")) == DONE
    (expected,) = scenario.with_values(script.saved).expect
    assert (expected.file, expected.contains) == ("T-2.json", "{{LOST}}")
