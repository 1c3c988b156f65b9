"""The bitrate simulator and its rules, against hand-computed steps, a row-by-row replay and the reference table."""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np
import pytest
from tests_data import SHARED

from nl2net.curriculum.arrays import Bools, Floats
from nl2net.curriculum.baselines.abr import BufferBased, ConstantLevel, Mpc, estimate_rate
from nl2net.curriculum.environments.abr import LEVELS_MBPS, BitrateSimulator, chunk_sizes
from nl2net.curriculum.environments.base import Policy
from nl2net.curriculum.policies import Played, finish, play
from nl2net.curriculum.spaces import shipped_space
from nl2net.curriculum.streams import generator, session_seeds
from nl2net.curriculum.traces import Trace, load_folder, load_trace

TRACES = SHARED / "traces"
SPACE = shipped_space("abr")


@lru_cache(maxsize=1)
def windows() -> tuple[list[Trace], Bools]:
    found = [trace for trace in load_folder(TRACES / "fcc") if not trace.name.endswith("-long")]
    return found, np.array([trace.name.endswith("-1s") for trace in found])


def on_traces(policy: Policy, traces: list[Trace]) -> tuple[Played, BitrateSimulator]:
    simulator = BitrateSimulator()
    simulator.observe = False
    return finish(policy, simulator, simulator.reset_on(traces)), simulator


def test_the_check_session() -> None:
    simulator = BitrateSimulator()
    simulator.reset_on([load_trace(TRACES / "formats" / "two-column.txt")])
    for level in (2, 5, 0, 3, 1):
        simulator.step(np.array([level]))
    downloads = [0.7179, 2.2242, 10.8834, 0.3527, 1.8287, 0.6389]
    np.testing.assert_allclose(simulator.downloads[0, :6], downloads, atol=5e-5)
    np.testing.assert_allclose(simulator.stalls[0, :6], [0.7179, 0, 5.1076, 0, 0, 0], atol=5e-5)
    np.testing.assert_allclose(simulator.rewards[0, :6], [-6.879, 0.3, -49.8756, -3.7, 0.3, -0.35], atol=5e-5)


def test_rules_on_the_sample_trace() -> None:
    trace = load_trace(TRACES / "formats" / "two-column.txt")
    expected: list[tuple[Policy, float]] = [
        (BufferBased(), 1.3510),
        (Mpc(5), 1.4909),
        (Mpc(5, one_step=True), 1.7948),
        (Mpc(3), 1.5857),
    ]
    for policy, value in expected:
        assert on_traces(policy, [trace])[0].scores[0] == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    ("policy", "coarse", "fine", "everything", "stall", "level"),
    [
        (ConstantLevel(), 0.2938, 0.2938, 0.2938, 0.0, 300.0),
        (BufferBased(), 0.8459, 0.6644, 0.7159, 0.0153, 1299.3),
    ],
)
def test_reference_table_of_rules_without_ties(
    policy: Policy, coarse: float, fine: float, everything: float, stall: float, level: float
) -> None:
    traces, one = windows()
    played, simulator = on_traces(policy, traces)
    assert len(traces) == 141
    assert one.sum() == 101
    got = [played.scores[~one].mean(), played.scores[one].mean(), played.scores.mean()]
    np.testing.assert_allclose(got, [coarse, fine, everything], atol=5e-5)
    assert simulator.stalls[:, 1:].sum(axis=1).mean() / 48 == pytest.approx(stall, abs=5e-5)
    assert LEVELS_MBPS[simulator.levels[:, 1:]].mean() * 1000 == pytest.approx(level, abs=0.05)


@pytest.mark.parametrize(
    ("policy", "coarse", "fine", "tolerance"),
    [
        # Raising the level by a chunk earns exactly what the change costs: many plans tie, and rounding decides.
        (Mpc(3), 1.0234, 0.7786, 0.001),
        pytest.param(Mpc(5), 1.1308, 0.8807, 0.03, marks=pytest.mark.slow),
        pytest.param(Mpc(5, one_step=True), 0.9388, 0.7274, 0.02, marks=pytest.mark.slow),
    ],
)
def test_reference_table_of_planners_up_to_ties(policy: Policy, coarse: float, fine: float, tolerance: float) -> None:
    traces, one = windows()
    scores = on_traces(policy, traces)[0].scores
    assert scores[~one].mean() == pytest.approx(coarse, abs=tolerance)
    assert scores[one].mean() == pytest.approx(fine, abs=tolerance)


def test_every_choice_of_the_planner_is_optimal() -> None:
    # Ties may be broken either way, but a plan of less value must never win.
    traces, _ = windows()
    simulator, policy = BitrateSimulator(), Mpc(3)
    simulator.reset_on(traces[::20])
    policy.start(simulator)
    plans = np.array(list(itertools.product(range(6), repeat=3)))
    for _ in range(12):
        k = simulator.chunk
        rate = estimate_rate(simulator.throughputs[:, :k])
        chosen = policy.decide(simulator, np.empty((0, 0)))
        for e, first in enumerate(chosen):
            values = np.array([_value(simulator, e, plan, rate[e]) for plan in plans])
            assert values[plans[:, 0] == first].max() >= values.max() - 1e-9
        simulator.step(chosen)


