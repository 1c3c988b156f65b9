"""Learnability: settings that the policy sometimes masters, by p (1 - p).

References
----------
.. [1] A. Rutherford et al., "No regrets: investigating and improving regret approximations for curriculum
   discovery", NeurIPS 2024.
"""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Part
from nl2net.curriculum.strategies.base import History, ranked


class Learnability:
    """Half of the training on the 48 settings, out of 256, whose outcome against the baseline is least certain."""

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Neighbourhoods by p (1 - p), p the share of environments in which the policy beats the baseline."""
        points = rng.random((probe.affordable(256, 8), case.space.size))
        wins = (probe.gaps(points, 8, "learnability", history.round) < 0).mean(axis=1)
        scores = wins * (1 - wins)
        # Equal scores are common with eight trials; a random order keeps them from favouring a corner.
        order = rng.permutation(len(points))
        best = order[np.argsort(-scores[order], kind="stable")[: max(1, len(points) * 3 // 16)]]
        best = best[scores[best] > 0]
        return ranked(points[best], scores[best], weight=0.5, radius=0.05, even=True)
