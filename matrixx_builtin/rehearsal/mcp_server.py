"""A whole MCP server in forty lines, so that a rehearsal needs no package: ``put_file(path, text)``, and a tool for each name on the command line."""

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
        named = [{"name": name, "description": f"Run {name}.", "inputSchema": {"type": "object"}} for name in sys.argv[1:]]
        return {"tools": [{"name": "put_file", "description": "Write a file.", "inputSchema": SCHEMA}, *named]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": run(params["name"], params.get("arguments") or {})}]}
    return {} if method == "ping" else None


def run(name: str, arguments: dict[str, str]) -> str:
    """What a call answers; only ``put_file`` does anything."""
    if name == "put_file":
        Path(arguments["path"]).write_text(arguments["text"], "utf-8")
    return f"{name} was run"


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params") or {})
    said = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
    sys.stdout.flush()
