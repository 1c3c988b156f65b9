"""From benchmark records to tables by application and level, and to the comparison of agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from statistics import median
from typing import Any

from nl2net.benchmark.bench_records import BenchRecord
from nl2net.benchmark.scoring import Outcome
from nl2net.benchmark.stats import (
    Interval,
    cluster_bootstrap,
    effective_size,
    holm,
    mcnemar,
    paired_bootstrap,
    wilson,
)
from nl2net.errors import UserError
from nl2net.model import Usage

BREAKDOWNS: Mapping[str, Callable[[BenchRecord], str]] = {
    "application": lambda record: record.application,
    "level": lambda record: f"{record.application} {record.level}",
    "type": lambda record: f"{record.application} {record.type}",
}
_VOID = 0.01


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One line of a table. ``median_s`` and ``p95_s`` are of solved cases alone; harness errors are not in ``n``."""

    name: str
    n: int
    correct: Interval
    safe: Interval
    headline: Interval
    wrong: Interval
    outcomes: Mapping[str, int]
    median_s: float | None
    p95_s: float | None
    agent_s: float
    tool_s: float
    turns: float
    commands: float
    usage: Usage


@dataclass(frozen=True, slots=True)
class BenchSummary:
    """A run, or several of one agent, in figures. Healthy controls are in ``controls`` and nowhere else."""

    overall: BenchRow
    tables: Mapping[str, Sequence[BenchRow]]
    controls: BenchRow | None
    harness_errors: int
    clustered: Interval
    effective_n: float
    failures: Sequence[tuple[str, int]]
    easier_than_below: Sequence[str]

    @property
    def void(self) -> bool:
        """More than 1 % of harness errors make a run void."""
        return self.harness_errors > _VOID * max(1, self.overall.n + self.harness_errors)


def row_of(name: str, records: Sequence[BenchRecord]) -> BenchRow:
    """Figures of some records."""
    kept = [record for record in records if record.outcome is not Outcome.HARNESS]
    n = len(kept)
    solved = sorted(record.seconds for record in kept if record.outcome is Outcome.SOLVED)
    return BenchRow(
        name=name,
        n=n,
        correct=wilson(sum(record.correct for record in kept), n),
        safe=wilson(sum(record.safe for record in kept), n),
        headline=wilson(sum(record.headline for record in kept), n),
        wrong=wilson(sum(record.wrong for record in kept), n),
        outcomes=dict(sorted(Counter(str(record.outcome) for record in records).items())),
        median_s=median(solved) if solved else None,
        p95_s=solved[min(len(solved) - 1, int(0.95 * len(solved)))] if solved else None,
        agent_s=_mean([record.agent_s for record in kept]),
        tool_s=_mean([record.tool_s for record in kept]),
        turns=_mean([record.turns for record in kept]),
        commands=_mean([record.commands for record in kept]),
        usage=sum((record.used for record in records), Usage()),
    )


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def summarise(records: Sequence[BenchRecord]) -> BenchSummary:
    """Make all tables.

    Raises
    ------
    UserError
        There is no record.
    """
    if not records:
        raise UserError("the run has no record yet", hint="Run it again with the same --out to go on.")
    tasks = [record for record in records if not record.control]
    controls = [record for record in records if record.control]
    tables = {}
    for title, key in BREAKDOWNS.items():
        groups: dict[str, list[BenchRecord]] = {}
        for record in tasks:
            groups.setdefault(key(record), []).append(record)
        tables[title] = [row_of(name, found) for name, found in sorted(groups.items())]
    counted = [record for record in tasks if record.counted]
    scores = [float(record.headline) for record in counted] or [0.0]
    clusters = [record.cluster for record in counted] or [""]
    return BenchSummary(
        overall=row_of("all", tasks),
        tables=tables,
        controls=row_of("healthy controls", controls) if controls else None,
        harness_errors=sum(record.outcome is Outcome.HARNESS for record in records),
        clustered=cluster_bootstrap(scores, clusters, resamples=2000),
        effective_n=effective_size(scores, clusters),
        failures=Counter(failure_class(r) for r in counted if not r.headline).most_common(12),
        easier_than_below=easier_levels(tables["level"]),
    )


