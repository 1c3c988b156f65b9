"""``nl2net run``: replay a saved program in the sandbox, without a model."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from nl2net.cli.graph_options import ReadFlags, read_flags


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="run")(read_flags(run))


def run(
    script: Annotated[Path, typer.Argument(help="A script written by --save.")],
    graph: Annotated[str, typer.Option("--graph", "-g", help="File, registered graph or shipped sample.")],
    flags: ReadFlags,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON envelope.")] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Seconds for the run.")] = None,
    memory: Annotated[int | None, typer.Option("--memory", help="Megabytes for the run.")] = None,
    unsealed: Annotated[
        bool, typer.Option("--i-accept-unsealed-execution", help="Run even where the program cannot be sealed.")
    ] = False,
) -> None:
    """Replay a saved program on a network; no model is asked."""
    from dataclasses import replace

    from nl2net.assistant import load_script, open_assistant, run_script
    from nl2net.config import load_settings
    from nl2net.locations import default_locations

    saved = load_script(script)
    locations = default_locations()
    settings = load_settings({"timeout_s": timeout, "memory_mb": memory}, locations=locations)
    started = time.perf_counter()
    with open_assistant(
        graph, settings=settings, locations=locations, read_options=flags.options(), accept_unsealed=unsealed
    ) as opened:
        answer = run_script(opened.assistant, saved)
    timing = replace(answer.timing, load_s=opened.load_s, total_s=time.perf_counter() - started)
    answer = replace(answer, timing=timing)
    if as_json:
        typer.echo(json.dumps(answer.to_json(), ensure_ascii=False, default=str))
    else:
        from nl2net.cli.show_answer import print_answer

        print_answer(answer)
    raise typer.Exit(answer.exit_code)
