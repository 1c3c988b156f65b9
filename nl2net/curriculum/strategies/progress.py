"""Progress: settings whose gap fell since the last round, so training goes where it still helps."""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Part
from nl2net.curriculum.strategies.base import History, ranked


class Progress:
    """The same 192 settings are measured every round; the 16 that gained most and are still behind are promoted."""

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Neighbourhoods of falling but positive gaps; nothing in the first round."""
        if len(history.buffer) == 0:
            history.buffer = rng.random((probe.affordable(192, 4), case.space.size))
        # The same environments in every round: a difference of paired measurements is far less noisy.
        gaps = probe.gaps(history.buffer, 4, "progress").mean(axis=1)
        before, history.buffer_scores = history.buffer_scores, gaps
        if len(before) == 0:
            return []
        gained = np.where(gaps > 0, before - gaps, -np.inf)
        best = np.argsort(-gained, kind="stable")[:16]
        best = best[gained[best] > 0]
        return ranked(history.buffer[best], gained[best], weight=0.3, radius=0.1)
