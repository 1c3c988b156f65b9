"""Confidence from features of the evidence, never from what a model says about itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nl2net.incident.claims import is_hedged
from nl2net.incident.origins import Origins
from nl2net.incident.records import Claim, SourceClass
from nl2net.incident.solve import Outcome

# Signs are fixed by hand: more of the first kind never lowers the score, more of the last two never raises it.
SIGNS: Mapping[str, int] = {
    "origins": 1, "best_class": 1, "coverage": 1, "margin": 1, "computed": 1, "typed": 1, "hedged": -1,
    "conflict": -1, "flags": -1,
}  # fmt: skip
# Set by hand under those signs; `--evaluate` prints how well they hold (Brier score, calibration error).
WEIGHTS: Mapping[str, float] = {
    "bias": 0.4, "origins": 0.35, "best_class": 0.9, "coverage": 1.6, "margin": 0.6, "computed": 0.5, "typed": 0.6,
    "hedged": -0.5,
    "conflict": -0.9, "flags": -0.5,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of the evidence of one slot; all in [0, 1]."""

    origins: float
    best_class: float
    coverage: float
    margin: float
    computed: float
    typed: float
    hedged: float
    conflict: float
    flags: float

    def vector(self) -> list[float]:
        """Values in the order of `SIGNS`."""
        return [float(getattr(self, name)) for name in SIGNS]


def features_of(outcome: Outcome, origins: Origins, flagged: frozenset[str]) -> Features:
    """Features of a slot that was filled.

    Parameters
    ----------
    outcome : Outcome
        The slot and its claims.
    origins : Origins
        Of the pool.
    flagged : frozenset of str
        Documents with an attack in them.
    """
    claims: Sequence[Claim] = outcome.claims
    best = min((c.source.source_class.rank for c in claims), default=SourceClass.GENERATED.rank)
    unsettled = outcome.verdict is not None and outcome.verdict.is_live
    return Features(
        origins=min(origins.count(claims) - 1, 2) / 2 if claims else 0.0,
        best_class=1 - best / SourceClass.GENERATED.rank,
        coverage=min(outcome.coverage, 1.0),
        margin=min(max(outcome.margin, 0.0), 0.5) * 2,
        computed=float(outcome.computed is not None),
        typed=float(bool(outcome.label)),
        hedged=float(bool(claims) and is_hedged(claims[0].quote)),
        conflict=0.0 if not unsettled else 0.5 if outcome.verdict and outcome.verdict.preferred else 1.0,
        flags=float(any(c.doc in flagged for c in claims)),
    )


def score(features: Features, weights: Mapping[str, float] = WEIGHTS) -> float:
    """Logistic of the weighted features.

    Examples
    --------
    >>> weak = Features(0, 0, 0.3, 0, 0, 0, 1, 1, 1)
    >>> strong = Features(1, 0.8, 1, 1, 0, 1, 0, 0, 0)
    >>> score(weak) < 0.5 < score(strong)
    True
    """
    total = weights["bias"] + sum(weights[name] * value for name, value in zip(SIGNS, features.vector(), strict=True))
    return 1 / (1 + math.exp(-total))


def band_of(confidence: float) -> str:
    """Words for a confidence.

    Examples
    --------
    >>> band_of(0.9), band_of(0.6), band_of(0.1)
    ('supported', 'partly supported', 'not supported')
    """
    return "supported" if confidence >= 0.8 else "partly supported" if confidence >= 0.5 else "not supported"
