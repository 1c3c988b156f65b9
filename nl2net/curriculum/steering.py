"""Steering a benchmark towards what an agent fails, without losing the true rate.

Cells are combinations of factor levels. Calls are dear and answers are 0 or 1, so evidence is pooled: a Bayesian
logistic model on levels and products of two levels, asked by Thompson sampling. Aimed draws never repeat a cell; a
uniform floor keeps every cell possible; every draw's probability is stored, so that weighting restores the rate of
the whole benchmark.

References
----------
.. [1] O. Chapelle, L. Li, "An empirical evaluation of Thompson sampling", NeurIPS 2011 (the Laplace form).
.. [2] D. Horvitz, D. Thompson, "A generalization of sampling without replacement", JASA 47, 1952 (the weights).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import combinations
from typing import Any

import numpy as np

from nl2net.curriculum.arrays import Bools, Floats, Ints
from nl2net.curriculum.streams import derive, generator

# Cell numbers and seeds -> whether the agent failed.
FailFunction = Callable[[Ints, Ints], Bools]
_PRIOR_MAIN, _PRIOR_PRODUCT, _PRIOR_BIAS = 1.0, 0.5, 2.0
_POSTERIOR_DRAWS = 24


@dataclass(frozen=True, slots=True)
class Cells:
    """All combinations of levels.

    Attributes
    ----------
    factors : mapping
        Name of each knob to its levels, such as type, size, chain length.
    table : array of int, shape (cells, factors)
        Level numbers of each cell.
    """

    factors: Mapping[str, tuple[str, ...]]
    table: Ints

    @property
    def count(self) -> int:
        """Number of cells."""
        return len(self.table)

    def describe(self, cell: int) -> dict[str, str]:
        """Levels of a cell by name."""
        return {name: levels[self.table[cell, k]] for k, (name, levels) in enumerate(self.factors.items())}

    def design(self, products: bool) -> tuple[Floats, Floats]:
        """One column per level and per product of two levels, and the prior deviation of each column."""
        columns, scales = [np.ones(self.count)], [_PRIOR_BIAS]
        single = []
        for k, levels in enumerate(self.factors.values()):
            single.append([(self.table[:, k] == level).astype(float) for level in range(len(levels))])
            columns += single[-1]
            scales += [_PRIOR_MAIN] * len(levels)
        if products:
            for a, b in combinations(range(len(single)), 2):
                columns += [x * y for x in single[a] for y in single[b]]
                scales += [_PRIOR_PRODUCT] * (len(single[a]) * len(single[b]))
        return np.column_stack(columns), np.array(scales)


def all_cells(factors: Mapping[str, Sequence[str]]) -> Cells:
    """Every combination of levels.

    Examples
    --------
    >>> all_cells({"type": ["path", "rank"], "size": ["small", "large"]}).count
    4
    """
    named = {name: tuple(levels) for name, levels in factors.items()}
    shape = [len(levels) for levels in named.values()]
    return Cells(named, np.stack(np.unravel_index(np.arange(int(np.prod(shape))), shape), axis=1).astype(np.int64))


@dataclass(frozen=True, slots=True)
class Draw:
    """One question: its cell, the probability with which it was drawn, and whether it was aimed."""

    cell: int
    probability: float
    aimed: bool
    seed: int
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Rate:
    """Failure rate of the whole benchmark with its 95 % interval, and the plain rate of the sample."""

    weighted: float
    low: float
    high: float
    plain: float


@dataclass(slots=True)
class Steering:
    """The state of a steered evaluation.

    Parameters
    ----------
    cells : Cells
    seed : int
    floor : float
        Share of uniform draws, .3 to .5; 1 is uniform sampling.
    products : bool
        Let pairs of levels be hard together.
    """

    cells: Cells
    seed: int
    floor: float = 0.3
    products: bool = True
    draws: list[Draw] = field(default_factory=list)
    _design: Floats = field(init=False, repr=False)
    _scales: Floats = field(init=False, repr=False)
    _mean: Floats = field(init=False, repr=False)
    _factor: Floats = field(init=False, repr=False)
    _fitted: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._design, self._scales = self.cells.design(self.products)
        self._mean = np.zeros(len(self._scales))
        self._factor = np.diag(self._scales)
        self._fitted = 0

    def propose(self, count: int) -> list[Draw]:
        """The next questions; within a batch an aimed draw does not repeat a cell either."""
        rng = generator(self.seed, "steering", len(self.draws))
        total = self.cells.count
        aim = self._aim(count, rng)
        asked = np.zeros(total, dtype=bool)
        asked[[draw.cell for draw in self.draws]] = True
        batch = []
        for number in range(count):
            free = np.where(asked, 0.0, aim)
            if free.sum() <= 0:
                free = np.where(asked, 0.0, 1.0) if not asked.all() else np.ones(total)
            free = free / free.sum()
            aimed = bool(rng.random() >= self.floor)
            cell = int(rng.choice(total, p=free)) if aimed else int(rng.integers(total))
            probability = self.floor / total + (1 - self.floor) * float(free[cell])
            batch.append(
                Draw(cell, probability, aimed, derive(self.seed, "question", len(self.draws) + number) % 2**31)
            )
            asked[cell] = True
        return batch

    def record(self, batch: Sequence[Draw], failed: Sequence[bool] | Bools) -> None:
        """Outcomes of a batch."""
        for draw, outcome in zip(batch, failed, strict=True):
            self.draws.append(Draw(draw.cell, draw.probability, draw.aimed, draw.seed, bool(outcome)))

    def _aim(self, count: int, rng: np.random.Generator) -> Floats:
        """Thompson sampling as explicit probabilities: each posterior draw votes for its hardest unasked cells."""
        self._fit()
        unasked = np.ones(self.cells.count, dtype=bool)
        unasked[[draw.cell for draw in self.draws]] = False
        places = np.flatnonzero(unasked)
        votes = np.zeros(self.cells.count)
        if len(places) == 0:
            return votes
        take = min(count, len(places))
        noise = rng.standard_normal((_POSTERIOR_DRAWS, len(self._mean)))
        weights = self._mean[:, None] + self._factor @ noise.T
        for hardness in (self._design[places] @ weights).T:
            votes[places[np.argpartition(-hardness, take - 1)[:take]]] += 1
        return votes

    def _fit(self) -> None:
        """Laplace approximation of the posterior by Newton steps."""
        if len(self.draws) == self._fitted:
            return
        x = self._design[[draw.cell for draw in self.draws]]
        y = np.array([draw.failed for draw in self.draws], dtype=float)
        prior = 1 / self._scales**2
        w = self._mean
        for _ in range(12):
            p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
            hessian = (x * (p * (1 - p))[:, None]).T @ x + np.diag(prior)
            step = np.linalg.solve(hessian, x.T @ (y - p) - prior * w)
            w = w + step
            if np.abs(step).max() < 1e-4:
                break
        self._mean = w
        self._factor = np.linalg.inv(np.linalg.cholesky(hessian)).T
        self._fitted = len(self.draws)

    def failure_probabilities(self) -> Floats:
        """The model's failure probability of every cell."""
        self._fit()
        spread = ((self._design @ self._factor) ** 2).sum(axis=1)
        # The mean over the posterior, not at its centre: a cell without evidence stays near the prior.
        result: Floats = 1 / (
            1 + np.exp(-np.clip(self._design @ self._mean / np.sqrt(1 + np.pi * spread / 8), -30, 30))
        )
        return result

    def rate(self) -> Rate:
        """Failure rate over all cells, each as likely as the other."""
        weights = np.array([1 / (draw.probability * self.cells.count) for draw in self.draws])
        failed = np.array([draw.failed for draw in self.draws], dtype=float)
        weighted = float((weights * failed).sum() / weights.sum())
        error = float(np.sqrt((weights**2 * (failed - weighted) ** 2).sum()) / weights.sum())
        low, high = max(0.0, weighted - 1.96 * error), min(1.0, weighted + 1.96 * error)
        return Rate(weighted, low, high, float(failed.mean()))

    def hard_set(self, size: int = 50) -> list[int]:
        """Cells that failed, the least doubtful first; to be frozen and asked again on fresh seeds."""
        chance = self.failure_probabilities()
        failed = sorted({draw.cell for draw in self.draws if draw.failed}, key=lambda cell: -chance[cell])
        return failed[:size]

    def learnable(self, size: int) -> list[int]:
        """Cells for examples and fine-tuning: half by p (1 - p) spread over the first factor, half uniform."""
        chance = self.failure_probabilities()
        rng = generator(self.seed, "learnable")
        order = np.argsort(-chance * (1 - chance), kind="stable")
        by_type: dict[int, list[int]] = {}
        for cell in order:
            by_type.setdefault(int(self.cells.table[cell, 0]), []).append(int(cell))
        rounds = max(map(len, by_type.values()))
        spread = [cells[k] for k in range(rounds) for cells in by_type.values() if k < len(cells)]
        chosen = spread[: size - size // 2]
        rest = np.setdiff1d(np.arange(self.cells.count), chosen)
        return [*chosen, *map(int, rng.permutation(rest)[: size // 2])]


def steer(fails: FailFunction, steering: Steering, *, calls: int, batch: int = 25) -> None:
    """Ask ``calls`` questions in batches."""
    while len(steering.draws) < calls:
        asked = steering.propose(min(batch, calls - len(steering.draws)))
        cells = np.array([draw.cell for draw in asked], dtype=np.int64)
        seeds = np.array([draw.seed for draw in asked], dtype=np.int64)
        steering.record(asked, fails(cells, seeds))


def freeze(steering: Steering, fails: FailFunction, *, size: int = 50, repeats: int = 4) -> dict[str, Any]:
    """The hard set with its rate on fresh seeds; the rate at which it was found is biased upwards.

    Returns
    -------
    dict
        ``cells``, ``rate`` on fresh seeds, and ``digest`` of the frozen list.
    """
    chosen = steering.hard_set(size)
    fresh = np.array([derive(steering.seed, "fresh", cell, k) % 2**31 for cell in chosen for k in range(repeats)])
    outcome = (
        fails(np.repeat(np.array(chosen, dtype=np.int64), repeats), fresh.astype(np.int64)) if chosen else np.zeros(0)
    )
    described = [steering.cells.describe(cell) for cell in chosen]
    digest = sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
    return {
        "version": 1,
        "digest": f"sha256:{digest}",
        "rate_on_fresh_seeds": float(np.mean(outcome)) if chosen else 0.0,
        "questions": len(outcome),
        "cells": described,
    }
