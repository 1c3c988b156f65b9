"""Intervals, paired tests and planning of sample sizes. Standard library only.

References
----------
.. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.
.. [2] Q. McNemar, "Note on the sampling error of the difference between correlated proportions", Psychometrika, 1947.
.. [3] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its bounds."""

    estimate: float
    low: float
    high: float

    def overlaps(self, other: Interval) -> bool:
        """Whether the two intervals have a point in common."""
        return self.low <= other.high and other.low <= self.high


def quantile_of_normal(probability: float) -> float:
    """The point below which a standard normal value lies with this probability."""
    return _NORMAL.inv_cdf(probability)


def wilson(successes: int, total: int, *, level: float = 0.95) -> Interval:
    """Wilson score interval of a rate.

    Parameters
    ----------
    successes, total : int
        Counts; without any case the interval is 0 to 1.
    level : float
        Confidence level.

    Examples
    --------
    >>> found = wilson(16, 30)
    >>> round(found.low, 4), round(found.high, 4)
    (0.3614, 0.6977)
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} of {total} is no count")
    if total == 0:
        return Interval(0.0, 0.0, 1.0)
    z = quantile_of_normal(0.5 + level / 2)
    rate = successes / total
    centre = (rate + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return Interval(rate, 0.0 if successes == 0 else centre - half, 1.0 if successes == total else centre + half)


def mcnemar(first_only: int, second_only: int) -> float:
    """Two-sided exact p value of McNemar's test.

    Parameters
    ----------
    first_only, second_only : int
        Cases that only the first, and only the second agent solved.

    Examples
    --------
    >>> round(mcnemar(8, 2), 4), round(mcnemar(15, 5), 4)
    (0.1094, 0.0414)
    """
    total = first_only + second_only
    if total == 0:
        return 1.0
    tail = sum(math.comb(total, k) for k in range(min(first_only, second_only) + 1))
    return float(min(1.0, 2 * tail / 2**total))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted


def _percentiles(values: list[float], estimate: float, level: float) -> Interval:
    values.sort()
    tail = (1 - level) / 2
    low = values[math.floor(tail * (len(values) - 1))]
    return Interval(estimate, low, values[math.ceil((1 - tail) * (len(values) - 1))])


def paired_bootstrap(
    first: Sequence[float], second: Sequence[float], *, resamples: int = 10_000, seed: int = 1, level: float = 0.95
) -> Interval:
    """Interval of the mean difference of two agents on the same cases.

    Examples
    --------
    >>> found = paired_bootstrap([1, 1, 1, 0], [0, 1, 0, 0], resamples=200)
    >>> found.estimate
    0.5
    """
    if len(first) != len(second) or not first:
        raise ValueError("paired scores need the same, positive number of cases")
    differences = [a - b for a, b in zip(first, second, strict=True)]
    draw = random.Random(seed).choices  # noqa: S311  (resampling, nothing secret)
    means = [fmean(draw(differences, k=len(differences))) for _ in range(resamples)]
    return _percentiles(means, fmean(differences), level)


def cluster_bootstrap(
    scores: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    resamples: int = 10_000,
    seed: int = 1,
    level: float = 0.95,
) -> Interval:
    """Interval of a mean where cases of one cluster (type and topology) belong together.

    Whole clusters are drawn with replacement, so that cases which stand or fall together do not count as independent.
    """
    if len(scores) != len(clusters) or not scores:
        raise ValueError("every score needs a cluster, and there must be one at least")
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for score, cluster in zip(scores, clusters, strict=True):
        groups[cluster].append(score)
    sums = [(sum(values), len(values)) for values in groups.values()]
    draw = random.Random(seed).choices  # noqa: S311  (resampling, nothing secret)
    means = []
    for _ in range(resamples):
        picked = draw(sums, k=len(sums))
        means.append(sum(total for total, _ in picked) / sum(count for _, count in picked))
    return _percentiles(means, fmean(scores), level)


def effective_size(scores: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """How many independent cases the given ones are worth, from the intra-cluster correlation.

    Examples
    --------
    >>> effective_size([1, 1, 0, 0], ["a", "a", "b", "b"])
    2.0
    """
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for score, cluster in zip(scores, clusters, strict=True):
        groups[cluster].append(score)
    count, total = len(groups), len(scores)
    if count < 2 or count == total:
        return float(total)
    mean = fmean(scores)
    between = sum(len(v) * (fmean(v) - mean) ** 2 for v in groups.values()) / (count - 1)
    within = sum((x - fmean(v)) ** 2 for v in groups.values() for x in v) / (total - count)
    typical = (total - sum(len(v) ** 2 for v in groups.values()) / total) / (count - 1)
    spread = between + (typical - 1) * within
    correlation = min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0
    return total / (1 + (total / count - 1) * correlation)


def pass_at_k(trials: int, solved: int, k: int) -> float:
    """Chance that one of ``k`` draws without replacement from ``trials`` is solved."""
    if trials - solved < k:
        return 1.0
    return 1.0 - math.comb(trials - solved, k) / math.comb(trials, k)


def cases_to_touch(first: float, second: float, *, level: float = 0.95) -> int:
    """Cases at which the expected intervals of two rates just touch: they then separate half of the time.

    Examples
    --------
    >>> cases_to_touch(0.465, 0.383)
    555
    """
    return cases_to_separate(first, second, power=0.5, level=level)


def cases_to_separate(first: float, second: float, *, power: float = 0.8, level: float = 0.95) -> int:
    """Cases per agent at which the two intervals do not overlap with probability ``power``.

    Examples
    --------
    >>> cases_to_separate(0.465, 0.383)
    942
    """
    z, zb = quantile_of_normal(0.5 + level / 2), quantile_of_normal(power)
    one, two = first * (1 - first), second * (1 - second)
    return math.ceil(((z * (math.sqrt(one) + math.sqrt(two)) + zb * math.sqrt(one + two)) / (first - second)) ** 2)


def cases_for_paired(difference: float, disagreement: float, *, power: float = 0.8, level: float = 0.95) -> int:
    """Cases for a paired test of a difference of rates.

    Parameters
    ----------
    difference : float
        Difference of the two rates.
    disagreement : float
        Share of cases on which the agents differ, from a pilot.

    Examples
    --------
    >>> cases_for_paired(0.465 - 0.383, 0.5 * (0.465 * 0.617 + 0.535 * 0.383))
    285
    """
    z, zb = quantile_of_normal(0.5 + level / 2), quantile_of_normal(power)
    root = z * math.sqrt(disagreement) + zb * math.sqrt(disagreement - difference**2)
    return math.ceil((root / difference) ** 2)


def cases_for_width(width: float, *, rate: float = 0.5, level: float = 0.95) -> int:
    """Fewest cases whose Wilson interval at this rate is no wider than ``width``.

    Examples
    --------
    >>> cases_for_width(0.05)
    1533
    """
    low, high = 1, 1
    while _width(high, rate, level) > width:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _width(middle, rate, level) > width else (low, middle)
    return low


def _width(total: int, rate: float, level: float) -> float:
    z2 = quantile_of_normal(0.5 + level / 2) ** 2
    return 2 * math.sqrt(z2) / (1 + z2 / total) * math.sqrt(rate * (1 - rate) / total + z2 / (4 * total * total))


def compare_pairs(scores: Mapping[str, Sequence[bool]]) -> list[tuple[str, str, float, float]]:
    """Exact McNemar test of all pairs of agents: names, p value, and p value adjusted by Holm."""
    names = list(scores)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    p_values = []
    for a, b in pairs:
        both = list(zip(scores[a], scores[b], strict=True))
        p_values.append(mcnemar(sum(x and not y for x, y in both), sum(y and not x for x, y in both)))
    return [(a, b, p, q) for (a, b), p, q in zip(pairs, p_values, holm(p_values), strict=True)]
