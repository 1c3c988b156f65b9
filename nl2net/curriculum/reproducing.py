"""Every case over many seeds in one call, and one table with intervals and tests corrected over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2net.curriculum.cases import load_case
from nl2net.curriculum.evaluate import REFERENCE
from nl2net.curriculum.report import correct_together, summarise
from nl2net.curriculum.runs import Plan, load_plan, open_run
from nl2net.curriculum.train import train_all
from nl2net.locations import atomic_write

TABLE = "table.md"


@dataclass(frozen=True, slots=True)
class Effort:
    """What is trained.

    Attributes
    ----------
    cases, strategies : tuple of str
    steps : int
        Of a job; 0 is what each case needs.
    seeds : int
        Jobs per case and strategy; a sign-flip test needs ten for p = .002.
    generated : float
        Share of bitrate sessions on generated traces.
    """

    cases: tuple[str, ...] = ("abr", "cc", "lb")
    strategies: tuple[str, ...] = ("uniform", "random", "batch_gap", "tail")
    steps: int = 0
    seeds: int = 10
    generated: float = 0.5


def plan_of(case: str, effort: Effort) -> Plan:
    """The plan of one case over its full space."""
    loaded = load_case(case)
    steps = effort.steps or loaded.learning.steps
    generated = effort.generated if case == "abr" else 0.0
    return Plan(case, loaded.space, effort.strategies, steps, effort.seeds, generated=generated)


def reproduce(out: Path, effort: Effort, *, say: Callable[[str], None] = lambda _: None) -> list[dict[str, Any]]:
    """Train and evaluate what is not there yet, then write the table; returns the summaries.

    Parameters
    ----------
    out : Path
        Folder with one run per case; given again, it goes on where it stopped.
    effort : Effort

    Raises
    ------
    UserError
        The folder holds runs of another plan.
    """
    for case in effort.cases:
        plan, run = plan_of(case, effort), out / case
        open_run(run, plan, resume=(run / "manifest.json").exists())
        train_all(load_plan(run), run, say=say)
    summaries = correct_together([summarise(out / case) for case in effort.cases])
    with atomic_write(out / TABLE) as stream:
        stream.write(table(summaries).encode())
    return summaries


def table(summaries: Sequence[dict[str, Any]]) -> str:
    """Markdown: scores beside the best rule, then every paired difference with interval and corrected p value."""
    lines = [
        "| case, set | strategy | seeds | mean (95 %) | worst decile (95 %) | below the best rule |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for summary in summaries:
        for name in dict.fromkeys(row["set"] for row in summary["rows"]):
            where = f"{summary['case']}, {name}"
            lines += [_policy(where, row) for row in summary["rows"] if row["set"] == name]
            lines += _rules(where, summary["case"], summary["rules"].get(name, {}))
    lines += [
        "",
        "| case, set | difference | measure | mean (95 %) | p | p, Holm | pairs |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for summary in summaries:
        lines += [_difference(summary["case"], test) for test in summary["tests"]]
    lines += ["", *(f"- **{summary['case']}**: {summary['verdict']}" for summary in summaries)]
    commands = "\n".join(summary["reproduce"] for summary in summaries)
    return "\n".join([*lines, "", "```", commands, "```"]) + "\n"


def _policy(where: str, row: dict[str, Any]) -> str:
    cells = [f"{row[m]:.3f} ({row[f'{m}_low']:.3f} to {row[f'{m}_high']:.3f})" for m in ("mean", "worst_decile")]
    return f"| {where} | {row['strategy']} | {row['seeds']} | {cells[0]} | {cells[1]} | {row['below_baseline']:.1%} |"


def _rules(where: str, case: str, rules: dict[str, Any]) -> list[str]:
    """The rule that means are compared with, the best by mean if that is another, and what knows the future."""
    if not rules:
        return []
    real = {name: found for name, found in rules.items() if "(knows)" not in name}
    best = max(real, key=lambda name: float(real[name]["mean"]))
    shown = dict.fromkeys([REFERENCE[case], best, *(name for name in rules if name not in real)])
    return [
        f"| {where} | {name} | rule | {rules[name]['mean']:.3f} | {rules[name]['worst_decile']:.3f} | |"
        for name in shown
        if name in rules
    ]


def _difference(case: str, test: dict[str, Any]) -> str:
    amount = f"{test['mean']:+.3f} ({test['low']:+.3f} to {test['high']:+.3f})"
    pair = f"{test['first']} - {test['second']}"
    found = f"{test['p']:.3f} | {test['p_holm']:.3f} | {test['pairs']}"
    return f"| {case}, {test['set']} | {pair} | {test['measure']} | {amount} | {found} |"
