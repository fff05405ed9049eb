"""The tools of plugins as an MCP server (the official SDK, 2.x): for hosts that take no tools from a plugin."""

import os
from importlib.metadata import version
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from matrixx_core.events import ToolCall
from matrixx_core.host import Host
from matrixx_core.tools import ToolError
from matrixx_core.watchdog import watching
from matrixx_core.wire import claim_stdio

SESSION = "mcp"
"""MCP says nothing of the host's sessions: all calls of one server are one session."""


async def serve(project: Path) -> None:
    """Answer on standard input and output until the other side hangs up."""
    source, sink = claim_stdio()
    reader = anyio.wrap_file(TextIOWrapper(os.fdopen(source, "rb"), "utf-8", errors="replace"))
    writer = anyio.wrap_file(TextIOWrapper(os.fdopen(sink, "wb"), "utf-8"))
    async with Host.open(project) as host, stdio_server(reader, writer) as (incoming, outgoing):
        server = _server(host)
        with watching(host.rules.running):
            await server.run(incoming, outgoing, server.create_initialization_options())


def _server(host: Host) -> Server[Any]:
    numbers = count(1)

    async def listed(_context: ServerRequestContext[Any], _page: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        host.refresh()
        tools = [types.Tool(name=one.name, description=one.description, input_schema=one.parameters) for one in host.tools.values()]
        return types.ListToolsResult(tools=tools)

    async def called(_context: ServerRequestContext[Any], asked: types.CallToolRequestParams) -> types.CallToolResult:
        call = ToolCall(
            session_id=SESSION,
            call_id=f"mcp_{next(numbers)}",
            tool=asked.name,
            args=asked.arguments or {},
            directory=host.directory,
        )
        try:
            text, failed = (await host.call_tool(call)).output, False
        except ToolError as error:
            text, failed = str(error), True
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server("matrixx", version=version("matrixx-core"), on_list_tools=listed, on_call_tool=called)
