"""``matrixx_builtin.hosts``: which hooks cannot act on a host, and why."""

from types import ModuleType
from typing import Any

import click
import pytest

from matrixx_builtin.cli._engine import LIFECYCLE, steps_of
from matrixx_builtin.hosts import SUBJECTS, blind_spots, host_module, host_names, limits
from matrixx_core import Block, ChatMessage, Inject, Session, ToolCall, ToolResult, guard, observe, rewrite


def module(**hooks: Any) -> ModuleType:
    made = ModuleType("made")
    vars(made).update(hooks)
    return made


@guard
def judge(call: ToolCall) -> Block | Inject | None: ...


@rewrite
def change(result: ToolResult, session: Session) -> ToolResult | None: ...


@rewrite
async def speak(message: ChatMessage) -> Inject:
    return Inject(message.text)


@observe
def look(message: ChatMessage) -> None: ...


untyped = guard(lambda call: None)
"""A stranger's."""


TABLE: list[tuple[dict[str, Any], dict[str, str], list[str]]] = [
    ({"tool_execute_before": judge}, {"tool_execute_before": "block inject change"}, []),
    ({"tool_execute_before": judge}, {"tool_execute_before": "block"}, ["the host never lets a hook add text to a tool call"]),
    ({"tool_execute_before": judge}, {"tool_execute_before": "inject"}, ["the host never lets a hook refuse a tool call"]),
    ({"tool_execute_before": judge}, {}, ["the host never lets a hook see a tool call"]),
    ({"tool_execute_after": change}, {"tool_execute_after": "inject"}, ["the host never lets a hook change the result of a tool call"]),
    ({"chat_message": speak}, {"chat_message": "inject"}, []),
    ({"chat_message": look}, {"chat_message": ""}, []),
    ({"tool_execute_before": untyped}, {"tool_execute_before": ""}, []),
]


@pytest.mark.parametrize(("hooks", "obeyed", "told"), TABLE)
def test_what_a_host_does_not_obey_is_told(hooks: dict[str, Any], obeyed: dict[str, str], told: list[str]) -> None:
    assert blind_spots(steps_of({"made": module(**hooks)}), obeyed) == [("made", why) for why in told]


@pytest.mark.parametrize(
    ("hooks", "obeyed", "whole"),
    [
        ({"tool_execute_before": judge}, {}, True),
        ({"tool_execute_before": judge}, {"tool_execute_before": ""}, True),
        ({"tool_execute_before": judge}, {"tool_execute_before": "block"}, False),
        ({"tool_execute_before": judge, "tool_execute_after": change}, {"tool_execute_before": "block inject"}, False),
        ({"chat_message": look, "tool_execute_before": judge}, {"chat_message": ""}, False),
        ({"tool_execute_before": untyped, "tool_execute_after": change}, {"tool_execute_before": ""}, False),
        ({"host_closed": lambda: None, "tool_execute_before": judge}, {"host_closed": ""}, True),
    ],
)
def test_a_hook_that_can_do_nothing_is_told_from_one_that_can_do_a_part(hooks: dict[str, Any], obeyed: dict[str, str], whole: bool) -> None:
    (limit,) = limits(steps_of({"made": module(**hooks)}), obeyed)
    assert limit.plugin == "made" and limit.whole is whole


def test_hooks_that_can_do_nothing_come_first_and_no_reason_twice() -> None:
    hooks = {
        "part": module(tool_execute_before=judge),
        "none": module(tool_execute_after=change, chat_message=speak, messages_transform=rewrite(lambda transcript: None)),
    }
    told = limits(steps_of(hooks), {"tool_execute_before": "block"})
    assert [limit.plugin for limit in told] == ["none", "part"]
    assert sorted(told[0].denied) == ["see a prompt", "see the messages that the model reads", "see the result of a tool call"]


def test_every_hookspec_has_words() -> None:
    assert SUBJECTS.keys() | {"tools"} == set(LIFECYCLE)


@pytest.mark.parametrize("name", host_names())
def test_an_adapter_declares_only_hookspecs_that_exist_and_answers_that_have_a_name(name: str) -> None:
    obeyed = host_module(name).obeyed()
    assert obeyed.keys() <= set(LIFECYCLE)
    assert {kind for kinds in obeyed.values() for kind in kinds.split()} <= {"block", "allow", "change", "inject"}


def test_opencode_reports_everything_there_is_a_hookspec_for() -> None:
    assert host_module("opencode").obeyed().keys() == set(LIFECYCLE)


def test_an_unknown_adapter_is_told_with_the_known_ones() -> None:
    with pytest.raises(click.UsageError, match=r"there are: .*opencode"):
        host_module("emacs")
