"""Load balancing: rules by hand, Lindley's recursion against an event list, scale-free features."""

from __future__ import annotations

import numpy as np
import pytest

from nl2net.curriculum.arrays import Ints
from nl2net.curriculum.baselines.lb import LeastWork, Lookahead, RateShare, ShortestExpectedDelay, ShortestWait
from nl2net.curriculum.environments.lb import BalancerSimulator
from nl2net.curriculum.environments.lb_bound import least_flow
from nl2net.curriculum.policies import play
from nl2net.curriculum.spaces import shipped_space
from nl2net.curriculum.streams import generator, session_seeds

NOTHING = np.empty((1, 0))


@pytest.mark.parametrize(("backlog", "llf", "spt", "sed"), [([1.0, 2.0, 2.5], 0, 0, 2), ([4.0, 3.0, 2.0], 0, 2, 2)])
def test_rules_on_the_check_values(backlog: list[float], llf: int, spt: int, sed: int) -> None:
    simulator = BalancerSimulator()
    simulator.begin(np.array([[0.5, 1.0, 2.0]]), np.array([[4.0, 4.0]]), np.array([[1.0, 1.0]]))
    simulator.backlog_s[:] = backlog
    assert LeastWork().decide(simulator, NOTHING)[0] == llf
    assert ShortestWait().decide(simulator, NOTHING)[0] == spt
    assert ShortestExpectedDelay().decide(simulator, NOTHING)[0] == sed
    if backlog[0] == 1.0:
        np.testing.assert_allclose(simulator.completion()[0], [9, 6, 4.5])


def test_flow_times_equal_an_event_list() -> None:
    rng = generator(1, "queue")
    rates, jobs = np.array([[0.5, 1.0, 2.0]]), 300
    sizes, gaps = rng.uniform(1, 10, (1, jobs)), rng.exponential(2.0, (1, jobs))
    workers = rng.integers(0, 3, jobs)
    simulator = BalancerSimulator()
    simulator.begin(rates, sizes, gaps)
    for worker in workers:
        simulator.step(np.array([worker]))
    now, free, total = 0.0, [0.0, 0.0, 0.0], 0.0
    for k in range(jobs):
        now += gaps[0, k] if k else 0.0
        free[workers[k]] = max(now, free[workers[k]]) + sizes[0, k] / rates[0, workers[k]]
        total += free[workers[k]] - now
    assert simulator.flow_s[0] == pytest.approx(total)
    assert simulator.total_flow()[0] == pytest.approx(-total)


def test_sed_leads_and_scale_does_not_matter() -> None:
    space = shipped_space("lb")
    points = space.values(generator(2, "points").random((200, space.size)))
    seeds = session_seeds(2, "lb", count=200)
    scores = {
        rule: play(rule(), BalancerSimulator(), points, seeds).scores for rule in (LeastWork, ShortestWait, RateShare)
    }
    best = play(ShortestExpectedDelay(), BalancerSimulator(), points, seeds).scores
    assert all(best.mean() > found.mean() for found in scores.values())
    # Sizes and rates ten times as large are the same problem; the smallest job is fixed, so nearly.
    larger = points.copy()
    larger[:, 0] *= 10
    larger[:, 1] *= 10
    again = play(ShortestExpectedDelay(), BalancerSimulator(), larger, seeds).scores
    assert abs(again.mean() - best.mean()) < 0.02


@pytest.mark.parametrize("name", ["rate", "size", "gap", "pareto"])
def test_each_parameter_moves_its_statistic(name: str) -> None:
    space = shipped_space("lb")
    values = np.repeat(np.array([[3.0, 4000.0, 200.0, 0.2]]), 300, axis=0)  # a load of 0.77
    low, high = values.copy(), values.copy()
    axis = space.axes[space.index(name)]
    low[:, space.index(name)], high[:, space.index(name)] = axis.low, axis.high
    seeds = session_seeds(3, name, count=300)
    a, b = (play(ShortestExpectedDelay(), BalancerSimulator(), points, seeds).scores.mean() for points in (low, high))
    assert abs(a - b) > 0.02


def test_terms_add_up() -> None:
    space = shipped_space("lb")
    points = space.values(generator(4, "points").random((50, space.size)))
    played = play(ShortestWait(), BalancerSimulator(), points, session_seeds(4, "t", count=50))
    np.testing.assert_allclose(sum(played.parts.values()), -np.exp(-played.scores), rtol=1e-9)


def test_no_balancer_passes_the_bound_and_knowing_the_jobs_helps() -> None:
    space = shipped_space("lb")
    points = space.values(generator(5, "points").random((60, space.size)))
    seeds = session_seeds(5, "lb", count=60)
    simulator = BalancerSimulator()
    known = play(Lookahead(), simulator, points, seeds).scores
    sed = play(ShortestExpectedDelay(), BalancerSimulator(), points, seeds).scores
    assert known.mean() > sed.mean() + 0.01
    assert (known <= simulator.bound() + 1e-9).all()


def test_the_bound_is_met_where_it_can_be() -> None:
    # One job at a time on the fastest worker: nobody waits, and the bound is exactly that.
    simulator = BalancerSimulator()
    simulator.begin(np.array([[0.5, 1.0, 2.0]]), np.array([[4.0, 6.0, 2.0]]), np.array([[1.0, 50.0, 50.0]]))
    for _ in range(3):
        simulator.step(np.array([2]))
    assert simulator.score()[0] == pytest.approx(simulator.bound()[0])


def test_shortest_remaining_time_first_by_brute_force() -> None:
    rng = generator(6, "small")
    for _ in range(20):
        sizes, arrivals = rng.integers(1, 6, 4), np.sort(rng.integers(0, 8, 4))
        found = least_flow(sizes.astype(float), arrivals.astype(float), rate=1.0)
        assert found == pytest.approx(_unit_slots(sizes, arrivals))


def _unit_slots(sizes: Ints, arrivals: Ints) -> float:
    """Least sum of flow times over every way to give whole seconds to jobs that have come."""
    best: dict[tuple[int, ...], float] = {tuple(map(int, sizes)): 0.0}
    now = 0
    while True:
        following: dict[tuple[int, ...], float] = {}
        for left, cost in best.items():
            present = [k for k in range(len(left)) if left[k] and arrivals[k] <= now]
            for k in present or [-1]:
                rest = tuple(n - (j == k) for j, n in enumerate(left))
                total = cost + len(present)
                following[rest] = min(total, following.get(rest, np.inf))
        best, now = following, now + 1
        if tuple([0] * len(sizes)) in best and len(best) == 1:
            return best[tuple([0] * len(sizes))]
