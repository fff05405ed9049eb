"""``matrixx mcp``."""

from pathlib import Path

import click

from . import _options


@click.command()
@_options.project
def command(project: Path) -> None:
    """Offer the tools of plugins over MCP.

    For any host that speaks MCP, on standard input and output. Every call passes the hooks. Needs the extra: pip install 'matrixx-core[mcp]'.
    """
    import anyio

    from matrixx_core.errors import MatrixxError

    try:
        from ..hosts.mcp import serve
    except ModuleNotFoundError as error:
        raise MatrixxError(f"{error}; install what this command needs: pip install 'matrixx-core[mcp]'") from None
    anyio.run(serve, project)
