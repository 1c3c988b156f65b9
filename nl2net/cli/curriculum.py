"""``nl2net curriculum``: train policies, find their weak spots, steer the benchmark, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

commands = typer.Typer(no_args_is_help=True, help="Find where a policy is weak, and train there.")

# Of generated traces for figures; training and validation use other seeds.
_TEST_TRACES = 20_261
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SpaceOption = Annotated[str | None, typer.Option("--space", help="A shipped space (full, narrow ...) or a TOML file.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    app.add_typer(commands, name="curriculum")


@commands.command("train")
def train(
    case: Annotated[str, typer.Argument(help="abr, cc or lb.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the run.")] = None,
    strategy: Annotated[str, typer.Option("--strategy", help="One or more, comma between.")] = "uniform,batch_gap",
    steps: Annotated[
        int, typer.Option("--steps", min=0, help="Environment steps of a job, search included; 0: the case's.")
    ] = 0,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seeds of every strategy.")] = 1,
    space: SpaceOption = None,
    generated: Annotated[
        float, typer.Option("--generated", min=0, max=1, help="abr: share of training sessions on generated traces.")
    ] = 0.5,
    traces: Annotated[
        str | None, typer.Option("--traces", help="Folder, or kind of generated traces, to evaluate on as well.")
    ] = None,
    resume: Annotated[Path | None, typer.Option("--resume", help="Go on with this run.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Train and evaluate policies; a run that was stopped goes on with --resume and gives the same bytes."""
    from dataclasses import replace

    from nl2net.curriculum.report import summarise, text_report
    from nl2net.curriculum.runs import open_run
    from nl2net.curriculum.train import train_all

    folder = _run_folder(out, resume)
    plan = _plan(case, folder, strategy, steps=steps, seeds=seeds, space=space, resume=resume is not None)
    if resume is None:
        plan = replace(plan, generated=generated if case == "abr" else 0.0)
    open_run(folder, plan, resume=resume is not None)
    try:
        train_all(plan, folder, say=lambda line: typer.echo(line, err=True))
    except KeyboardInterrupt:
        typer.echo(f"stopped; go on with: nl2net curriculum train {case} --resume {folder}", err=True)
        raise
    summary = summarise(folder)
    if traces is not None:
        summary["traces"] = _on_traces(plan, folder, traces)
    typer.echo(json.dumps(summary) if as_json else _train_text(text_report(summary), summary))


def _run_folder(out: Path | None, resume: Path | None) -> Path:
    from nl2net.errors import UserError

    if (out is None) == (resume is None):
        raise UserError("give either --out or --resume", hint="--out starts a run, --resume goes on with one.")
    return out or resume or Path()


def _plan(case: str, folder: Path, strategy: str, *, steps: int, seeds: int, space: str | None, resume: bool) -> Any:
    """The plan of the options; on resume the folder's own."""
    from nl2net.curriculum.cases import load_case
    from nl2net.curriculum.runs import Plan, load_plan
    from nl2net.curriculum.spaces import load_space
    from nl2net.curriculum.strategies import load_strategy
    from nl2net.errors import UserError

    if resume:
        found = load_plan(folder)
        if found.case != case:
            raise UserError(f"{folder} is a run of {found.case}, not of {case}")
        return found
    load_case(case)
    names = tuple(dict.fromkeys(name.strip() for name in strategy.split(",") if name.strip()))
    for name in names:
        load_strategy(name)
    loaded = load_case(case, load_space(case, space))
    return Plan(case, loaded.space, names, steps or loaded.learning.steps, seeds)


def _on_traces(plan: Any, folder: Path, traces: str) -> list[dict[str, Any]]:
    """Mean scores of every policy and rule on a folder of traces, or on 200 generated ones of a kind."""
    from nl2net.curriculum.cases import ORACLES, load_case
    from nl2net.curriculum.choosing import choose_policy
    from nl2net.curriculum.evaluate import lowest_tenth, play_traces
    from nl2net.curriculum.runs import job_folder
    from nl2net.curriculum.traces import load_folder
    from nl2net.curriculum.traces.generators import GENERATORS, generate

    case = load_case(plan.case, plan.space)
    found = generate(traces, seed=_TEST_TRACES, count=200) if traces in GENERATORS else load_folder(Path(traces))
    for note in sorted({f"{trace.source}: {note}" for trace in found for note in trace.notes})[:10]:
        typer.echo(f"note: {note}", err=True)
    names = {f"{s} seed {k}": str(job_folder(folder, s, k) / "policy.npz") for s, k in plan.jobs()}
    names |= {name: name for name in case.baselines if name not in ORACLES}
    rows = []
    for label, name in names.items():
        scores = play_traces(choose_policy(case, name), case, found)
        rows.append(
            {"policy": label, "traces": len(found), "mean": float(scores.mean()), "worst_decile": lowest_tenth(scores)}
        )
    return rows


def _train_text(text: str, summary: dict[str, Any]) -> str:
    rows = [f"{r['policy']:22}{r['mean']:>10.4f}{r['worst_decile']:>14.4f}" for r in summary.get("traces", [])]
    head = [f"\n{'on the traces':22}{'mean':>10}{'worst decile':>14}"] if rows else []
    return "\n".join([text, *head, *rows])


