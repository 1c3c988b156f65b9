"""Controls: no curriculum, and one that promotes regions drawn at random."""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Part
from nl2net.curriculum.strategies.base import History, ranked


class Uniform:
    """The whole space at all times."""

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Nothing: all weight stays uniform."""
        return []


class RandomRegions:
    """Sixteen random neighbourhoods a round: what concentration alone does, without any search."""

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Equal shares of weight 0.3."""
        points = rng.random((16, case.space.size))
        return ranked(points, np.zeros(16), weight=0.3, radius=0.1, even=True)
