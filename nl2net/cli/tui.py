"""``nl2net tui``: the terminal application, or the same in a browser on loopback."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from nl2net.cli.graph_options import ReadFlags, read_flags

_GRAPH = typer.Option("--graph", "-g", help="File, registered graph or sample; default the one of last time.")
_UNSEALED = typer.Option(
    "--i-accept-unsealed-execution", help="Run programs even where the operating system cannot seal them."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="tui")(read_flags(tui))


def tui(
    flags: ReadFlags,
    graph: Annotated[str, _GRAPH] = "",
    model: Annotated[str | None, typer.Option("--model", "-m", help="Model name.")] = None,
    web: Annotated[bool, typer.Option("--web", help="Serve it in a browser, on this machine only.")] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of --web; 0 takes a free one.")] = 8620,
    unsealed: Annotated[bool, _UNSEALED] = False,
) -> None:
    """Open the terminal application."""
    from nl2net.errors import UserError

    if web:
        from nl2net.tui.web import serve

        serve(_arguments(graph, model, unsealed=unsealed), port=port)
        return
    # In a browser there is no terminal either, but a driver of its own.
    if not sys.stdout.isatty() and "TEXTUAL_DRIVER" not in os.environ:
        raise UserError("the terminal application needs a terminal", hint="Use `nl2net ask` in scripts and pipes.")
    from nl2net.config import load_settings
    from nl2net.locations import default_locations
    from nl2net.tui.app import NetworkApp
    from nl2net.tui.desk import Desk
    from nl2net.tui.state import Remembered

    locations = default_locations()
    settings = load_settings({"model": model}, locations=locations)
    desk = Desk(
        settings, locations, accept_unsealed=unsealed, read_options=flags.options(),
        memory=Remembered.load(locations),
    )  # fmt: skip
    NetworkApp(desk, graph=graph).run()


def _arguments(graph: str, model: str | None, *, unsealed: bool) -> list[str]:
    arguments = ["--graph", graph] if graph else []
    arguments += ["--model", model] if model else []
    return arguments + (["--i-accept-unsealed-execution"] if unsealed else [])
