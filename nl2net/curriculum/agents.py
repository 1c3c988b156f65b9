"""Agents that steering can be tried on without a model: a simulated one, and recorded outcomes."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nl2net.curriculum.arrays import Bools, Floats, Ints
from nl2net.curriculum.steering import Cells, FailFunction, all_cells
from nl2net.curriculum.streams import generator, uniforms
from nl2net.errors import DataError

_FACTORS = {
    "type": (
        *("neighbours", "degree", "path", "reachability", "rank"),
        *("change", "capacity", "segment", "diagnosis", "drift"),
    ),
    "size": ("10", "40", "160"),
    "chain": ("1", "2", "3", "4", "5"),
    "distractors": ("none", "few", "many"),
    "wording": ("plain", "paraphrase", "indirect", "abbreviated"),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What steering asks: cells, a function that says whether the agent failed, and true rates where they are known."""

    cells: Cells
    fails: FailFunction
    true_rates: Floats | None = None


def simulated_agent(seed: int = 1) -> Subject:
    """1,800 cells whose difficulty has main effects and a few products; about 12 % of questions fail."""
    cells = all_cells(_FACTORS)
    rng = generator(seed, "simulated agent")
    score = np.full(cells.count, -4.6)
    for k, levels in enumerate(_FACTORS.values()):
        score += (1.1 * rng.standard_normal(len(levels)))[cells.table[:, k]]
    # Difficulties that no single knob shows: one type with one wording, and the like.
    for _ in range(12):
        a, b = rng.choice(len(_FACTORS), 2, replace=False)
        pair = [int(rng.integers(len(list(_FACTORS.values())[k]))) for k in (a, b)]
        score += 3.0 * ((cells.table[:, a] == pair[0]) & (cells.table[:, b] == pair[1]))
    score += _offset(score, target=0.118)
    rates: Floats = 1 / (1 + np.exp(-score))

    def fails(asked: Ints, seeds: Ints) -> Bools:
        return uniforms(seeds.astype(np.uint64), "outcome", asked) < rates[asked]

    return Subject(cells, fails, rates)


def _offset(score: Floats, *, target: float) -> float:
    """What to add to all scores for a mean failure rate."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        if (1 / (1 + np.exp(-(score + middle)))).mean() < target:
            low = middle
        else:
            high = middle
    return low


def recorded_agent(path: Path) -> Subject:
    """Outcomes of an exhaustive run: a CSV with one column per knob and a column ``failed`` (0 or 1).

    Several rows of one cell are drawn from at random.

    Raises
    ------
    DataError
        No such columns, or a value that is not 0 or 1.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot be read: {error}", path=path, hint="Give a CSV file.") from None
    names = [name for name in (rows[0] if rows else {}) if name != "failed"]
    if not rows or "failed" not in rows[0] or not names:
        hint = "One column per knob and a column `failed`."
        raise DataError("no column `failed`, or no knob", path=path, line=1, hint=hint)
    for line, row in enumerate(rows, start=2):
        if row["failed"] not in ("0", "1") or None in row.values():
            raise DataError(
                f"expected 0 or 1, found {row['failed']!r}", path=path, line=line, field="failed", hint="0 or 1."
            )
    factors = {name: tuple(dict.fromkeys(row[name] for row in rows)) for name in names}
    outcomes: dict[tuple[int, ...], list[bool]] = {}
    for row in rows:
        key = tuple(factors[name].index(row[name]) for name in names)
        outcomes.setdefault(key, []).append(row["failed"] == "1")
    keys = sorted(outcomes)
    cells = Cells(factors, np.array(keys, dtype=np.int64))

    def fails(asked: Ints, seeds: Ints) -> Bools:
        draws = uniforms(seeds.astype(np.uint64), "record", asked)
        known = [outcomes[keys[cell]] for cell in asked]
        return np.array([found[int(u * len(found))] for found, u in zip(known, draws, strict=True)], dtype=bool)

    return Subject(cells, fails, np.array([np.mean(outcomes[key]) for key in keys]))
