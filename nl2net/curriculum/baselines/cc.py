"""Rules for congestion control, as state machines per monitor interval over the fluid link.

References
----------
.. [1] S. Ha, I. Rhee, L. Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", 2008; RFC 9438 (constants).
.. [2] N. Cardwell et al., "BBR: congestion-based congestion control", ACM Queue 14, 2016 (gains, states).
"""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.arrays import Bools, Floats
from nl2net.curriculum.environments.cc import MAX_RATE, CongestionSimulator
from nl2net.curriculum.streams import uniforms

_CUBIC_C, _CUBIC_BETA = 0.4, 0.7
_FIRST_WINDOW, _LEAST_WINDOW = 10.0, 2.0


class Cubic:
    """Window by a cubic curve since the last loss; a loss cuts it to 0.7."""

    rule = True

    def start(self, simulator: CongestionSimulator) -> None:
        """Ten packets and slow start."""
        count = len(simulator.rate)
        self.window = np.full(count, _FIRST_WINDOW)
        self._peak = np.zeros(count)
        self._since = np.zeros(count)
        self._slow = np.ones(count, dtype=bool)

    def decide(self, simulator: CongestionSimulator, features: Floats) -> Floats:
        """Windows, without pacing."""
        if simulator.place:
            self.update(simulator.interval_s, simulator.rtt_s, self._lost(simulator))
        return np.column_stack([np.full(len(self.window), MAX_RATE), self.window])

    @staticmethod
    def _lost(simulator: CongestionSimulator) -> Bools:
        # A fluid loses fractions of packets everywhere; a sender sees a loss with the chance of at least one packet.
        place = np.full(len(simulator.rate), simulator.place)
        return uniforms(simulator.seeds, "loss seen", place) < -np.expm1(-simulator.lost)

    def update(self, elapsed_s: Floats, rtt_s: Floats, lost: Bools) -> None:
        """Windows after an interval in which these sessions lost a packet."""
        rounds = elapsed_s / rtt_s
        self._since = np.where(lost, 0.0, self._since + elapsed_s)
        # Fast convergence: a peak below the last one gives way to newcomers.
        lower = self.window < self._peak
        peak = np.where(lower, self.window * (1 + _CUBIC_BETA) / 2, self.window)
        self._peak = np.where(lost, peak, self._peak)
        self._slow &= ~lost
        offset = np.cbrt(self._peak * (1 - _CUBIC_BETA) / _CUBIC_C)
        curve = _CUBIC_C * (self._since - offset) ** 3 + self._peak
        friendly = self._peak * _CUBIC_BETA + 3 * (1 - _CUBIC_BETA) / (1 + _CUBIC_BETA) * self._since / rtt_s
        # The standard bounds growth to half the window a round trip.
        grown = np.clip(np.maximum(curve, friendly), self.window, self.window * 1.5**rounds)
        window = np.where(self._slow, self.window * 2.0**rounds, grown)
        self.window = np.clip(np.where(lost, self.window * _CUBIC_BETA, window), _LEAST_WINDOW, 1e6)


_STARTUP, _DRAIN, _PROBE_BW, _PROBE_RTT = range(4)
_HIGH_GAIN = 2 / np.log(2)
_CYCLE = np.array([1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
_RATE_ROUNDS, _RTT_WINDOW_S, _PROBE_RTT_S = 10, 10.0, 0.2


class Bbr:
    """Rate by the greatest delivery rate of ten rounds, window by it and the least round-trip time."""

    rule = True

    def start(self, simulator: CongestionSimulator) -> None:
        """Startup with ten packets."""
        count = len(simulator.rate)
        self.state = np.zeros(count, dtype=np.int64)
        self._rates = np.zeros((_RATE_ROUNDS, count))
        self._rates[0] = _FIRST_WINDOW / simulator.base_rtt_s
        self._full, self._stuck = np.zeros(count), np.zeros(count, dtype=np.int64)
        self._phase = np.zeros(count, dtype=np.int64)
        self._least_rtt = np.full(count, np.inf)
        self._least_age, self._probing = np.zeros(count), np.zeros(count)

    def decide(self, simulator: CongestionSimulator, features: Floats) -> Floats:
        """Pacing rates and windows."""
        if simulator.place:
            self._learn(simulator)
            self._move(simulator)
        rate = self._rates.max(axis=0)
        least = np.where(np.isfinite(self._least_rtt), self._least_rtt, simulator.base_rtt_s)
        cycle = np.where(self.state == _PROBE_BW, _CYCLE[self._phase % 8], 1.0)
        pacing = np.select([self.state == _STARTUP, self.state == _DRAIN], [_HIGH_GAIN, 1 / _HIGH_GAIN], cycle)
        gain = np.where(self.state == _PROBE_BW, 2.0, _HIGH_GAIN)
        window = np.where(self.state == _PROBE_RTT, 4.0, np.maximum(gain * rate * least, 4.0))
        return np.column_stack([pacing * rate, window])

    def _learn(self, simulator: CongestionSimulator) -> None:
        self._rates = np.roll(self._rates, 1, axis=0)
        self._rates[0] = simulator.delivered / simulator.interval_s
        self._least_age += simulator.interval_s
        newer = simulator.rtt_s <= self._least_rtt
        self._least_rtt = np.where(newer, simulator.rtt_s, self._least_rtt)
        self._least_age = np.where(newer, 0.0, self._least_age)

    def _move(self, simulator: CongestionSimulator) -> None:
        """Transitions between the four states."""
        rate = self._rates.max(axis=0)
        grew = rate >= 1.25 * self._full
        self._stuck = np.where(grew, 0, self._stuck + 1)
        self._full = np.where(grew, rate, self._full)
        inflight = simulator.rate * simulator.rtt_s
        drained = inflight <= rate * self._least_rtt * 1.05
        leave = (self.state == _STARTUP) & (self._stuck >= 3)
        settle = (self.state == _DRAIN) & drained
        self._probing = np.where(self.state == _PROBE_RTT, self._probing + simulator.interval_s, 0.0)
        done = (self.state == _PROBE_RTT) & (self._probing >= _PROBE_RTT_S)
        stale = (self.state == _PROBE_BW) & (self._least_age > _RTT_WINDOW_S)
        self._phase = np.where(self.state == _PROBE_BW, self._phase + 1, 0)
        self.state = np.select([leave, settle | done, stale], [_DRAIN, _PROBE_BW, _PROBE_RTT], self.state)
        # What the probe measures replaces the old minimum.
        self._least_rtt = np.where(stale, np.inf, self._least_rtt)
        self._least_age = np.where(stale | done, 0.0, self._least_age)


class Capacity:
    """Knows the link: sends at its coming mean rate, a little less when a queue stands. No sender can know this."""

    rule = True

    def start(self, simulator: CongestionSimulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: CongestionSimulator, features: Floats) -> Floats:
        """Rates that empty the queue within the interval and fill the link."""
        room = simulator.coming_capacity() * simulator.interval_s - simulator.queue
        rate = np.maximum(room, 0.0) / simulator.interval_s / (1 - simulator.loss)
        return np.column_stack([rate, np.full(len(rate), np.inf)])
