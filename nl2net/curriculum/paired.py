"""Paired comparisons over seeds: sign-flip test and bootstrap interval; Holm's correction is the benchmark's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.streams import generator

_EXACT = 16
_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of paired differences with its 95 % interval and two-sided p value."""

    mean: float
    low: float
    high: float
    p: float
    pairs: int


def sign_flip(differences: Floats) -> float:
    """Two-sided p value of the sign-flip permutation test; exact up to 16 pairs.

    Examples
    --------
    >>> round(sign_flip(np.arange(1.0, 11.0)), 4)
    0.002
    >>> sign_flip(np.array([1.0, -1.0]))
    1.0
    """
    count = len(differences)
    if count == 0:
        return 1.0
    if count <= _EXACT:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
    else:
        signs = 1 - 2 * generator(1, "signs").integers(0, 2, (_RESAMPLES, count))
        signs[0] = 1
    totals = np.abs(signs @ differences)
    return float((totals >= abs(differences.sum()) - 1e-12).mean())


def compare(first: Sequence[float], second: Sequence[float], *, seed: int = 1) -> Difference:
    """First minus second, paired by position.

    Raises
    ------
    ValueError
        Different or zero numbers of values.
    """
    if len(first) != len(second) or not first:
        raise ValueError("paired values need the same, positive number")
    differences = np.array(first) - np.array(second)
    draws = generator(seed, "bootstrap").integers(0, len(differences), (_RESAMPLES, len(differences)))
    low, high = np.percentile(differences[draws].mean(axis=1), [2.5, 97.5])
    return Difference(float(differences.mean()), float(low), float(high), sign_flip(differences), len(differences))
