"""``nl2net bench``: make dynamic suites, plan, run agents, report, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

bench_app = typer.Typer(no_args_is_help=True, help="Dynamic benchmark: any number of tasks with proven answers.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Applications = Annotated[
    str, typer.Option("--application", "-a", help="traffic, planning, routing, policy, several with commas, or all.")
]
Count = Annotated[int, typer.Option("--count", "-n", min=1, help="Tasks per application.")]
Seed = Annotated[str, typer.Option("--seed", help="Any text; another one gives fresh tasks.")]
Split = Annotated[str, typer.Option("--split", help="dev, eval, or test (eval behind a secret seed).")]
Level = Annotated[int | None, typer.Option("--level", min=0, max=3, help="Only this level.")]
Size = Annotated[str, typer.Option("--size", help="small, medium or full, for planning.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    from nl2net.cli import bench_results  # noqa: F401  (it adds `report` and `export`)

    app.add_typer(bench_app, name="bench")


def print_json(data: Any) -> None:
    """One JSON object on stdout."""
    import json

    typer.echo(json.dumps(data, ensure_ascii=False, indent=1, default=str))


@bench_app.command("generate")
def generate_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for suite.jsonl and keys.jsonl.")],
    application: Applications = "all",
    count: Count = 100,
    seed: Seed = "1",
    split: Split = "eval",
    level: Level = None,
    size: Size = "",
    earlier: Annotated[
        list[Path] | None, typer.Option("--earlier", help="Earlier suites to look for repetitions of.")
    ] = None,
    checked: Annotated[
        bool, typer.Option("--audit/--no-audit", help="Solve every task by its key and by doing nothing.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Make a suite: questions in one file, keys in a second one with mode 0600; the same bytes on any machine."""
    from dataclasses import asdict

    from nl2net.benchmark.audit import audit
    from nl2net.benchmark.items import Order, applications_named
    from nl2net.benchmark.originality import originality
    from nl2net.benchmark.suites import generate_suite, write_suite

    suite = generate_suite(Order(applications_named(application), count, seed, split, level, size))
    public, keys = write_suite(suite, out)
    header = suite.header
    overlaps = originality(suite, earlier or [])
    faults = asdict(audit(suite.items)) if checked else None
    if as_json:
        print_json(
            {
                "suite": str(public),
                "keys": str(keys),
                "digest": header.digest,
                "counts": header.counts,
                "rejects": header.rejects,
                "audit": faults,
                "overlap": overlaps,
            }
        )
    else:
        _show_generated(suite, (public, keys), faults, overlaps)
    if faults and any(faults.values()):
        raise typer.Exit(1)


def _show_generated(suite: Any, paths: tuple[Path, Path], faults: Any, overlaps: Any) -> None:
    header, (public, keys) = suite.header, paths
    typer.echo(f"{len(suite.items)} tasks -> {public}\nkeys -> {keys}\n{header.digest}")
    for key, found in header.counts.items():
        typer.echo(f"{key}: " + ", ".join(f"{name} {number}" for name, number in found.items()))
    rejected = ", ".join(f"{name} {number}" for name, number in header.rejects.items())
    typer.echo(f"turned away by the gate: {rejected or 'none'}")
    if faults is not None:
        counted = ", ".join(f"{count} {name.replace('_', '-')}" for name, count in faults.items())
        typer.echo(f"audit of what was kept: {counted}")
    for name, part in overlaps.items():
        raw, masked = part["as_written"], part["names_masked"]
        typer.echo(
            f"overlap with {name}: {raw['identical']} questions word for word; {raw['n']}-grams shared by "
            f"{raw['questions']:.1%} of the questions, {masked['questions']:.1%} with names and numbers masked"
        )


