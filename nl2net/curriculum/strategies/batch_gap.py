"""Batch search: the worst of many random settings, scored again before they count."""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Part
from nl2net.curriculum.strategies.base import History, ranked


class BatchGap:
    """The sixteen largest gaps of 256 random settings, each over two environments.

    Parameters
    ----------
    settings, repeats, promoted : int
    weight : float
        Share of training on the promoted neighbourhoods; the rest stays uniform and never shrinks.
    """

    def __init__(self, settings: int = 256, repeats: int = 2, *, promoted: int = 16, weight: float = 0.3) -> None:
        self._settings, self._repeats = settings, repeats
        self._promoted, self._weight = promoted, weight

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Neighbourhoods of the settings whose gap holds on fresh environments; none when none does."""
        settings = probe.affordable(self._settings, self._repeats)
        points = rng.random((settings, case.space.size))
        first = probe.gaps(points, self._repeats, "batch", history.round).mean(axis=1)
        points = points[np.argsort(-first, kind="stable")[: max(1, self._promoted * settings // self._settings)]]
        # The best of noisy means is biased upwards: what wins is measured again, and dropped when it is not sure.
        again = probe.gaps(points, 4 * self._repeats, "again", history.round)
        error = again.std(axis=1, ddof=1) / np.sqrt(again.shape[1])
        sure = again.mean(axis=1) > error
        return ranked(points[sure], again.mean(axis=1)[sure], weight=self._weight, radius=0.1, even=True)
