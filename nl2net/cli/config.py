"""``nl2net config``: the settings in force."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="config")(config)


def config(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show the settings in force and where files lie."""
    from nl2net.config import load_settings
    from nl2net.locations import default_locations

    locations = default_locations()
    settings = load_settings(locations=locations).model_dump()
    folders = {name: str(getattr(locations, name)) for name in ("config", "data", "cache", "runtime", "egress_log")}
    if as_json:
        typer.echo(json.dumps({"version": 1, "settings": settings, "locations": folders}))
        return
    for name, value in settings.items():
        typer.echo(f"{name} = {value if value is not None else '(default)'}")
    typer.echo("")
    for name, path in folders.items():
        typer.echo(f"{name}: {path}")
    typer.echo(
        f"\nSet values in {locations.config / 'config.toml'}, in nl2net.toml of a project, or as NL2NET_NAME=VALUE."
    )
