"""Statistics against the check values of the literature and by simulation."""

from __future__ import annotations

import random

import pytest

from nl2net.benchmark.stats import (
    cases_for_paired,
    cases_for_width,
    cases_to_separate,
    cases_to_touch,
    cluster_bootstrap,
    effective_size,
    holm,
    mcnemar,
    paired_bootstrap,
    pass_at_k,
    wilson,
)


@pytest.mark.parametrize(
    ("solved", "total", "low", "high"), [(0, 30, 0, 0.1135), (16, 30, 0.3614, 0.6977), (46, 100, 0.3656, 0.5574)]
)
def test_wilson(solved: int, total: int, low: float, high: float) -> None:
    found = wilson(solved, total)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    mirrored = wilson(total - solved, total)
    assert mirrored.low == pytest.approx(1 - found.high)


def test_wilson_without_cases_knows_nothing_and_refuses_nonsense() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)
    with pytest.raises(ValueError, match="no count"):
        wilson(4, 3)


@pytest.mark.parametrize(("first", "second", "p"), [(8, 2, 0.1094), (15, 5, 0.0414), (0, 0, 1.0), (5, 5, 1.0)])
def test_mcnemar(first: int, second: int, p: float) -> None:
    assert round(mcnemar(first, second), 4) == p
    assert mcnemar(first, second) == mcnemar(second, first)


@pytest.mark.parametrize(
    ("a", "b", "touch", "separate", "paired"),
    [
        (0.465, 0.383, 555, 942, 285),
        (0.219, 0.173, 1139, 1936, 585),
        (0.132, 0.111, 3711, 6308, 1900),
        (0.021, 0.016, 11108, 18896, 5701),
    ],
)
def test_planner(a: float, b: float, touch: int, separate: int, paired: int) -> None:
    assert cases_to_touch(a, b) == touch
    assert cases_to_separate(a, b) == separate
    assert cases_for_paired(a - b, 0.5 * (a * (1 - b) + b * (1 - a))) == paired


def test_intervals_separate_at_the_promised_rate() -> None:
    random.seed(5)
    total = cases_to_separate(0.6, 0.4)
    apart = 0
    for _ in range(1000):
        one = wilson(sum(random.random() < 0.6 for _ in range(total)), total)
        two = wilson(sum(random.random() < 0.4 for _ in range(total)), total)
        apart += not one.overlaps(two)
    assert 0.76 < apart / 1000 < 0.88


def test_width() -> None:
    total = cases_for_width(0.05)
    half = total // 2
    assert wilson(half, total).high - wilson(half, total).low <= 0.0501
    assert cases_for_width(0.1) < total


def test_holm_keeps_the_order_and_is_never_smaller() -> None:
    p_values = [0.001, 0.4, 0.02, 0.03]
    adjusted = holm(p_values)
    assert adjusted[0] == pytest.approx(0.004)
    assert all(b >= a for a, b in zip(p_values, adjusted, strict=True))
    assert sorted(range(4), key=adjusted.__getitem__)[0] == 0


def test_bootstraps_are_seeded_and_clusters_widen() -> None:
    first, second = [1.0] * 30 + [0.0] * 10, [1.0] * 20 + [0.0] * 20
    found = paired_bootstrap(first, second, resamples=500)
    assert found == paired_bootstrap(first, second, resamples=500)
    assert found.low <= 0.25 <= found.high
    scores, clusters = [1.0] * 20 + [0.0] * 20, [i // 10 for i in range(40)]
    alone = cluster_bootstrap(scores, list(range(40)), resamples=500)
    together = cluster_bootstrap(scores, clusters, resamples=500)
    assert together.high - together.low > alone.high - alone.low
    assert effective_size(scores, clusters) == pytest.approx(4)
    assert effective_size(scores, list(range(40))) == 40


def test_pass_at_k() -> None:
    assert pass_at_k(5, 1, 1) == pytest.approx(0.2)
    assert pass_at_k(5, 1, 5) == 1.0
    assert pass_at_k(5, 0, 3) == 0.0
