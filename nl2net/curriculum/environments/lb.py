"""Load balancing: which of three workers serves the next job.

Backlogs follow Lindley's recursion, so one step is a handful of array operations for all systems at once.

References
----------
.. [1] H. Mao et al., "Park: an open platform for learning-augmented computer systems", NeurIPS 2019 (the problem).
.. [2] D. V. Lindley, "The theory of queues with a single server", Math. Proc. Cambridge Phil. Soc. 48, 1952.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nl2net.curriculum.arrays import AnyArray, Floats, Seeds
from nl2net.curriculum.environments.lb_bound import flow_bound
from nl2net.curriculum.streams import uniforms

WORKERS = 3
JOBS = 200
SMALLEST = 10.0
_PARETO_SHAPE, _PARETO_CAP = 2.0, 30.0
_ORDERS = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
# How many jobs ahead the critic sees.
_AHEAD = (1, 3, 10, 30, 100)
_RATIOS = np.array([1 / 3, 1.0, 3.0])


class BalancerSimulator:
    """Three workers per system; every job joins the queue of the worker that the action names.

    Parameters
    ----------
    jobs : int
        Jobs in a session.

    Attributes
    ----------
    rates : array, shape (systems, 3)
        Work per second of each worker; seen by the rules SPT and SED and by the learned policy.
    backlog_s : array, shape (systems, 3)
        Seconds until each worker is idle, the job in service included.
    job : array
        Size of the job to place.
    """

    features = 9
    actions = WORKERS
    insight = 2 * len(_AHEAD)

    def __init__(self, jobs: int = JOBS) -> None:
        self.steps = jobs
        self.observe = True

    def reset(self, points: Floats, seeds: Seeds) -> Floats:
        """Systems by the columns of the space ``lb``."""
        rate, size, gap, pareto = np.asarray(points, dtype=float).T
        count, places = len(rate), np.arange(self.steps)
        order = (uniforms(seeds, "order", np.zeros(count, dtype=np.int64)) * len(_ORDERS)).astype(np.int64)
        rates = rate[:, None] * _RATIOS[_ORDERS[order]]
        draws = uniforms(seeds[:, None], "size", places)
        even = SMALLEST + (size[:, None] - SMALLEST) * draws
        # Scaled to the mean of the even sizes: the share of heavy tails must not move the load.
        tail = np.minimum((1 - draws) ** (-1 / _PARETO_SHAPE), _PARETO_CAP)
        mean_tail = _PARETO_SHAPE / (_PARETO_SHAPE - 1) - 1 / _PARETO_CAP
        heavy = (SMALLEST + size[:, None]) / 2 * tail / mean_tail
        sizes = np.where(uniforms(seeds[:, None], "tail", places) < pareto[:, None], heavy, even)
        gaps = -gap[:, None] * np.log(uniforms(seeds[:, None], "gap", places))
        return self.begin(rates, sizes, gaps)

    def begin(self, rates: Floats, sizes: Floats, gaps: Floats) -> Floats:
        """Systems with given rates, job sizes and gaps before each job."""
        self.rates, self._sizes, self._gaps = rates, np.ascontiguousarray(sizes.T), np.ascontiguousarray(gaps.T)
        self._total_rate = rates.sum(axis=1)
        self._pooled = sizes.mean(axis=1) / self._total_rate
        self._place = 0
        self.from_space = len(rates)
        self._work = np.vstack([np.zeros(len(rates)), np.cumsum(self._sizes, axis=0)])
        self._clock = np.cumsum(self._gaps, axis=0)
        self.steps = sizes.shape[1]
        self._rows = np.arange(len(rates))
        self.backlog_s = np.zeros(rates.shape)
        self.flow_s = np.zeros(len(rates))
        self._waiting = np.zeros(len(rates))
        self.job = self._sizes[0]
        return self._features()

    def step(self, actions: AnyArray) -> tuple[Floats, Floats]:
        """Place the job; the reward is minus its flow time in units of the pooled service time of a mean job."""
        worker = np.asarray(actions, dtype=np.int64)
        before = self.backlog_s[self._rows, worker]
        flow = before + self.job / self.rates[self._rows, worker]
        self.backlog_s[self._rows, worker] = flow
        self.flow_s += flow
        self._waiting += before
        self._place += 1
        if self._place < self.steps:
            self.backlog_s -= self._gaps[self._place][:, None]
            np.maximum(self.backlog_s, 0.0, out=self.backlog_s)
            self.job = self._sizes[self._place]
        return self._features(), -flow / self._pooled

    def completion(self) -> Floats:
        """Seconds until the job would be done at each worker."""
        result: Floats = self.backlog_s + self.job[:, None] / self.rates
        return result

    def _features(self) -> Floats:
        if not self.observe:
            return np.empty((len(self.job), 0))
        # In units of the pooled service time, so that systems of any scale look alike.
        unit = self._pooled[:, None]
        mine = self.job[:, None] / self.rates / unit
        job = np.log1p(self.job / (self._pooled * self._total_rate))
        # The mean gap so far, from which the load can be told; the first job has no gap that counts.
        seen = (self._clock[self._place_now] - self._clock[0]) / max(self._place_now, 1) / self._pooled
        left = np.full(len(self.job), 1 - self._place / self.steps)
        return np.column_stack([np.log1p(self.backlog_s / unit) / 3, np.log1p(mine) / 2, job, np.log1p(seen), left])

    @property
    def _place_now(self) -> int:
        return min(self._place, self.steps - 1)

    def foresee(self) -> Floats:
        """Work and time of the next 1 to 100 jobs, in units of the pooled service time."""
        now, last = self._place_now, self.steps - 1
        unit = self._pooled
        ends = [min(now + count, last) for count in _AHEAD]
        work = [(self._work[end + 1] - self._work[now + 1]) / self._total_rate / unit for end in ends]
        time = [(self._clock[end] - self._clock[now]) / unit for end in ends]
        result: Floats = np.log1p(np.column_stack([*work, *time])) / 2
        return result

    def score(self) -> Floats:
        """Minus the log of mean flow time by pooled service time: ratios, so no overloaded system drowns the rest."""
        result: Floats = -np.log(self.flow_s / self.steps / self._pooled)
        return result

    def bound(self) -> Floats:
        """A score that no balancer can pass in these systems, not even one that knows all jobs."""
        least = flow_bound(self.rates, np.ascontiguousarray(self._sizes.T), np.ascontiguousarray(self._gaps.T))
        result: Floats = -np.log(least / self.steps / self._pooled)
        return result

    def coming(self, count: int) -> tuple[Floats, Floats]:
        """Sizes of the next jobs and the gaps before them, shape (jobs, systems); for the rule that knows them."""
        after = slice(self._place + 1, self._place + 1 + count)
        return self._sizes[after], self._gaps[after]

    def parts(self) -> Mapping[str, Floats]:
        """Mean waiting and service in units of the pooled service time, as penalties."""
        waiting = self._waiting / self.steps / self._pooled
        return {"waiting": -waiting, "service": -(self.flow_s / self.steps / self._pooled - waiting)}

    def total_flow(self) -> Floats:
        """Minus the sum of all flow times, the published reward."""
        return -self.flow_s