@commands.command("search")
def search(
    case: Annotated[str, typer.Argument(help="abr, cc, lb, or bench.")],
    policy: Annotated[str | None, typer.Option("--policy", help="A rule, a policy.npz, an .onnx or .py file.")] = None,
    baseline: Annotated[str | None, typer.Option("--baseline", help="A rule of the case.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="For bench: simulated, or a CSV of outcomes.")] = None,
    calls: Annotated[int, typer.Option("--calls", min=1, help="For bench: questions.")] = 600,
    space: SpaceOption = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same report.")] = 1,
    png: Annotated[Path | None, typer.Option("--png", help="Draw the gap over the two strongest parameters.")] = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", help="Write the report as a graph (.json), for `nl2net ask --graph`.")
    ] = None,
    settings: Annotated[int, typer.Option("--settings", min=50, help="Random settings to look at.")] = 1024,
    as_json: JsonOption = False,
) -> None:
    """Weak spots of a policy against a baseline, or hard cells of the benchmark for an agent."""
    from nl2net.errors import UserError

    if case == "bench":
        _search_bench(agent, calls=calls, seed=seed, as_json=as_json)
        return
    from nl2net.curriculum.cases import load_case
    from nl2net.curriculum.choosing import check_baseline, choose_policy
    from nl2net.curriculum.diagnose import diagnose
    from nl2net.curriculum.search import Settings
    from nl2net.curriculum.spaces import load_space
    from nl2net.curriculum.threads import one_thread

    load_case(case)
    loaded = load_case(case, load_space(case, space))
    if policy is None:
        raise UserError("which policy?", hint=f"--policy with a rule ({', '.join(loaded.baselines)}) or a file.")
    rule = check_baseline(loaded, baseline or loaded.gap_baseline)
    effort = Settings(settings=settings, fresh=min(2000, 2 * settings))
    with one_thread():
        found = diagnose(loaded, choose_policy(loaded, policy), name=policy, baseline=rule, seed=seed, settings=effort)
    if graph is not None:
        from nl2net.curriculum.explaining import write_report_graph

        write_report_graph(found, loaded.space, graph)
        typer.echo(f"written: {graph}; ask about it with: nl2net ask QUESTION --graph {graph}", err=True)
    if png is not None:
        from nl2net.curriculum.plots import draw_gaps

        draw_gaps(found, loaded.space, png)
        typer.echo(f"drawn: {png}", err=True)
    typer.echo(json.dumps(found.to_json()) if as_json else found.text())


def _search_bench(agent: str | None, *, calls: int, seed: int, as_json: bool) -> None:
    from nl2net.curriculum.bench import search_bench

    found = search_bench(agent, calls=calls, seed=seed)
    typer.echo(json.dumps(found) if as_json else _bench_text(found))


def _bench_text(found: dict[str, Any]) -> str:
    hard = found["hard_set"]
    lines = [
        f"{found['agent']}: {found['calls']} questions over {found['cells']:,} cells",
        f"failure rate of the whole benchmark {found['weighted']:.3f} (95 % {found['low']:.3f} to {found['high']:.3f});"
        f" of this sample {found['plain']:.3f}, which must not be quoted",
        f"distinct cells that failed: {found['failed_cells']}",
        f"hard set of {len(hard['cells'])} cells, asked again on fresh seeds: {hard['rate_on_fresh_seeds']:.3f} fail;"
        f" {hard['digest']}",
    ]
    lines += ["  " + ", ".join(f"{k}={v}" for k, v in cell.items()) for cell in hard["cells"][:10]]
    if found.get("true_rate") is not None:
        lines.append(
            f"true rate {found['true_rate']:.3f}; hard cells found {found['hard_found']} of {found['hard_cells']}"
        )
    return "\n".join(lines)


@commands.command("report")
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    compare: Annotated[tuple[str, str] | None, typer.Option("--compare", help="Two strategies.")] = None,
    as_json: JsonOption = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page.")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw the learning curves of the first run.")] = None,
) -> None:
    """Means over seeds, paired intervals and tests, and the command that makes them again."""
    from nl2net.curriculum.report import correct_together, html_report, summarise, text_report
    from nl2net.locations import atomic_write

    summaries = correct_together([summarise(run, against=compare) for run in runs])
    if html is not None:
        with atomic_write(html) as stream:
            stream.write(html_report(summaries).encode())
    if png is not None:
        from nl2net.curriculum.plots import draw_curves

        draw_curves(runs[0], png)
    if as_json:
        typer.echo(json.dumps({"version": 1, "runs": summaries}))
    else:
        typer.echo("\n\n".join(text_report(summary) for summary in summaries))


@commands.command("reproduce")
def reproduce(
    out: Annotated[Path, typer.Option("--out", help="Folder; given again, it goes on where it stopped.")],
    cases: Annotated[str, typer.Option("--cases", help="Comma between.")] = "abr,cc,lb",
    strategy: Annotated[str, typer.Option("--strategy", help="Comma between.")] = "uniform,random,batch_gap,tail",
    steps: Annotated[int, typer.Option("--steps", min=0, help="Of a job; 0: what each case needs.")] = 0,
    seeds: Annotated[int, typer.Option("--seeds", min=1)] = 10,
    as_json: JsonOption = False,
) -> None:
    """Every case over ten seeds, compared in pairs, as one table (table.md in the folder)."""
    from nl2net.curriculum.reproducing import TABLE, Effort, table
    from nl2net.curriculum.reproducing import reproduce as run_all
    from nl2net.curriculum.strategies import load_strategy

    names = [tuple(dict.fromkeys(n.strip() for n in text.split(",") if n.strip())) for text in (cases, strategy)]
    for name in names[1]:
        load_strategy(name)
    effort = Effort(names[0], names[1], steps, seeds)
    summaries = run_all(out, effort, say=lambda line: typer.echo(line, err=True))
    typer.echo(f"written: {out / TABLE}", err=True)
    typer.echo(json.dumps({"version": 1, "runs": summaries}) if as_json else table(summaries))
