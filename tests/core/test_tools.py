"""A plugin's tools: validated, bounded, and guarded like any other call."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, Field

from matrixx_core import Block, HostClient, Inject, Session, Tool, ToolCall, ToolError, ToolFailure, ToolOutput, guard, hookimpl, tool
from matrixx_core.loading import load
from matrixx_core.testing import Rig, call


class Text(BaseModel):
    text: str = Field(description="What to say.")
    times: int = Field(default=1, ge=1, le=3)


@tool("say", "Say it again.")
async def say(args: Text, session: Session, client: HostClient) -> str:
    return f"{session.id}: {args.text * args.times}"


@tool("refuse", "Never works.")
async def refuse(args: Text, session: Session, client: HostClient) -> ToolOutput:
    raise ToolError("the moon is full")


@tool("hang", "Never ends.", deadline_s=0.05)
async def hang(args: Text, session: Session, client: HostClient) -> str:
    await anyio.sleep(600)
    return ""


def bringing(*offered: Tool, name: str = "brings", **hooks: Callable[..., Any]) -> ModuleType:
    @hookimpl
    def tools() -> Sequence[Tool]:
        return offered

    module = ModuleType(name)
    vars(module).update({"tools": tools, **hooks})
    return module


def called(rig: Rig, name: str, **args: Any) -> str:
    async def run() -> ToolOutput:
        return await rig.host.call_tool(call(name, **args))

    return anyio.run(run).output


def test_a_tool_gets_validated_arguments_and_the_callers_session() -> None:
    assert called(Rig(bringing(say)), "say", text="hi", times="2") == "ses_test: hihi"


@pytest.mark.parametrize(
    ("name", "args", "told"),
    [
        ("say", {}, "say was not called: text: Field required"),
        ("say", {"text": "x", "times": 9}, "times: Input should be less than or equal to 3"),
        ("sya", {"text": "x"}, "there is no tool 'sya'; did you mean 'say'?"),
        ("refuse", {"text": "x"}, "the moon is full"),
        ("hang", {"text": "x"}, "hang did not end within 0.05 s"),
    ],
)
def test_what_goes_wrong_is_told_so_that_the_model_can_mend_it(name: str, args: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolError) as caught:
        called(Rig(bringing(say, refuse, hang)), name, **args)
    assert told in str(caught.value)


def test_its_call_passes_the_same_guards_and_notes() -> None:
    @guard
    def tool_execute_before(call: ToolCall) -> Block | Inject:
        return Block("not that") if call.args["text"] == "bad" else Inject("mind this")

    @guard
    def tool_execute_failed(failure: ToolFailure) -> Inject:
        return Inject("try tomorrow")

    rig = Rig(bringing(say, refuse, tool_execute_before=tool_execute_before, tool_execute_failed=tool_execute_failed))
    assert called(rig, "say", text="ok") == "ses_test: ok\n\nmind this"
    with pytest.raises(ToolError, match="not that"):
        called(rig, "say", text="bad")
    with pytest.raises(ToolError, match="the moon is full\n\ntry tomorrow\n\nmind this"):
        called(rig, "refuse", text="ok")


def test_of_two_tools_with_one_name_the_first_stays_and_both_are_named() -> None:
    plugins = load({"a": bringing(say, name="a"), "b": bringing(say.__class__("say", "", Text, say.run), name="b")})
    assert plugins.tools["say"][0] == "a" and "'b' and 'a' both bring a tool 'say'" in plugins.problems[0]


def test_a_plugin_whose_tools_cannot_be_had_is_named() -> None:
    @hookimpl
    def tools() -> Sequence[Tool]:
        raise KeyError("oops")

    module = ModuleType("broken")
    vars(module)["tools"] = tools
    assert "its tools cannot be had: KeyError" in load({"broken": module}).failed[0].reason


def test_the_schema_tells_the_model_what_to_give() -> None:
    assert say.parameters["properties"]["text"] == {"description": "What to say.", "title": "Text", "type": "string"}
    assert say.parameters["required"] == ["text"]


class Leaf(BaseModel):
    name: str = Field(description="Its name.")


class Tree(BaseModel):
    leaf: Leaf = Field(description="The first.")
    leaves: list[Leaf | None] = []
    below: dict[str, "Tree"] = {}


class Odd(BaseModel):
    named: str = Field(alias="$ref")
    trees: tuple[Tree, ...] = ()


@tool("nested", "Takes a tree.")
async def nested(args: Tree, session: Session, client: HostClient) -> str:
    return args.leaf.name


@tool("odd", "Has an argument with the name of a keyword.")
async def odd(args: Odd, session: Session, client: HostClient) -> str:
    return args.named


def test_a_tools_schema_refers_to_nothing_outside_itself() -> None:
    properties = nested.parameters["properties"]
    leaf = {"type": "object", "title": "Leaf", "required": ["name"]}
    leaf |= {"properties": {"name": {"type": "string", "title": "Name", "description": "Its name."}}}
    assert properties["leaf"] == leaf | {"description": "The first."}
    assert properties["leaves"]["items"]["anyOf"] == [leaf, {"type": "null"}]
    assert properties["below"]["additionalProperties"] == {"type": "object"}
    assert "$defs" not in nested.parameters
    assert properties.keys() == {"leaf", "leaves", "below"}
    assert odd.parameters["properties"]["$ref"]["type"] == "string"
    assert odd.parameters["properties"]["trees"]["items"]["properties"]["leaf"]["properties"] == leaf["properties"]
