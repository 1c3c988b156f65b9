"""The hand-made order CL1: five levels along one axis, from easy to hard."""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Part, Region
from nl2net.curriculum.strategies.base import History

_LEVELS = 5


class Handcrafted:
    """Each new level gets weight 0.3, what was there before keeps 0.7."""

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Slices of the case's axis."""
        name, high_is_easy = case.handcrafted
        axis, size = case.space.index(name), case.space.size
        reached = min(_LEVELS - 1, history.round * _LEVELS // max(history.rounds, 1))
        parts: list[Part] = []
        for level in range(reached + 1):
            slot = _LEVELS - 1 - level if high_is_easy else level
            low, high = [0.0] * size, [1.0] * size
            low[axis], high[axis] = slot / _LEVELS, (slot + 1) / _LEVELS
            weight = 0.3 * 0.7 ** (reached - level)
            parts.append((Region(tuple(low), tuple(high)), weight))
        return parts
