"""``nl2net golden``: make suites, run an agent over them, report and compare runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

golden_app = typer.Typer(no_args_is_help=True, help="Golden suites: questions with proven answers.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    app.add_typer(golden_app, name="golden")


def _print_json(data: Any) -> None:
    import json

    typer.echo(json.dumps(data, ensure_ascii=False, indent=1, default=str))


@golden_app.command("generate")
def generate_command(
    out: Annotated[Path, typer.Option("--out", help="Suite file to write.")],
    application: Annotated[str, typer.Option("--application", "-a", help="traffic, planning or all.")] = "all",
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Cases per application.")] = 200,
    seed: Annotated[str, typer.Option("--seed", help="Any text; another one gives fresh questions and graphs.")] = "1",
    split: Annotated[str, typer.Option("--split", help="dev or eval.")] = "eval",
    graphs: Annotated[int, typer.Option("--graphs", min=1, help="Graphs per application.")] = 12,
    size: Annotated[str, typer.Option("--size", help="small, medium or full, for planning.")] = "",
    kind: Annotated[str, typer.Option("--kind", help="capacity or chain, for planning.")] = "",
    flavour: Annotated[str, typer.Option("--flavour", help="malt, clos, wan, fattree or backbone, for planning.")] = "",
    as_json: Json = False,
) -> None:
    """Make a suite; the same options give the same bytes on any machine."""
    from nl2net.errors import UserError
    from nl2net.golden.case import Split
    from nl2net.golden.catalogue import APPLICATIONS
    from nl2net.golden.generate import Recipe
    from nl2net.golden.suite import generate_suite, write_suite

    if split not in tuple(Split):
        raise UserError(f"unknown split {split!r}", hint="Use dev or eval.")
    if size not in ("", "small", "medium", "full"):
        raise UserError(f"unknown size {size!r}", hint="Use small, medium or full.")
    names = APPLICATIONS if application == "all" else (application,)
    recipes = [
        Recipe(
            name,
            seed,
            Split(split),
            count=count,
            graphs=graphs,
            size=size,
            kind=kind if name == "planning" or len(names) == 1 else "",
            flavour=flavour,
        )
        for name in names
    ]
    suite = generate_suite(recipes, name=out.stem)
    write_suite(suite, out)
    header = suite.header
    if as_json:
        _print_json({"path": str(out), "digest": header.digest, "counts": header.counts, "rejects": header.rejects})
        return
    typer.echo(f"{len(suite.cases)} cases -> {out}\n{header.digest}")
    for key, found in header.counts.items():
        typer.echo(f"{key}: " + ", ".join(f"{name} {number}" for name, number in found.items()))
    rejected = ", ".join(f"{name} {number}" for name, number in header.rejects.items())
    typer.echo(f"turned away by the gate: {rejected or 'none'}\nkept: 0 unsafe, 0 no-op, 0 duplicate")


@golden_app.command("list")
def list_command(
    suite: Annotated[
        str | None, typer.Argument(help="Suite file or shipped suite; all shipped ones if left out.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Most cases to show.")] = 50,
    as_json: Json = False,
) -> None:
    """List the shipped suites, or the questions of one suite."""
    from dataclasses import asdict

    from nl2net.golden.suite import load_suite, shipped_suites

    if suite is None:
        headers = {name: load_suite(path).header for name, path in shipped_suites().items()}
        if as_json:
            _print_json({name: asdict(header) for name, header in headers.items()})
            return
        for name, header in headers.items():
            total = sum(header.counts["application"].values())
            typer.echo(f"{name:<16} {total:>5} cases  {', '.join(header.splits):<6} {header.digest[:19]}")
        return
    cases = load_suite(suite).cases
    if as_json:
        keys = ("id", "application", "intent", "level", "type", "outcome", "question")
        _print_json([{key: getattr(case, key) for key in keys} for case in cases[:limit]])
        return
    for case in cases[:limit]:
        typer.echo(f"{case.id}  {case.level:<6} {case.type:<7} {case.outcome:<19} {case.question}")
    if len(cases) > limit:
        typer.echo(f"... {len(cases) - limit} more; raise --limit", err=True)


@golden_app.command("run")
def run_command(
    suite: Annotated[str, typer.Option("--suite", help="Suite file or shipped suite.")],
    agent: Annotated[str, typer.Option("--agent", help="assistant, oracle or noop.")] = "assistant",
    model: Annotated[str | None, typer.Option("--model", help="Model of the assistant.")] = None,
    samples: Annotated[int | None, typer.Option("--samples", min=1, help="Programs per question.")] = None,
    library: Annotated[str | None, typer.Option("--library", help="auto, networkx, pandas or sql.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only that many cases, a random part.")] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Repetitions of each case.")] = 1,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Questions at the same time.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Order of the cases, and the agent's own seed.")] = 1,
    max_cost: Annotated[float | None, typer.Option("--max-cost", min=0, help="USD for the whole run.")] = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Tokens for the whole run.")] = None,
    max_time: Annotated[float | None, typer.Option("--max-time", min=0, help="Seconds for the whole run.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; one given again is resumed.")] = None,
    as_json: Json = False,
) -> None:
    """Let an agent answer a suite; stop at any time and go on with the same --out."""
    from nl2net.benchmark.golden_runs import GoldenRun, run_golden
    from nl2net.benchmark.report import render_text
    from nl2net.benchmark.runs import Caps, Record
    from nl2net.benchmark.summary import summarise, summary_json

    options = GoldenRun(
        suite=suite, agent=agent, model=model, samples=samples, library=library, limit=limit, trials=trials, seed=seed
    )

    def progress(record: Record) -> None:
        typer.echo(f"{record.outcome:<16} {record.seconds:6.2f} s  {record.question}", err=True)

    caps = Caps(max_cost, max_tokens, max_time)
    try:
        finished = run_golden(options, out, caps=caps, workers=workers, progress=None if as_json else progress)
    except KeyboardInterrupt:
        typer.echo("stopped; the same command with the same --out goes on", err=True)
        raise
    summary = summarise(finished.records, finished.cases)
    if as_json:
        _print_json({"run": str(finished.path), "agent": agent, **summary_json(summary)})
    else:
        typer.echo(render_text(finished.manifest, summary) + f"run folder: {finished.path}")
    if summary.void:
        raise typer.Exit(1)


@golden_app.command("report")
def report_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write a self-contained page.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML.")] = None,
    as_json: Json = False,
) -> None:
    """Report a run by level, application and result type, with intervals."""
    from dataclasses import asdict

    from nl2net.benchmark.golden_runs import open_golden
    from nl2net.benchmark.report import render_html, render_junit, render_text
    from nl2net.benchmark.summary import summarise, summary_json
    from nl2net.locations import atomic_write

    finished = open_golden(run)
    summary = summarise(finished.records, finished.cases)
    pages = ((html, render_html, (finished.manifest, summary, finished.records)),
             (junit, render_junit, (finished.manifest, finished.records)))  # fmt: skip
    for path, render, arguments in pages:
        if path is not None:
            with atomic_write(path) as stream:
                stream.write(render(*arguments).encode())
            typer.echo(f"written: {path}", err=True)
    if as_json:
        _print_json({"manifest": asdict(finished.manifest), **summary_json(summary)})
    else:
        typer.echo(render_text(finished.manifest, summary), nl=False)


@golden_app.command("compare")
def compare_command(
    first: Annotated[Path, typer.Argument(help="Run folder A.")],
    second: Annotated[Path, typer.Argument(help="Run folder B.")],
    as_json: Json = False,
) -> None:
    """Compare two runs of one suite by an exact paired test, and list the questions that flipped."""
    from dataclasses import asdict

    from nl2net.benchmark.golden_runs import open_golden
    from nl2net.benchmark.report import render_comparison
    from nl2net.benchmark.summary import compare_runs

    a, b = open_golden(first), open_golden(second)
    found = compare_runs(a.records, b.records)
    if as_json:
        _print_json({"a": asdict(a.manifest), "b": asdict(b.manifest), **asdict(found)})
    else:
        typer.echo(render_comparison(a.manifest, b.manifest, found), nl=False)
