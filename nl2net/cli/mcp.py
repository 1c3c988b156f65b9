"""``nl2net mcp``: serve the Model Context Protocol over stdio."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="mcp")(mcp)


def mcp(
    results: Annotated[
        str, typer.Option("--mcp-results", help="What the client's model sees of results: none, summary or full.")
    ] = "none",
    model: Annotated[str | None, typer.Option("--model", "-m", help="Model name.")] = None,
) -> None:
    """Serve six tools to an MCP client over stdio; results stay here unless --mcp-results says otherwise."""
    from nl2net.config import load_settings
    from nl2net.errors import UserError
    from nl2net.locations import default_locations
    from nl2net.mcp_server import EXPOSURES, serve

    if results not in EXPOSURES:
        raise UserError(f"--mcp-results {results!r} is unknown", hint=f"Use {', '.join(EXPOSURES)}.")
    locations = default_locations()
    serve(load_settings({"model": model}, locations=locations), locations, results)  # type: ignore[arg-type]