def _value(simulator: BitrateSimulator, session: int, plan: Floats, rate: float) -> float:
    buffer, before, total = simulator.buffer_s[session], simulator.last_level[session], 0.0
    for offset, level in enumerate(plan):
        took = simulator.sizes_mbit[simulator.chunk + offset, level] / rate
        total += LEVELS_MBPS[level] - 10 * max(0.0, took - buffer) - abs(LEVELS_MBPS[level] - LEVELS_MBPS[before])
        buffer, before = max(0.0, buffer - took) + 4, level
    return float(total)


def _replay(trace: Trace, levels: list[int], *, rtt: float, limit: float) -> list[float]:
    """Download times row by row, as a plain player would do it."""
    sizes, position, buffer, found = chunk_sizes() * 8e-6, 0.0, 0.0, []
    for chunk, level in enumerate(levels):
        left, began = sizes[chunk, level] / 0.95, position
        while True:
            place = position % trace.duration_s
            row = int(np.searchsorted(trace.edges_s, place, side="right")) - 1
            room = (trace.edges_s[row + 1] - place) * trace.mbps[row]
            if room >= left:
                position += left / trace.mbps[row]
                break
            left -= room
            position += trace.edges_s[row + 1] - place
        took = position - began + rtt
        found.append(took)
        buffer = max(0.0, buffer - took) + 4
        if buffer > limit:
            wait = 0.5 * np.ceil((buffer - limit) / 0.5)
            buffer, position = buffer - wait, position + wait
    return found


def test_batches_equal_the_row_by_row_replay() -> None:
    traces, _ = windows()
    rng = generator(4, "levels")
    levels = rng.integers(0, 6, (len(traces), 48))
    levels[:, 0] = 0
    simulator = BitrateSimulator()
    simulator.reset_on(traces, rtt_ms=80, buffer_s=20)
    for k in range(1, 48):
        simulator.step(levels[:, k])
    for e in range(0, len(traces), 7):
        expected = _replay(traces[e], list(map(int, levels[e])), rtt=0.08, limit=20)
        np.testing.assert_allclose(simulator.downloads[e], expected, rtol=1e-9, atol=1e-9)


def test_a_session_does_not_depend_on_its_batch() -> None:
    points = SPACE.values(generator(1, "points").random((40, SPACE.size)))
    seeds = session_seeds(1, "batch", count=40)
    together = play(BufferBased(), BitrateSimulator(), points, seeds).scores
    alone = play(BufferBased(), BitrateSimulator(), points[7:8], seeds[7:8]).scores
    assert together[7] == alone[0]


def test_terms_add_up_to_the_score() -> None:
    points = SPACE.values(generator(2, "points").random((50, SPACE.size)))
    played = play(BufferBased(), BitrateSimulator(jitter=True), points, session_seeds(2, "t", count=50))
    np.testing.assert_allclose(sum(played.parts.values()), played.scores, atol=1e-9)


def test_more_bandwidth_never_hurts_the_best_constant_level() -> None:
    points = np.repeat(SPACE.default(), 6, axis=0)
    points[:, 0] = [1, 2, 4, 8, 16, 32]
    points[:, 1] = 0.5
    seeds = np.repeat(session_seeds(3, "m", count=1), 6)
    best = np.max([play(ConstantLevel(k), BitrateSimulator(), points, seeds).scores for k in range(6)], axis=0)
    assert (np.diff(best) >= -1e-12).all()


@pytest.mark.parametrize("name", [axis.name for axis in SPACE.axes])
def test_each_parameter_moves_its_statistic(name: str) -> None:
    low, high = (np.repeat(SPACE.default(), 200, axis=0) for _ in range(2))
    axis = SPACE.axes[SPACE.index(name)]
    low[:, SPACE.index(name)], high[:, SPACE.index(name)] = axis.low, axis.high
    if name == "buffer_s":  # a small buffer can only be felt when the link is fast
        low[:, 0] = high[:, 0] = 50.0
    seeds = session_seeds(5, name, count=200)
    scores = [play(BufferBased(), BitrateSimulator(), points, seeds).scores for points in (low, high)]
    assert abs(scores[0].mean() - scores[1].mean()) > 0.05


def test_the_first_check_values_of_the_rules() -> None:
    assert BufferBased.level(np.array([4.9, 7, 9, 12, 15])).tolist() == [0, 1, 2, 3, 5]
    past = np.array([[1.0, 2.0, 4.0]])
    assert [round(float(estimate_rate(past[:, :n])[0]), 4) for n in (1, 2, 3)] == [1.0, 0.8889, 1.0286]
