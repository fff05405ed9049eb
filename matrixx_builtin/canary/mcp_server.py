"""A whole MCP server in thirty lines, so that a canary needs no package: one tool, which writes a file."""

import json
import sys
from pathlib import Path
from typing import Any

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}, "required": ["path", "text"]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; ``None`` for a method that this server does not have."""
    if method == "initialize":
        info = {"name": "canary", "version": "1.0"}
        return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": "put_file", "description": "Write a file.", "inputSchema": SCHEMA}]}
    if method == "tools/call":
        Path(params["arguments"]["path"]).write_text(params["arguments"]["text"], "utf-8")
        return {"content": [{"type": "text", "text": "written"}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params") or {})
    said = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
    sys.stdout.flush()
