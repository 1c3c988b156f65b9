"""Prioritised level replay: settings that surprise the value function come again.

References
----------
.. [1] M. Jiang, E. Grefenstette, T. Rocktäschel, "Prioritized level replay", ICML 2021.
"""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Part
from nl2net.curriculum.strategies.base import History, ranked

_CAPACITY = 128
_STALENESS = 0.2
_REPLAY = 0.5


class PrioritisedReplay:
    """Replays half of the time: by rank of the mean absolute advantage, a fifth of it by age. Needs no baseline."""

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Small neighbourhoods of remembered settings."""
        rounds = np.full(len(history.played), float(history.round))
        points = np.vstack([history.buffer, history.played])
        scores = np.concatenate([history.buffer_scores, history.surprise])
        ages = np.concatenate([history.buffer_rounds, rounds])
        kept = np.argsort(-scores, kind="stable")[:_CAPACITY]
        history.buffer, history.buffer_scores, history.buffer_rounds = points[kept], scores[kept], ages[kept]
        by_score = ranked(history.buffer, history.buffer_scores, weight=_REPLAY * (1 - _STALENESS), radius=0.03)
        by_age = ranked(history.buffer, -history.buffer_rounds, weight=_REPLAY * _STALENESS, radius=0.03)
        return by_score + by_age
