"""Tools that a plugin brings for the model to call, beside the hooks that it brings for the host."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_type_hints

import anyio
from pydantic import BaseModel, ValidationError

from .client import HostClient
from .session import Session


class ToolError(Exception):
    """The call cannot be done; the message tells the model why and what to do instead."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What the model reads, and what the host may show beside it."""

    output: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: ``arguments`` is a pydantic model whose field descriptions the model reads; ``deadline_s`` in seconds.

    ``permission`` is what the host asks its person for before the tool runs, by the host's own name (``edit``); it is asked
    where a host lets tools of plugins ask.

    ``run`` gets the validated arguments; it returns text or a ``ToolOutput``, and raises ``ToolError`` for what the
    model can mend.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any, Session, HostClient], Awaitable[str | ToolOutput]]
    deadline_s: float = 60.0
    permission: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, without references: hosts hand on the properties alone."""
        return _schema_of(self.arguments)


@cache
def _schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """Made once: a host that watches for changes asks for it all the time, and it takes milliseconds."""
    schema = arguments.model_json_schema()
    inlined: dict[str, Any] = _inlined(schema, schema.pop("$defs", {}))
    return inlined


def _inlined(schema: Any, definitions: Mapping[str, Any], above: tuple[str, ...] = ()) -> Any:
    """The schema with every reference replaced by what it refers to; a definition within itself is only told by its type."""
    if isinstance(schema, list):
        return [_inlined(one, definitions, above) for one in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if not isinstance(reference, str):  # a property may have this name
        return {key: _inlined(value, definitions, above) for key, value in schema.items()}
    name, beside = reference.removeprefix("#/$defs/"), {key: value for key, value in schema.items() if key != "$ref"}
    target = definitions.get(name, {})
    if name in above:
        return {key: value for key, value in target.items() if key == "type"} | beside
    return _inlined(target | beside, definitions, (*above, name))


def tool(
    name: str, description: str, *, deadline_s: float = 60.0, permission: str = ""
) -> Callable[[Callable[[Any, Session, HostClient], Awaitable[str | ToolOutput]]], Tool]:
    """Make a ``Tool`` of ``async def run(args: Arguments, session, client)``; its first annotation is the model."""

    def made(run: Callable[[Any, Session, HostClient], Awaitable[str | ToolOutput]]) -> Tool:
        return Tool(name, description, next(iter(get_type_hints(run).values())), run, deadline_s, permission)

    return made


async def run_tool(one: Tool, args: Mapping[str, Any], session: Session, client: HostClient) -> ToolOutput:
    """Validate and run; every failure is a ``ToolError`` that names the tool and the argument."""
    try:
        arguments = one.arguments.model_validate(dict(args))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors(include_url=False, include_input=False)
        )
        raise ToolError(f"{one.name} was not called: {wrong}. Correct the arguments and call it again.") from None
    try:
        with anyio.fail_after(one.deadline_s):
            result = await one.run(arguments, session, client)
    except TimeoutError:
        raise ToolError(f"{one.name} did not end within {one.deadline_s:g} s and was stopped.") from None
    return ToolOutput(result) if isinstance(result, str) else result