@bench_app.command("plan")
def plan_command(
    more: Annotated[list[float] | None, typer.Argument(help="Further rates.", show_default=False)] = None,
    rates: Annotated[str | None, typer.Option("--rates", help="Expected rates of two or more agents.")] = None,
    width: Annotated[float | None, typer.Option("--width", min=0.001, max=0.99, help="Width of an interval.")] = None,
    rate: Annotated[float, typer.Option("--rate", min=0.0, max=1.0, help="Expected rate, for --width.")] = 0.5,
    power: Annotated[float, typer.Option("--power", min=0.01, max=0.999, help="Chance to tell agents apart.")] = 0.8,
    disagreement: Annotated[
        float | None, typer.Option("--disagreement", help="Share of cases on which two agents differ, from a pilot.")
    ] = None,
    looks: Annotated[
        int | None, typer.Option("--looks", min=1, max=20, help="Planned looks at a running test.")
    ] = None,
    spending: Annotated[str, typer.Option("--spending", help="obrien-fleming or pocock.")] = "obrien-fleming",
    simulate: Annotated[bool, typer.Option("--simulate", help="Simulate agents of these skills.")] = False,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Simulated suites per size.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the simulation.")] = 1,
    as_json: Json = False,
) -> None:
    """Say how many tasks are needed: for an interval of a width, or to tell agents of given rates apart."""
    from nl2net.benchmark.sample_sizes import Plan, make_plan, render_plan
    from nl2net.errors import UserError

    try:
        given = [float(part) for part in (rates or "").split(",") if part] + list(more or [])
    except ValueError:
        raise UserError(f"{rates!r} are no rates", hint="Write --rates 0.465 0.383, numbers between 0 and 1.") from None
    plan = Plan(
        tuple(given), width=width, rate=rate, power=power, disagreement=disagreement, looks=looks, spending=spending,
        simulate=simulate, trials=trials, seed=seed,
    )  # fmt: skip
    found = make_plan(plan)
    if as_json:
        print_json(found)
    else:
        typer.echo(render_plan(found), nl=False)


@bench_app.command("run")
def run_command(
    agent: Annotated[str, typer.Option("--agent", help="assistant, direct, react, template, noop, oracle ...")],
    application: Applications = "all",
    count: Count = 100,
    seed: Seed = "1",
    split: Split = "eval",
    level: Level = None,
    size: Size = "",
    suite: Annotated[str, typer.Option("--suite", help="Folder of a generated suite, in place of a seed.")] = "",
    model: Annotated[str | None, typer.Option("--model", help="Model of the agent.")] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Repetitions of each task.")] = 1,
    backend: Annotated[
        str, typer.Option("--backend", help="simulated or kernel, for routing and policy.")
    ] = "simulated",
    shard: Annotated[str, typer.Option("--shard", help="Part of the tasks, such as 2/8.")] = "1/1",
    workers: Annotated[int, typer.Option("--workers", min=1, help="Tasks at the same time.")] = 1,
    engine: Annotated[str | None, typer.Option("--engine", help="serial, threads, processes or ray.")] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="Run of another agent: stop at the look that decides.")
    ] = None,
    looks: Annotated[int, typer.Option("--looks", min=1, max=20, help="Planned looks, for --against.")] = 4,
    max_cost: Annotated[float | None, typer.Option("--max-cost", min=0, help="USD for the whole run.")] = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Tokens for the whole run.")] = None,
    max_time: Annotated[float | None, typer.Option("--max-time", min=0, help="Seconds for this start.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; one given again is resumed.")] = None,
    unsealed: Annotated[
        bool, typer.Option("--i-accept-unsealed-execution", help="Run even where programs cannot be sealed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Let an agent work on tasks; stop at any time and go on with the same --out."""
    from nl2net.benchmark.bench_records import BenchRecord
    from nl2net.benchmark.bench_report import render_text
    from nl2net.benchmark.bench_results import entry_of, run_json
    from nl2net.benchmark.bench_runs import BenchRun, run_bench
    from nl2net.benchmark.items import Order, applications_named
    from nl2net.benchmark.runs import Caps

    order = Order(applications_named(application), count, seed, split, level, size)
    options = BenchRun(agent, order, suite, model, trials, shard, backend, looks if against else 0)

    def progress(record: BenchRecord) -> None:
        typer.echo(f"{record.outcome:<16} {record.seconds:6.2f} s  {record.application}  {record.question}", err=True)

    try:
        finished = run_bench(
            options, out, caps=Caps(max_cost, max_tokens, max_time), workers=workers, engine=engine,
            progress=None if as_json else progress, accept_unsealed=unsealed, against=against,
        )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo("stopped; the same command with the same --out goes on", err=True)
        raise
    if finished.left_out:
        typer.echo(f"{agent} does not work on {', '.join(finished.left_out)}: left out", err=True)
    if finished.lost_calls:
        typer.echo(f"{finished.lost_calls} calls of an earlier start have no reply and count as spent", err=True)
    if finished.cut or finished.decided:
        typer.echo(f"stopped early: {finished.cut or finished.decided}", err=True)
    if finished.cut and not finished.records:
        raise typer.Exit(3)
    entry = entry_of(finished)
    if as_json:
        print_json(run_json(finished, entry))
    else:
        typer.echo(render_text(entry) + f"run folder: {finished.path}")
    if entry.summary.void:
        raise typer.Exit(1)
    if finished.cut:
        raise typer.Exit(3)
