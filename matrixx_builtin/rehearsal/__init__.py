"""Real host programs with a scripted model, offline: what the canary, the demo and the tests of hosts play in."""

from pathlib import Path

MCP_SERVER = Path(__file__).with_name("mcp_server.py")
"""A program to be run with ``python -I``: an MCP server whose tools do next to nothing."""
