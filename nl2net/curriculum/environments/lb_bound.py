"""A bound that no balancer can pass: all workers as one, which serves the shortest remaining job first.

Whatever three workers do, one worker as fast as all of them together can do no later, and on one worker shortest
remaining time first gives the least sum of flow times. A job also takes at least its time on the fastest worker.

References
----------
.. [1] L. Schrage, "A proof of the optimality of the shortest remaining processing time discipline", Operations Research
   16, 1968.
"""

from __future__ import annotations

import heapq

import numpy as np

from nl2net.curriculum.arrays import Floats


def least_flow(sizes: Floats, arrivals: Floats, *, rate: float) -> float:
    """Sum of flow times on one preemptive worker that serves the shortest remaining job.

    Parameters
    ----------
    sizes, arrivals : array, shape (jobs,)
        Work of each job, and when it comes, in order of time.
    rate : float
        Work per second.

    Examples
    --------
    >>> least_flow(np.array([4.0, 1.0]), np.array([0.0, 1.0]), rate=1.0)
    6.0
    """
    waiting: list[tuple[float, float]] = []
    now, total = 0.0, 0.0
    following = [*map(float, arrivals[1:]), np.inf]
    for size, came, until in zip(map(float, sizes), map(float, arrivals), following, strict=True):
        now = max(now, came)
        heapq.heappush(waiting, (size / rate, came))
        while waiting and now + waiting[0][0] <= until:
            left, start = heapq.heappop(waiting)
            now += left
            total += now - start
        if waiting and now < until:
            left, start = heapq.heappop(waiting)
            heapq.heappush(waiting, (left - (until - now), start))
            now = until
    return total


def flow_bound(rates: Floats, sizes: Floats, gaps: Floats) -> Floats:
    """Least sum of flow times that any balancer could reach, one per system.

    Parameters
    ----------
    rates : array, shape (systems, workers)
    sizes, gaps : array, shape (systems, jobs)
        Work of each job, and time since the job before; the first gap does not count.
    """
    arrivals = np.cumsum(gaps, axis=1) - gaps[:, :1]
    pooled = [
        least_flow(size, came, rate=float(rate.sum())) for size, came, rate in zip(sizes, arrivals, rates, strict=True)
    ]
    alone = (sizes / rates.max(axis=1, keepdims=True)).sum(axis=1)
    result: Floats = np.maximum(pooled, alone)
    return result
