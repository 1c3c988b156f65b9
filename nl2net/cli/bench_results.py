"""``nl2net bench report`` and ``nl2net bench export``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from nl2net.cli.bench import Json, bench_app, print_json


@bench_app.command("report")
def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; shards of one run are put together.")],
    compare: Annotated[
        tuple[str, str] | None, typer.Option("--compare", help="Two agents, or run folders, to compare alone.")
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a self-contained page.")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Write correctness against safety as a picture.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML.")] = None,
    board: Annotated[Path | None, typer.Option("--board", help="Add the runs to a leaderboard file.")] = None,
    fewest: Annotated[int, typer.Option("--fewest", min=1, help="Least number of tasks of a row of the board.")] = 100,
    as_json: Json = False,
) -> None:
    """Report runs by application and level, and compare agents on the tasks that they share."""
    from nl2net.benchmark import bench_report, bench_results
    from nl2net.benchmark import board as boards
    from nl2net.locations import atomic_write

    entries = bench_results.open_entries([*runs, *(Path(name) for name in compare or () if Path(name).is_dir())])
    chosen = bench_results.choose(entries, compare) if compare else entries
    pairs = bench_results.pairs_of(chosen)
    pages: tuple[tuple[Path | None, Callable[[], bytes]], ...] = (
        (html, lambda: bench_report.render_html(entries, pairs).encode()),
        (png, lambda: bench_report.plot_correct_and_safe(entries)),
        (junit, lambda: bench_report.render_junit(entries).encode()),
    )
    for path, render in pages:
        if path is not None:
            with atomic_write(path) as stream:
                stream.write(render())
            typer.echo(f"written: {path}", err=True)
    rows = []
    if board is not None:
        secret = os.environ.get(boards.SECRET_VARIABLE, "")
        rows = boards.add_entries(board, entries, secret=secret, fewest=fewest)
        typer.echo(
            f"written: {board}" + ("" if secret else f" (unsigned: {boards.SECRET_VARIABLE} is not set)"), err=True
        )
    if as_json:
        print_json(bench_results.report_json(entries, pairs, rows))
        return
    texts = [bench_report.render_text(entry) for entry in entries]
    texts += [text for text in (bench_report.render_pairs(pairs, chosen),) if text]
    texts += [boards.render_board(rows)] if rows else []
    typer.echo("\n".join(texts), nl=False)


@bench_app.command("export")
def export_command(
    source: Annotated[Path, typer.Argument(help="Run folder, or folder of a generated suite with its keys.")],
    out: Annotated[Path, typer.Option("--out", help="JSON lines to write; a manifest is written beside them.")],
    format_: Annotated[str, typer.Option("--format", help="sft or rl-tasks.")] = "sft",
    as_json: Json = False,
) -> None:
    """Write training data of the development split: verified programs and repairs as chats, or tasks for learners."""
    from nl2net.benchmark.export import export

    found = export(source, out, form=format_)
    if as_json:
        print_json(found)
        return
    dropped = ", ".join(f"{name} {count}" for name, count in found["left_out"].items())
    typer.echo(f"{found['lines']} lines -> {out}" + (f"; left out: {dropped}" if dropped else ""))
