"""The demo's payloads against recorded ones: no field may be there that OpenCode does not send, none be missing that hooks read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from matrixx_builtin.demo import payloads
from matrixx_builtin.demo.payloads import Conversation

RECORDED = sorted((Path(__file__).parents[2] / "data/opencode").glob("*.hooks.jsonl"))


def recorded(hook: str, tool: str = "") -> list[dict[str, Any]]:
    lines = (json.loads(line) for path in RECORDED for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line["hook"] == hook and (not tool or line["input"].get("tool") == tool)]


def transcript() -> list[dict[str, Any]]:
    talk = Conversation("/shop")
    talk.sent(talk.prompt("hello")[1])
    talk.called("read", "call_1", {"status": "completed", "input": {}, "output": "x", "title": "t", "metadata": {}, "time": {}})
    return talk.messages


def played() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    yield "chat.message", "", *Conversation("/shop").prompt("hello")
    yield "tool.execute.before", "bash", *payloads.before("bash", "call_1", {"command": "ls", "description": "look"})
    yield "tool.execute.after", "grep", *payloads.after("grep", "call_1", {"pattern": "x"}, {"title": "x", "output": "", "metadata": {}})
    yield "shell.env", "", *payloads.shell_env("/shop", "call_1")
    yield "experimental.text.complete", "", *Conversation("/shop").said("done")
    yield "experimental.session.compacting", "", *payloads.compacting()
    for hook, inp, output in payloads.request(transcript()):
        yield hook, "", inp, output


@pytest.mark.parametrize(("hook", "tool", "inp", "output"), list(played()))
def test_a_payload_has_only_fields_that_were_recorded(hook: str, tool: str, inp: dict[str, Any], output: dict[str, Any]) -> None:
    lines = recorded(hook, tool)
    assert lines
    assert inp.keys() <= set().union(*(line["input"] for line in lines))
    assert output.keys() <= set().union(*(line["output"] for line in lines))


def test_a_message_and_its_parts_have_only_fields_that_were_recorded() -> None:
    messages = [one for line in recorded("experimental.chat.messages.transform") for one in line["output"]["messages"]]
    for message in transcript():
        alike = [one for one in messages if one["info"]["role"] == message["info"]["role"]]
        assert message["info"].keys() <= set().union(*(one["info"] for one in alike))
        kind = message["parts"][0]["type"]
        assert message["parts"][0].keys() <= set().union(*(part for one in alike for part in one["parts"] if part["type"] == kind))


def test_broken_arguments_come_as_opencode_reports_them() -> None:
    (real,) = [line for line in recorded("tool.execute.before", "invalid") if "JSON parsing failed" in line["output"]["args"]["error"]]
    assert payloads.invalid_arguments("read", '{"filePath": "bro') == real["output"]["args"]
