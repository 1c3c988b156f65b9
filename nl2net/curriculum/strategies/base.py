"""What a curriculum is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Mixture, Part


@dataclass(slots=True)
class History:
    """What happened so far in a run.

    Attributes
    ----------
    round : int
        Rounds before this one.
    rounds : int
        Rounds in all.
    mixture : Mixture
        Distribution of the last round.
    played, surprise : array
        Points of the unit cube trained on in the last round, and the mean absolute advantage of each.
    buffer, buffer_scores, buffer_rounds : array
        Points that a strategy remembers, with a score and the round of that score.
    """

    round: int
    rounds: int
    mixture: Mixture
    played: Floats
    surprise: Floats
    buffer: Floats
    buffer_scores: Floats = field(default_factory=lambda: np.zeros(0))
    buffer_rounds: Floats = field(default_factory=lambda: np.zeros(0))


class Strategy(Protocol):
    """Chooses where the next round trains.

    Returns boxes of the unit cube with weights; what the weights leave of 1 is trained uniformly.
    """

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Parts of the next round's mixture."""
        ...


def ranked(points: Floats, scores: Floats, *, weight: float, radius: float, even: bool = False) -> list[Part]:
    """Neighbourhoods of points that share a weight by rank of their scores, the highest first."""
    from nl2net.curriculum.mixture import neighbourhood

    if len(points) == 0:
        return []
    order = np.argsort(-scores, kind="stable")
    shares = np.ones(len(points)) if even else 1.0 / np.arange(1, len(points) + 1)
    shares = weight * shares / shares.sum()
    return [(neighbourhood(points[k], radius), float(share)) for k, share in zip(order, shares, strict=True)]
