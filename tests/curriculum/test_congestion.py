"""Congestion control: the fluid link against single packets, conservation, and rules by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.baselines.cc import Bbr, Capacity, Cubic
from nl2net.curriculum.environments.cc import CongestionSimulator, reward
from nl2net.curriculum.environments.packets import Link, run_packets
from nl2net.curriculum.policies import play
from nl2net.curriculum.spaces import shipped_space
from nl2net.curriculum.streams import generator, session_seeds
from nl2net.curriculum.traces import generate

SPACE = shipped_space("cc")


def _one(capacity: Floats, delay: float, *, loss: float, queue: float) -> CongestionSimulator:
    simulator = CongestionSimulator()
    seeds = session_seeds(1, "one", count=1)
    simulator.begin(capacity[:, None], np.array([delay]), loss=np.array([loss]), queue=np.array([queue]), seeds=seeds)
    return simulator


def test_reward_and_optimum_on_the_check_values() -> None:
    assert float(reward(np.array(8.0), np.array(10.0), np.array(0.05), loss=np.array(0.01))) == pytest.approx(330)
    simulator = _one(np.full(1500, 250.0), 0.101, loss=0.0, queue=10.0)
    assert simulator.optimum()[0] == pytest.approx(298)


@pytest.mark.parametrize("number", range(20))
def test_the_fluid_agrees_with_single_packets(number: int) -> None:
    rng = np.random.default_rng(1000 + number)
    delay, middle = rng.uniform(0.01, 0.1), np.exp(rng.uniform(np.log(50), np.log(1500)))
    loss, bdp = float(rng.choice([0, 0.01, 0.03])), rng.uniform(0.5, 3)
    interval = max(2 * delay, 0.05)
    levels = middle * rng.uniform(0.5, 1.5, 30)
    queue = max(bdp * middle * 2 * delay, 2.0)
    rates = np.clip(np.repeat(levels, 5) * rng.uniform(0.6, 1.4, 150), 5, 20_000)
    simulator = _one(np.repeat(levels, 50), delay, loss=loss, queue=queue)
    delivered = latency = 0.0
    for rate in rates:
        simulator.step(np.array([[rate, np.inf]]))
        delivered += simulator.delivered[0]
        latency += simulator.delivered[0] * simulator.rtt_s[0]
    packets = run_packets(Link(levels, 5 * interval, delay, loss, queue), rates, interval, seed=number)
    assert packets.sent == packets.delivered + packets.lost + packets.queued
    assert delivered == pytest.approx(packets.delivered, rel=0.05)
    assert latency / delivered == pytest.approx(packets.mean_rtt_s, rel=0.10)


def test_nothing_is_created_or_forgotten() -> None:
    points = SPACE.values(generator(1, "points").random((100, SPACE.size)))
    simulator = CongestionSimulator()
    simulator.reset(points, session_seeds(1, "c", count=100))
    rng = generator(2, "actions")
    for _ in range(60):
        before = simulator.queue.copy()
        simulator.step(rng.integers(0, simulator.actions, 100))
        total = simulator.delivered + simulator.lost + simulator.queue - before
        np.testing.assert_allclose(total, simulator.sent, rtol=1e-9, atol=1e-9)
        assert (simulator.queue <= simulator.queue_limit + 1e-9).all()


def test_knowing_the_link_beats_every_rule() -> None:
    points = SPACE.values(generator(3, "points").random((200, SPACE.size)))
    seeds = session_seeds(3, "c", count=200)
    simulator = CongestionSimulator()
    known = play(Capacity(), simulator, points, seeds).scores
    assert (known <= simulator.optimum() + 1e-6).all()
    for rule in (Cubic(), Bbr()):
        assert play(rule, CongestionSimulator(), points, seeds).scores.mean() < known.mean()


def test_cubic_by_hand() -> None:
    simulator = _one(np.full(1500, 1000.0), 0.05, loss=0.0, queue=100.0)
    rule = Cubic()
    rule.start(simulator)
    once, never = np.array([True]), np.array([False])
    step = (np.array([0.1]), np.array([0.1]))
    rule.update(*step, never)
    assert rule.window[0] == pytest.approx(20)  # slow start doubles each round trip
    rule.window[:] = 100
    rule.update(*step, once)
    assert rule.window[0] == pytest.approx(70)
    # K = cbrt(100 * 0.3 / 0.4) = 4.217 s: after as long as that, the curve is back at the old peak.
    for _ in range(42):
        rule.update(*step, never)
    assert rule.window[0] == pytest.approx(100, abs=0.5)
    rule.window[:] = 90
    rule.update(*step, once)  # below the last peak: fast convergence remembers 90 * 0.85
    assert rule._peak[0] == pytest.approx(76.5)


def test_bbr_finds_the_rate_and_cycles() -> None:
    simulator = _one(np.full(1500, 500.0), 0.05, loss=0.0, queue=50.0)
    rule, states, gains = Bbr(), [], []
    rule.start(simulator)
    first = rule.decide(simulator, np.empty((1, 0)))
    assert first[0, 0] == pytest.approx(2 / np.log(2) * 10 / 0.1)
    for _ in range(60):
        action = rule.decide(simulator, np.empty((1, 0)))
        simulator.step(action)
        states.append(int(rule.state[0]))
        gains.append(action[0, 0] / rule._rates.max())
    assert states[0] == 0
    assert 1 in states
    assert states[-1] == 2
    assert rule._rates.max() == pytest.approx(500, rel=0.02)
    probing = {round(gain, 2) for gain, state in zip(gains[20:], states[20:], strict=True) if state == 2}
    assert probing == {0.75, 1.0, 1.25}


@pytest.mark.parametrize("name", [axis.name for axis in SPACE.axes])
def test_each_parameter_moves_its_statistic(name: str) -> None:
    values = np.repeat(SPACE.default(), 200, axis=0)
    low, high = values.copy(), values.copy()
    column = SPACE.index(name)
    low[:, column], high[:, column] = SPACE.axes[column].low, SPACE.axes[column].high
    seeds = session_seeds(5, name, count=200)
    a, b = (play(Cubic(), CongestionSimulator(), points, seeds).scores.mean() for points in (low, high))
    assert abs(a - b) > 5


def test_traces_bring_their_own_delay() -> None:
    simulator = CongestionSimulator()
    traces = generate("wired", seed=1, count=5)
    simulator.reset_on(traces)
    np.testing.assert_allclose(simulator.base_rtt_s, [2 * t.settings["delay_ms"] / 1000 for t in traces])
