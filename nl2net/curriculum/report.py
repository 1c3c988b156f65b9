"""Tables over the runs of a folder: means over seeds, paired tests against the control, honest words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from nl2net.benchmark.stats import holm
from nl2net.curriculum.paired import compare
from nl2net.curriculum.runs import Plan, job_folder, load_plan, read_json
from nl2net.errors import UserError

# Measures in the table, and whether higher is better.
MEASURES = {"mean": True, "worst_decile": True, "below_baseline": False, "shortfall": False}
_TESTED = ("mean", "worst_decile")
_CONTROL = "uniform"


def _values(run: Path, plan: Plan, strategy: str) -> dict[int, dict[str, Any]]:
    """Measures by seed, of finished jobs."""
    paths = {seed: job_folder(run, strategy, seed) / "measures.json" for seed in range(1, plan.seeds + 1)}
    return {seed: read_json(path) for seed, path in paths.items() if path.exists()}


def summarise(run: Path, *, against: Sequence[str] | None = None) -> dict[str, Any]:
    """Everything that the report of one run shows.

    Parameters
    ----------
    run : Path
    against : two strategies, optional
        Compare only these; default every strategy with `uniform`.
    """
    plan = load_plan(run)
    results = {name: _values(run, plan, name) for name in plan.strategies}
    finished = {name: values for name, values in results.items() if values}
    if not finished:
        raise UserError(f"{run}: no job is finished", hint=f"nl2net curriculum train {plan.case} --resume {run}")
    sets = list(next(iter(next(iter(finished.values())).values())))
    rows = [_row(name, values, test) for name, values in finished.items() for test in sets]
    pairs = [tuple(against)] if against else [(name, _CONTROL) for name in finished if name != _CONTROL]
    for name in {name for pair in pairs for name in pair}:
        if against and name not in finished:
            raise UserError(f"{run}: no finished job of {name!r}", hint=f"Finished: {', '.join(finished)}.")
    tests = [
        _test(pair, finished, test, measure=m)
        for pair in pairs
        if pair[1] in finished
        for test in sets
        for m in _TESTED
    ]
    tests = [test for test in tests if test["pairs"] > 0]
    for test, p in zip(tests, holm([test["p"] for test in tests]), strict=True):
        test["p_holm"] = p
    baselines = read_json(run / "baselines.json") if (run / "baselines.json").exists() else {}
    return {
        "version": 1,
        "case": plan.case,
        "steps": plan.steps,
        "seeds": plan.seeds,
        "finished": {name: sorted(values) for name, values in finished.items()},
        "rows": rows,
        "rules": baselines,
        "tests": tests,
        "verdict": _verdict(tests),
        "reproduce": reproduction(plan),
    }


def correct_together(summaries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same summaries with Holm's correction over the tests of all of them, and the verdicts that follow."""
    tests = [test for summary in summaries for test in summary["tests"]]
    for test, p in zip(tests, holm([test["p"] for test in tests]), strict=True):
        test["p_holm"] = p
    return [{**summary, "verdict": _verdict(summary["tests"], among=len(tests))} for summary in summaries]


def reproduction(plan: Plan) -> str:
    """The command that makes the run again."""
    space = "" if plan.space.name == "full" else f" --space {plan.space.name}"
    generated = f" --generated {plan.generated:g}" if plan.case == "abr" else ""
    strategies = ",".join(plan.strategies)
    return (
        f"nl2net curriculum train {plan.case} --out RUN --strategy {strategies} --steps {plan.steps}"
        f" --seeds {plan.seeds}{space}{generated}"
    )


def _row(name: str, values: dict[int, dict[str, Any]], test: str) -> dict[str, Any]:
    row: dict[str, Any] = {"strategy": name, "set": test, "seeds": len(values)}
    for measure in MEASURES:
        found = np.array([one[test][measure] for one in values.values()])
        row[measure] = float(found.mean())
        spread = compare(found.tolist(), [0.0] * len(found))
        row[f"{measure}_low"], row[f"{measure}_high"] = spread.low, spread.high
        row[f"{measure}_sd"] = float(found.std(ddof=1)) if len(found) > 1 else None
    return row


