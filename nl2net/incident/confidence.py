"""Confidence from features of the evidence, never from what a model says about itself."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nl2net.incident.claims import is_hedged
from nl2net.incident.origins import Origins
from nl2net.incident.outcome import Outcome
from nl2net.incident.records import Claim, SourceClass
from nl2net.incident.support import Support

# Signs are fixed: more of the first kind never lowers the score, more of the second never raises it.
SIGNS: Mapping[str, int] = {
    "origins": 1, "best_class": 1, "coverage": 1, "margin": 1, "computed": 1, "typed": 1, "quoted": 1,
    "missing": -1, "lacking": -1, "unnamed": -1, "unbound": -1, "clash": -1, "undone": -1, "loose": -1, "hedged": -1,
    "conflict": -1, "flags": -1,
}  # fmt: skip
_LOOSE = frozenset({"name", "actor", "text", "place", "cause"})


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of the evidence of one slot; all in [0, 1]."""

    origins: float = 0.0
    best_class: float = 0.0
    coverage: float = 0.0
    margin: float = 0.0
    computed: float = 0.0
    typed: float = 0.0
    quoted: float = 0.0
    missing: float = 0.0
    lacking: float = 0.0
    unnamed: float = 0.0
    unbound: float = 0.0
    clash: float = 0.0
    undone: float = 0.0
    loose: float = 0.0
    hedged: float = 0.0
    conflict: float = 0.0
    flags: float = 0.0

    def vector(self) -> list[float]:
        """Values in the order of `SIGNS`."""
        return [float(getattr(self, name)) for name in SIGNS]


@dataclass(frozen=True, slots=True)
class Scale:
    """A fit: weights by feature, with ``bias``, and the score below which a slot stays open.

    ``premise`` is the share of right answers among those that found a premise false.
    """

    weights: Mapping[str, float]
    threshold: float
    premise: float
    fitted_on: Mapping[str, object]


def load_scale(text: str) -> Scale:
    """A fit as `nl2net.incident.calibration` writes it."""
    body = json.loads(text)
    return Scale(body["weights"], float(body["threshold"]), float(body["premise"]), body["fitted_on"])


@cache
def shipped_scale() -> Scale:
    """The fit that ships with the package."""
    return load_scale((files("nl2net.incident") / "data" / "confidence.json").read_text(encoding="utf-8"))


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
    support = outcome.support or Support()
    return Features(
        origins=min(origins.count(claims) - 1, 2) / 2 if claims else 0.0,
        best_class=1 - best / SourceClass.GENERATED.rank,
        coverage=min(outcome.coverage, 1.0),
        margin=min(max(outcome.margin, 0.0), 0.5) * 2,
        computed=float(outcome.computed is not None),
        typed=float(bool(outcome.label)),
        quoted=support.quoted,
        missing=support.missing,
        lacking=support.lacking,
        unnamed=support.unnamed,
        unbound=support.unbound,
        clash=support.clash,
        undone=support.undone,
        loose=float(outcome.slot.type in _LOOSE),
        hedged=float(bool(claims) and is_hedged(claims[0].quote)),
        conflict=0.0 if not unsettled else 0.5 if outcome.verdict and outcome.verdict.preferred else 1.0,
        flags=float(any(c.doc in flagged for c in claims)),
    )


def score(features: Features, weights: Mapping[str, float] | None = None) -> float:
    """Logistic of the weighted features; by default with the weights that ship.

    Examples
    --------
    >>> weak = Features(coverage=0.3, missing=0.7, lacking=0.67, unnamed=1, loose=1, hedged=1)
    >>> strong = Features(origins=1, best_class=0.8, coverage=1, margin=1, typed=1, quoted=1)
    >>> score(weak) < 0.5 < score(strong)
    True
    """
    weights = shipped_scale().weights if weights is None else weights
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
