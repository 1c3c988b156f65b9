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
