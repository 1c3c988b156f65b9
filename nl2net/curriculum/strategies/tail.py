"""Tail search: train more where the policy scores worst, whatever any rule would do there.

References
----------
.. [1] A. Tamar, Y. Glassner, S. Mannor, "Optimizing the CVaR via sampling", AAAI 2015 (the aim: the mean of the worst
   share instead of the mean).
"""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Part
from nl2net.curriculum.strategies.base import History, ranked


class Tail:
    """The lowest-scoring eighth of random settings, half of them by fresh environments. Needs no baseline.

    Parameters
    ----------
    settings, promoted : int
    weight : float
        Share of training on the neighbourhoods of the promoted settings.
    """

    def __init__(self, settings: int = 256, *, promoted: int = 16, weight: float = 0.4) -> None:
        self._settings, self._promoted, self._weight = settings, promoted, weight

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Neighbourhoods of the settings that stay lowest when they are scored again."""
        settings = probe.affordable(self._settings, 1)
        points = rng.random((settings, case.space.size))
        first = probe.scores(points, 1, "tail", history.round).mean(axis=1)
        promoted = max(2, self._promoted * settings // self._settings)
        points = points[np.argsort(first, kind="stable")[: 2 * promoted]]
        # The lowest of single scores are partly bad luck: half of them are kept, by other environments.
        again = probe.scores(points, 4, "tail again", history.round).mean(axis=1)
        kept = np.argsort(again, kind="stable")[:promoted]
        return ranked(points[kept], -again[kept], weight=self._weight, radius=0.1, even=True)
