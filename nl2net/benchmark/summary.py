"""From records to rates with intervals, and the paired comparison of two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from nl2net.benchmark.judge import Outcome
from nl2net.benchmark.runs import Record
from nl2net.benchmark.stats import Interval, cluster_bootstrap, effective_size, mcnemar, paired_bootstrap, wilson
from nl2net.errors import UserError
from nl2net.golden.case import Case
from nl2net.model import Status, Usage

BREAKDOWNS: Mapping[str, Callable[[Case], str]] = {
    "application": lambda case: case.application,
    "level": lambda case: f"{case.application} {case.level}",
    "result type": lambda case: str(case.type) if case.outcome is Status.ANSWERED else "not to be answered",
    "expected": lambda case: str(case.outcome),
    "intent seen in development": lambda case: "no" if "held-out intent" in case.tags else "yes",
    "changes before the question": lambda case: next((t for t in case.tags if t.startswith("depth ")), "depth 0 or 1"),
    "intent": lambda case: f"{case.application} {case.intent}",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: how many, how they ended, and the rate of right and of wrong-delivered answers."""

    name: str
    total: int
    outcomes: Mapping[str, int]
    correct: Interval
    wrong: Interval


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in figures. Rates leave out harness errors, which are reported beside them."""

    overall: Row
    tables: Mapping[str, Sequence[Row]]
    harness_errors: int
    cases: int
    usage: Usage
    median_seconds: float
    p95_seconds: float
    clustered: Interval
    effective_n: float
    slips: Sequence[tuple[str, int]] = field(default_factory=tuple)

    @property
    def void(self) -> bool:
        """More than 1 % of harness errors make a run void."""
        return self.harness_errors > 0.01 * max(1, self.overall.total + self.harness_errors)


def row_of(name: str, outcomes: Sequence[Outcome]) -> Row:
    """Count outcomes and put intervals on them."""
    kept = [outcome for outcome in outcomes if outcome is not Outcome.HARNESS]
    counts = Counter(str(outcome) for outcome in outcomes)
    return Row(
        name,
        len(kept),
        dict(sorted(counts.items())),
        wilson(kept.count(Outcome.CORRECT), len(kept)),
        wilson(kept.count(Outcome.WRONG), len(kept)),
    )


def summarise(records: Sequence[Record], cases: Sequence[Case]) -> Summary:
    """Make all tables of a run.

    Raises
    ------
    UserError
        There is no record, or a record is of a case that the suite does not hold.
    """
    known = {case.id: case for case in cases}
    if not records:
        raise UserError("the run has no record yet", hint="Run it again with the same --out to go on.")
    if stray := next((record.case for record in records if record.case not in known), None):
        raise UserError(f"case {stray} is not in the suite", hint="Name the suite that was run with --suite.")
    tables = {}
    for title, key in BREAKDOWNS.items():
        groups: dict[str, list[Outcome]] = {}
        for record in records:
            groups.setdefault(key(known[record.case]), []).append(record.outcome)
        tables[title] = [row_of(name, outcomes) for name, outcomes in sorted(groups.items())]
    usage = Usage()
    for record in records:
        usage = usage + Usage(**record.usage)
    judged = [record for record in records if record.outcome is not Outcome.HARNESS]
    scores = [float(record.outcome is Outcome.CORRECT) for record in judged] or [0.0]
    clusters = [(known[r.case].intent, known[r.case].graph.seed) for r in judged] or [("", "")]
    times = sorted(record.seconds for record in records)
    return Summary(
        overall=row_of("all", [record.outcome for record in records]),
        tables=tables,
        harness_errors=len(records) - len(judged),
        cases=len(cases),
        usage=usage,
        median_seconds=median(times),
        p95_seconds=times[min(len(times) - 1, int(0.95 * len(times)))],
        clustered=cluster_bootstrap(scores, clusters, resamples=2000),
        effective_n=effective_size(scores, clusters),
        slips=Counter(r.reason.split(":")[0][:60] for r in judged if r.outcome is Outcome.WRONG).most_common(12),
    )


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that one run has right and the other has not."""

    case: str
    question: str
    first: Outcome
    second: Outcome


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Two runs on the same cases."""

    both: int
    first_only: int
    second_only: int
    neither: int
    p_value: float
    difference: Interval
    flips: Sequence[Flip]


def compare_runs(first: Sequence[Record], second: Sequence[Record]) -> PairedComparison:
    """Exact McNemar test on the cases that both runs have, and the list of questions that flipped.

    Raises
    ------
    UserError
        The runs have no case in common.
    """
    left = {(record.case, record.trial): record for record in first if record.outcome is not Outcome.HARNESS}
    right = {(record.case, record.trial): record for record in second if record.outcome is not Outcome.HARNESS}
    keys = [key for key in left if key in right]
    if not keys:
        raise UserError("the two runs have no case in common", hint="Compare runs of the same suite.")
    a = [left[key].outcome is Outcome.CORRECT for key in keys]
    b = [right[key].outcome is Outcome.CORRECT for key in keys]
    flips = [
        Flip(key[0], left[key].question, left[key].outcome, right[key].outcome)
        for key, x, y in zip(keys, a, b, strict=True)
        if x != y
    ]
    pairs = Counter(zip(a, b, strict=True))
    return PairedComparison(
        both=pairs[True, True],
        first_only=pairs[True, False],
        second_only=pairs[False, True],
        neither=pairs[False, False],
        p_value=mcnemar(pairs[True, False], pairs[False, True]),
        difference=paired_bootstrap([float(x) for x in a], [float(y) for y in b]),
        flips=flips,
    )


def summary_json(summary: Summary) -> dict[str, Any]:
    """A summary as plain JSON."""
    return {
        "overall": _row_json(summary.overall),
        "tables": {title: [_row_json(row) for row in rows] for title, rows in summary.tables.items()},
        "harness_errors": summary.harness_errors,
        "void": summary.void,
        "cases_of_suite": summary.cases,
        "usage": summary.usage.to_json(),
        "seconds": {"median": summary.median_seconds, "p95": summary.p95_seconds},
        "clustered_interval": _interval_json(summary.clustered),
        "effective_n": round(summary.effective_n, 1),
        "wrong_by_reason": [list(slip) for slip in summary.slips],
    }


def _interval_json(interval: Interval) -> dict[str, float]:
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high}


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "n": row.total,
        "outcomes": dict(row.outcomes),
        "correct": _interval_json(row.correct),
        "wrong_delivered": _interval_json(row.wrong),
    }