def failure_class(record: BenchRecord) -> str:
    """Why a record is no success, in a word or two."""
    if record.outcome is Outcome.SOLVED:
        return "unsafe"
    if record.outcome is not Outcome.UNSOLVED:
        return str(record.outcome)
    if not record.safe:
        return "unsolved and unsafe"
    if record.wrong:
        return "wrong answer delivered"
    return "program or repair failed"


def easier_levels(rows: Sequence[BenchRow]) -> list[str]:
    """Levels whose rate is clearly above that of the level below: they are not what they are called."""
    found = []
    for below, above in pairwise(rows):
        same = below.name.rsplit(" ", 1)[0] == above.name.rsplit(" ", 1)[0]
        if same and above.headline.low > below.headline.high:
            found.append(f"{above.name} is easier than {below.name}")
    return found


@dataclass(frozen=True, slots=True)
class Pair:
    """Two agents on the cases that both have: headline, exact McNemar test, p adjusted by Holm."""

    first: str
    second: str
    n: int
    both: int
    first_only: int
    second_only: int
    neither: int
    difference: Interval
    p_value: float
    adjusted: float
    overlap: bool


def compare_agents(runs: Mapping[str, Sequence[BenchRecord]]) -> list[Pair]:
    """Compare every pair of agents on their common cases.

    Raises
    ------
    UserError
        Two agents have no case in common.
    """
    pairs = []
    for (first, left), (second, right) in combinations(runs.items(), 2):
        a = {(r.case, r.trial): r.headline for r in left if r.counted}
        b = {(r.case, r.trial): r.headline for r in right if r.counted}
        keys = [key for key in a if key in b]
        if not keys:
            raise UserError(f"{first} and {second} have no case in common", hint="Compare runs of the same suite.")
        table = Counter((a[key], b[key]) for key in keys)
        rates = [wilson(sum(side[key] for key in keys), len(keys)) for side in (a, b)]
        pairs.append(
            Pair(
                first, second, len(keys), table[True, True], table[True, False], table[False, True],
                table[False, False], paired_bootstrap([float(a[k]) for k in keys], [float(b[k]) for k in keys],
                resamples=2000), mcnemar(table[True, False], table[False, True]), 1.0, rates[0].overlaps(rates[1]),
            )
        )  # fmt: skip
    adjusted = holm([pair.p_value for pair in pairs])
    return [replace(pair, adjusted=q) for pair, q in zip(pairs, adjusted, strict=True)]


def overlap_share(rows: Sequence[BenchRow]) -> dict[str, float]:
    """Share of pairs of agents whose intervals overlap: on correctness, on safety, and on both."""
    pairs = list(combinations(rows, 2))
    correct = [a.correct.overlaps(b.correct) for a, b in pairs]
    safe = [a.safe.overlaps(b.safe) for a, b in pairs]
    total = max(1, len(pairs))
    both = sum(x and y for x, y in zip(correct, safe, strict=True))
    return {"correct": sum(correct) / total, "safe": sum(safe) / total, "both": both / total}


def row_json(row: BenchRow) -> dict[str, Any]:
    """A row as plain JSON."""
    data = {name: getattr(row, name) for name in BenchRow.__slots__}
    intervals = {name: asdict(value) for name, value in data.items() if isinstance(value, Interval)}
    return data | intervals | {"outcomes": dict(row.outcomes), "usage": row.usage.to_json()}


def summary_json(summary: BenchSummary) -> dict[str, Any]:
    """A summary as plain JSON."""
    return {
        "overall": row_json(summary.overall),
        "tables": {title: [row_json(row) for row in rows] for title, rows in summary.tables.items()},
        "controls": row_json(summary.controls) if summary.controls is not None else None,
        "harness_errors": summary.harness_errors,
        "void": summary.void,
        "clustered_interval": asdict(summary.clustered),
        "effective_n": round(summary.effective_n, 1),
        "failures": [list(failure) for failure in summary.failures],
        "easier_than_the_level_below": list(summary.easier_than_below),
    }