def _test(pair: Sequence[str], finished: dict[str, Any], test: str, *, measure: str) -> dict[str, Any]:
    first, second = (finished[name] for name in pair)
    seeds = sorted(set(first) & set(second))
    base = {"first": pair[0], "second": pair[1], "set": test, "measure": measure}
    if not seeds:
        return {**base, "pairs": 0, "p": 1.0}
    found = compare([first[s][test][measure] for s in seeds], [second[s][test][measure] for s in seeds])
    return {**base, **asdict(found)}


def _verdict(tests: Sequence[dict[str, Any]], *, among: int = 0) -> str:
    """One honest sentence; ``among`` so many tests p values are corrected."""
    if not tests:
        return "Only one strategy is finished: nothing is compared."
    pairs = max(test["pairs"] for test in tests)
    least = 2 / 2**pairs
    helped = [test for test in tests if test["p_holm"] < 0.05 and test["mean"] > 0]
    hurt = [test for test in tests if test["p_holm"] < 0.05 and test["mean"] < 0]
    said = []
    if least * max(among, len(tests)) > 0.05:
        said.append(
            f"With {pairs} seeds no test can pass: the smallest p value is {least:.2g}, before Holm's correction."
        )
    for verb, found in (("helped", helped), ("hurt", hurt)):
        for test in found:
            said.append(f"{test['first']} {verb}: {test['measure']} on {test['set']} {test['mean']:+.3g}.")
    if not helped:
        said.append("No curriculum beat its control with p < 0.05 after Holm's correction.")
    return " ".join(said)


def text_report(summary: dict[str, Any]) -> str:
    """The tables for a terminal."""
    head = f"{summary['case']}: {summary['steps']:,} steps a job, {summary['seeds']} seeds planned"
    lines = [
        head,
        "",
        f"{'strategy':14}{'set':10}{'seeds':>6}{'mean':>18}{'worst decile':>18}{'below rules':>12}{'shortfall':>11}",
    ]
    for row in summary["rows"]:
        cells = [_with_sd(row, measure) for measure in _TESTED]
        lines.append(
            f"{row['strategy']:14}{row['set']:10}{row['seeds']:>6}{cells[0]:>18}{cells[1]:>18}"
            f"{row['below_baseline']:>12.1%}{row['shortfall']:>11.3f}"
        )
    for test, rules in summary["rules"].items():
        for name, found in rules.items():
            lines.append(f"{name:14}{test:10}{'rule':>6}{found['mean']:>18.3f}{found['worst_decile']:>18.3f}")
    lines.append("")
    for test in summary["tests"]:
        interval = f"{test['mean']:+.3f} ({test['low']:+.3f} to {test['high']:+.3f})"
        where = f"{test['first']} - {test['second']}, {test['set']}, {test['measure']}"
        lines.append(f"{where:52}{interval:>30}  p {test['p']:.3f}, Holm {test['p_holm']:.3f}, {test['pairs']} pairs")
    return "\n".join([*lines, "", summary["verdict"], f"Reproduce: {summary['reproduce']}"])


def _with_sd(row: dict[str, Any], measure: str) -> str:
    spread = row[f"{measure}_sd"]
    return f"{row[measure]:.3f}" + (f" ± {spread:.3f}" if spread is not None else "")


def html_report(summaries: Sequence[dict[str, Any]]) -> str:
    """One page without any script or outside resource."""
    body = "".join(f"<h2>{escape(s['case'])}</h2><pre>{escape(text_report(s))}</pre>" for s in summaries)
    style = "body{font-family:sans-serif;margin:2em}pre{background:#f5f5f5;padding:1em;overflow:auto}"
    head = f'<!doctype html><meta charset="utf-8"><title>Curriculum report</title><style>{style}</style>'
    return f"{head}<h1>Curriculum report</h1>{body}\n"
