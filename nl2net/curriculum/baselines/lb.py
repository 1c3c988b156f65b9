"""Rules for load balancing."""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.arrays import Floats, Ints
from nl2net.curriculum.environments.lb import BalancerSimulator


class LeastWork:
    """LLF: the worker with the least queued work, blind to how fast it works."""

    rule = True

    def start(self, simulator: BalancerSimulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: BalancerSimulator, features: Floats) -> Ints:
        """Workers by queued work."""
        choice: Ints = (simulator.backlog_s * simulator.rates).argmin(axis=1)
        return choice


class ShortestWait:
    """SPT: the worker that is idle first; it forgets how long the job itself takes there."""

    rule = True

    def start(self, simulator: BalancerSimulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: BalancerSimulator, features: Floats) -> Ints:
        """Workers by waiting time."""
        choice: Ints = simulator.backlog_s.argmin(axis=1)
        return choice


class ShortestExpectedDelay:
    """SED: the worker on which this job is done first."""

    rule = True

    def start(self, simulator: BalancerSimulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: BalancerSimulator, features: Floats) -> Ints:
        """Workers by completion time."""
        choice: Ints = simulator.completion().argmin(axis=1)
        return choice


class RateShare:
    """A fixed pattern that visits workers in proportion to their rates, whatever the queues hold."""

    rule = True

    def start(self, simulator: BalancerSimulator) -> None:
        """Begin with nobody owed anything."""
        self._owed = np.zeros(simulator.rates.shape)

    def decide(self, simulator: BalancerSimulator, features: Floats) -> Ints:
        """The worker that is furthest behind its share."""
        self._owed += simulator.rates / simulator.rates.sum(axis=1, keepdims=True)
        choice: Ints = self._owed.argmax(axis=1)
        self._owed[np.arange(len(choice)), choice] -= 1.0
        return choice


class Lookahead:
    """Knows the jobs to come: tries every worker for this job and SED for the next ones. No balancer can know this.

    Parameters
    ----------
    jobs : int
        How many jobs it looks ahead.

    References
    ----------
    .. [1] D. Bertsekas, "Rollout, policy iteration, and distributed reinforcement learning", 2020.
    """

    rule = True

    def __init__(self, jobs: int = 20) -> None:
        self._jobs = jobs

    def start(self, simulator: BalancerSimulator) -> None:
        """Nothing to forget."""

    def decide(self, simulator: BalancerSimulator, features: Floats) -> Ints:
        """The worker from which SED goes on with the least sum of flow times."""
        count, workers = simulator.rates.shape
        # Row w of a system is the future in which this job joins worker w.
        rates = np.repeat(simulator.rates, workers, axis=0)
        backlog = np.repeat(simulator.backlog_s, workers, axis=0)
        rows, taken = np.arange(count * workers), np.tile(np.arange(workers), count)
        total = backlog[rows, taken] = simulator.completion().ravel()
        for size, gap in zip(*simulator.coming(self._jobs), strict=True):
            backlog = np.maximum(backlog - np.repeat(gap, workers)[:, None], 0.0)
            done = backlog + np.repeat(size, workers)[:, None] / rates
            taken = done.argmin(axis=1)
            backlog[rows, taken] = done[rows, taken]
            total = total + done[rows, taken]
        choice: Ints = total.reshape(count, workers).argmin(axis=1)
        return choice
