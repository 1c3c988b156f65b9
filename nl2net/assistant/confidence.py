"""How sure an answer is: a small logistic model over what the loop saw, fitted on the development split."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known about an answer without knowing the truth.

    Attributes
    ----------
    consistency : float
        Share of samples that agree.
    samples : int
        Samples drawn.
    repairs : int
        Repairs of the chosen program.
    findings : int
        Findings above a caveat that it keeps.
    similarity : float
        Cosine of the question and the nearest library entry, 0-1.
    unused : int
        Masked entities of the question that the program does not use.
    logprob : float
        Mean log probability of the reply's tokens; 0 if the server does not tell.
    empty : int
        1 for an empty list or table.
    borrowed : float
        Similarity of a library program that gives the same value; 0 without one.
    alone : int
        1 if only one program was tried.
    """

    consistency: float = 1.0
    samples: int = 1
    repairs: int = 0
    findings: int = 0
    similarity: float = 0.0
    unused: int = 0
    logprob: float = 0.0
    empty: int = 0
    borrowed: float = 0.0
    alone: int = 0


@cache
def weights() -> Mapping[str, float]:
    """Coefficients per signal and ``bias``; empty until fitted."""
    resource = files("nl2net.assistant").joinpath("data/confidence.json")
    if not resource.is_file():
        return {}
    return dict(json.loads(resource.read_text("utf-8"))["weights"])


def confidence(signals: Signals, fitted: Mapping[str, float] | None = None) -> float:
    """Probability that the answer is right.

    Notes
    -----
    Without fitted weights this is the reference formula of MeshAgent (POMACS 9(3), 2025): 0 if a check fails, else
    half the consistency and half of what five debug rounds leave.

    Examples
    --------
    >>> confidence(Signals(consistency=0.8, samples=5, repairs=1), {})
    0.8
    """
    fitted = weights() if fitted is None else fitted
    if not fitted:
        if signals.findings:
            return 0.0
        return round(0.5 * signals.consistency + 0.5 * (1 - signals.repairs / 5), 6)
    total = fitted.get("bias", 0.0)
    total += sum(fitted.get(name, 0.0) * float(value) for name, value in asdict(signals).items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
