"""Congestion control: how fast one sender may send over a link whose rate changes.

The link is a fluid: per sub-step h, arrivals fill the queue, the link drains it, what exceeds the queue is lost. The
round-trip time is two delays, the queue, and the packet's own transmission, which slow links cannot neglect. A session
has 150 monitor intervals of one base round-trip time each, never under 50 ms: 30 s at the published default.

References
----------
.. [1] N. Jay et al., "A deep reinforcement learning perspective on Internet congestion control", ICML 2019
   (monitor intervals, observation, reward).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nl2net.curriculum.arrays import AnyArray, Floats, Seeds
from nl2net.curriculum.streams import uniforms
from nl2net.curriculum.traces.normal import Trace

PACKET_MBIT = 0.012
INTERVALS = 150
SUBSTEPS = 10
SHORTEST_S = 0.05
MIN_RATE, MAX_RATE = 5.0, 20_000.0
HISTORY = 10
# How many intervals ahead the critic sees.
_AHEAD = (1, 3, 10)
# A learned policy multiplies its rate by 1 + a, or divides by 1 - a when a is negative.
CHANGES = np.array([-1.0, -0.5, -0.2, -0.1, -0.03, 0.0, 0.03, 0.1, 0.2, 0.5, 1.0])
_FACTORS = np.where(CHANGES < 0, 1 / (1 + np.abs(CHANGES)), 1 + CHANGES)
# Fewest packets that a queue holds.
_MIN_QUEUE = 2.0
_SHARE, _LATENCY, _LOSS = 500.0, 1000.0, 2000.0


def reward(throughput: Floats, mean_rate: Floats, rtt_s: Floats, *, loss: Floats) -> Floats:
    """The published reward of a monitor interval.

    Examples
    --------
    >>> float(reward(np.array(8.0), np.array(10.0), np.array(0.05), loss=np.array(0.01)))
    330.0
    """
    result: Floats = _SHARE * throughput / mean_rate - _LATENCY * rtt_s - _LOSS * loss
    return result


class CongestionSimulator:
    """One sender and one bottleneck per session.

    Attributes
    ----------
    rate : array
        Packets per second of the last interval.
    rtt_s, base_rtt_s, min_rtt_s : array
        Mean round-trip time of the last interval, without any queue, and the least seen so far.
    delivered, lost, sent : array
        Packets of the last interval.
    queue : array
        Packets waiting now; ``queue_limit`` is the most.
    interval_s : array
        Length of a monitor interval.
    """

    steps = INTERVALS
    features = 3 * HISTORY + 1
    actions = len(CHANGES)
    insight = len(_AHEAD) + 3

    def __init__(self) -> None:
        self.observe = True

    def reset(self, points: Floats, seeds: Seeds) -> Floats:
        """Sessions by the columns of the space ``cc``."""
        high, share, delay, loss, bdp, change = np.asarray(points, dtype=float).T
        interval = np.maximum(2 * delay / 1000, SHORTEST_S)
        middles = (np.arange(INTERVALS * SUBSTEPS) + 0.5) / SUBSTEPS
        levels = uniforms(seeds, "bandwidth", (middles[:, None] * (interval / change)).astype(np.int64))
        capacity = high * (share + (1 - share) * levels) / PACKET_MBIT
        queue = np.maximum(bdp * capacity.mean(axis=0) * 2 * delay / 1000, _MIN_QUEUE)
        return self.begin(capacity, delay / 1000, loss=loss, queue=queue, seeds=seeds)

    def reset_on(self, traces: Sequence[Trace], *, delay_ms: float = 50.0, queue_packets: float = 10.0) -> Floats:
        """One session per trace, with the delay, loss and queue that it names or else the given ones."""
        delay = np.array([trace.settings.get("delay_ms", delay_ms) for trace in traces]) / 1000
        queue = np.array([trace.settings.get("queue_packets", queue_packets) for trace in traces])
        loss = np.array([trace.settings.get("loss", 0.0) for trace in traces])
        interval = np.maximum(2 * delay, SHORTEST_S)
        middles = (np.arange(INTERVALS * SUBSTEPS) + 0.5) / SUBSTEPS
        columns = []
        for trace, length in zip(traces, interval, strict=True):
            index = np.searchsorted(trace.edges_s, np.fmod(middles * length, trace.duration_s), side="right") - 1
            columns.append(trace.mbps[np.clip(index, 0, len(trace.mbps) - 1)] / PACKET_MBIT)
        seeds = np.arange(len(traces), dtype=np.uint64)
        return self.begin(np.column_stack(columns), delay, loss=loss, queue=queue, seeds=seeds)

    def begin(self, capacity: Floats, delay_s: Floats, *, loss: Floats, queue: Floats, seeds: Seeds) -> Floats:
        """Sessions from capacities in packets per second, shape (150 intervals x 10 sub-steps, sessions)."""
        count = self.from_space = capacity.shape[1]
        # Far below any sender's least rate, but no division by zero while the link is down.
        self._capacity = np.maximum(capacity, 0.1)
        self.seeds = seeds
        self.mean_capacity = capacity.mean(axis=0)
        self.base_rtt_s, self.loss, self.queue_limit = 2 * delay_s, loss, queue
        self.interval_s = np.maximum(self.base_rtt_s, SHORTEST_S)
        self.place = 0
        self.queue = np.zeros(count)
        self.rtt_s = self.base_rtt_s + 1 / self._capacity[0]
        self.min_rtt_s = self.rtt_s.copy()
        start = 0.3 + 1.2 * uniforms(seeds, "start rate", np.zeros(count, dtype=np.int64))
        self.rate = np.clip(start * self._capacity[0], MIN_RATE, MAX_RATE)
        self.delivered, self.lost, self.sent = np.zeros(count), np.zeros(count), np.zeros(count)
        self._seen = np.zeros((count, HISTORY, 3))
        self._seen[:, :, 1:] = (1.0, 1.0)
        self._totals = np.zeros((3, count))
        return self._features()

    def step(self, actions: AnyArray) -> tuple[Floats, Floats]:
        """Send for one interval.

        Parameters
        ----------
        actions : array of int, shape (sessions,), or of float, shape (sessions, 2)
            A learned policy's change of rate; or a rule's pacing rate and window, in packets per second and packets.
        """
        if actions.ndim == 2:
            pace, window = np.clip(actions[:, 0], MIN_RATE, MAX_RATE), np.maximum(actions[:, 1], 1.0)
        else:
            pace, window = np.clip(self.rate * _FACTORS[actions], MIN_RATE, MAX_RATE), None
        before = self.queue / self._capacity[self.place * SUBSTEPS]
        latency = self._send(pace, window)
        after = self.queue / self._capacity[self.place * SUBSTEPS + SUBSTEPS - 1]
        self.rate = pace if window is None else np.maximum(self.sent / self.interval_s, MIN_RATE)
        self.rtt_s = latency / np.maximum(self.delivered, 1e-12)
        np.minimum(self.min_rtt_s, self.rtt_s, out=self.min_rtt_s)
        share = self.lost / np.maximum(self.sent, 1e-12)
        throughput = self.delivered / self.interval_s
        gain = reward(throughput, self.mean_capacity, self.rtt_s, loss=share)
        self._totals += (throughput / self.mean_capacity, self.rtt_s, share)
        self.place += 1
        if self.observe:
            self._look((after - before) / self.interval_s)
        return self._features(), gain

    def _send(self, pace: Floats, window: Floats | None) -> Floats:
        """Run the sub-steps; returns the sum of round-trip times over delivered packets."""
        h = self.interval_s / SUBSTEPS
        sent, delivered = np.zeros_like(pace), np.zeros_like(pace)
        lost, latency = np.zeros_like(pace), np.zeros_like(pace)
        for k in range(self.place * SUBSTEPS, (self.place + 1) * SUBSTEPS):
            capacity = self._capacity[k]
            rtt = self.base_rtt_s + (self.queue + 1) / capacity
            out = (pace if window is None else np.minimum(pace, window / rtt)) * h
            filled = self.queue + out * (1 - self.loss)
            served = np.minimum(filled, capacity * h)
            left = filled - served
            self.queue = np.minimum(left, self.queue_limit)
            sent += out
            lost += out * self.loss + (left - self.queue)
            delivered += served
            # Packets served in this sub-step saw the queue between its start and its end.
            latency += served * 0.5 * (rtt + self.base_rtt_s + (self.queue + 1) / capacity)
        self.sent, self.delivered, self.lost = sent, delivered, lost
        return latency

    def _look(self, inflation: Floats) -> None:
        self._seen = np.roll(self._seen, 1, axis=1)
        self._seen[:, 0, 0] = np.clip(inflation, -5, 5)
        self._seen[:, 0, 1] = np.minimum(self.rtt_s / self.min_rtt_s, 10)
        self._seen[:, 0, 2] = np.minimum(self.sent / np.maximum(self.delivered, 1e-9), 10)

    def _features(self) -> Floats:
        if not self.observe:
            return np.empty((len(self.rate), 0))
        flat = self._seen.reshape(len(self.rate), -1)
        # The weight of latency against throughput depends on the path: the policy must know its least round trip.
        return np.column_stack([flat - np.tile([0.0, 1.0, 1.0], HISTORY), 5 * self.min_rtt_s])

    def foresee(self) -> Floats:
        """Coming capacities against the present rate and the session's mean, the standing queue, and the loss."""
        first = min(self.place, INTERVALS - 1) * SUBSTEPS
        ahead = [self._capacity[first : first + count * SUBSTEPS].mean(axis=0) for count in _AHEAD]
        ratios = [np.log(capacity / self.rate) for capacity in ahead]
        queue = np.minimum(self.queue / ahead[0], 10.0)
        share = np.log(self.rate / np.maximum(self.mean_capacity, 0.1))
        return np.column_stack([*ratios, share, queue, 10 * self.loss])

    def score(self) -> Floats:
        """Mean reward of an interval."""
        share, rtt, loss = self._totals / max(self.place, 1)
        result: Floats = _SHARE * share - _LATENCY * rtt - _LOSS * loss
        return result

    def coming_capacity(self) -> Floats:
        """Mean packets per second of the interval that comes next; for the rule that knows the link."""
        result: Floats = self._capacity[self.place * SUBSTEPS : (self.place + 1) * SUBSTEPS].mean(axis=0)
        return result

    def optimum(self) -> Floats:
        """Score of a sender that fills the link without any queue."""
        result: Floats = _SHARE - _LATENCY * self.base_rtt_s - _LOSS * self.loss
        return result

    def parts(self) -> Mapping[str, Floats]:
        """Throughput, latency and loss terms of the mean reward."""
        share, rtt, loss = self._totals / max(self.place, 1)
        return {"throughput": _SHARE * share, "latency": -_LATENCY * rtt, "loss": -_LOSS * loss}
