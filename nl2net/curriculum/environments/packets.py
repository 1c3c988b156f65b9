"""A packet-by-packet bottleneck, to check the fluid one against. Slow on purpose: nothing is averaged.

One sender and one first-in-first-out link need no event heap: packets leave in the order of their arrival, so each
packet's departure follows from the one before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nl2net.curriculum.arrays import Floats


@dataclass(frozen=True, slots=True)
class PacketRun:
    """Outcome of one run; ``sent = delivered + lost + queued`` holds exactly."""

    sent: int
    delivered: int
    lost: int
    queued: int
    mean_rtt_s: float


def _departure(start: float, capacity: Callable[[float], tuple[float, float]]) -> float:
    """End of the transmission of one packet that begins at ``start``, over changes of the link's rate."""
    work, now = 1.0, start
    while True:
        rate, until = capacity(now)
        if rate > 0 and now + work / rate <= until:
            return now + work / rate
        work -= rate * (until - now)
        now = until


@dataclass(frozen=True, slots=True)
class Link:
    """Piecewise constant rates in packets per second, steps of ``step_s``; the last one holds on."""

    rates: Floats
    step_s: float
    delay_s: float
    loss: float = 0.0
    queue: float = 100.0

    def at(self, time: float) -> tuple[float, float]:
        """Rate at a time, and how long it holds."""
        index = int(time / self.step_s + 1e-9)
        if index >= len(self.rates) - 1:
            return float(self.rates[-1]), float("inf")
        return float(self.rates[index]), (index + 1) * self.step_s


def run_packets(link: Link, sending: Floats, interval_s: float, *, seed: int) -> PacketRun:
    """Send at the given rates, one per interval, and follow every packet.

    Parameters
    ----------
    link : Link
    sending : array
        Packets per second in each interval.
    interval_s : float
    seed : int
        Of the random losses.
    """
    rng = np.random.default_rng(seed)
    waiting: deque[float] = deque()
    sent = lost = delivered = 0
    latency, free, now = 0.0, 0.0, 0.0
    end = len(sending) * interval_s
    while now < end:
        sent += 1
        while waiting and waiting[0] <= now:
            waiting.popleft()
        # The packet in service occupies the link, not the queue.
        if rng.random() < link.loss or len(waiting) - 1 >= link.queue:
            lost += 1
        else:
            free = _departure(max(now, free), link.at)
            waiting.append(free)
            if free <= end:
                delivered += 1
                latency += free - now + 2 * link.delay_s
        now += 1 / sending[min(int(now / interval_s + 1e-9), len(sending) - 1)]
    return PacketRun(sent, delivered, lost, sent - delivered - lost, latency / max(delivered, 1))
