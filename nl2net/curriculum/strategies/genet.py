"""Genet as published: Bayesian optimisation of the gap to a baseline, the best point promoted.

References
----------
.. [1] Z. Xia et al., "Genet: automatic curriculum generation for learning adaptation in networking", SIGCOMM 2022.
"""

from __future__ import annotations

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.environments.base import Case
from nl2net.curriculum.gap import Probe
from nl2net.curriculum.mixture import Part, neighbourhood
from nl2net.curriculum.strategies.base import History

_KAPPA = 20.0
_FIRST, _GUIDED, _REPEATS = 10, 5, 10
_LENGTHS = (0.1, 0.2, 0.4, 0.8, 1.6)
_NOISE = 1e-3


def _matern(a: Floats, b: Floats, length: float) -> Floats:
    distance = np.sqrt(np.maximum(((a[:, None] - b[None]) ** 2).sum(axis=2), 0.0)) * np.sqrt(5) / length
    kernel: Floats = (1 + distance + distance**2 / 3) * np.exp(-distance)
    return kernel


def posterior(points: Floats, values: Floats, where: Floats) -> tuple[Floats, Floats]:
    """Mean and deviation of a Gaussian process (Matérn 5/2; the length of greatest likelihood out of five).

    Examples
    --------
    >>> seen = np.array([[0.0], [1.0]])
    >>> mean, deviation = posterior(seen, np.array([1.0, 3.0]), np.array([[0.0], [0.5]]))
    >>> bool(abs(mean[0] - 1) < 0.01), bool(deviation[1] > deviation[0])
    (True, True)
    """
    centre, spread = values.mean(), values.std() + 1e-12
    scaled = (values - centre) / spread
    best: tuple[float, Floats, float] = (-np.inf, np.eye(len(points)), _LENGTHS[0])
    for length in _LENGTHS:
        kernel = _matern(points, points, length) + _NOISE * np.eye(len(points))
        factor = np.asarray(np.linalg.cholesky(kernel), dtype=np.float64)
        half = np.linalg.solve(factor, scaled)
        likelihood = float(-0.5 * half @ half - np.log(np.diag(factor)).sum())
        if likelihood > best[0]:
            best = (likelihood, factor, length)
    assert best is not None
    _, root, length = best
    cross = np.linalg.solve(root, _matern(points, where, length))
    mean = cross.T @ np.linalg.solve(root, scaled)
    variance = np.maximum(1 - (cross**2).sum(axis=0), 0.0)
    return mean * spread + centre, np.sqrt(variance) * spread


class Genet:
    """Ten uniform points, five by upper confidence bound with kappa = 20; weights x 0.7, the winner gets 0.3.

    Parameters
    ----------
    radius : float
        0 promotes a point, as published; above it the neighbourhood.
    """

    def __init__(self, radius: float = 0.0) -> None:
        self._radius = radius

    def propose(self, probe: Probe, case: Case, history: History, rng: np.random.Generator) -> list[Part]:
        """Last round's parts at 0.7 of their weight, and the new point; the uniform rest shrinks without a floor."""
        points = rng.random((_FIRST, case.space.size))
        values = probe.gaps(points, _REPEATS, "genet", history.round).mean(axis=1)
        for step in range(_GUIDED):
            candidates = rng.random((2000, case.space.size))
            mean, deviation = posterior(points, values, candidates)
            chosen = candidates[[int((mean + _KAPPA * deviation).argmax())]]
            found = probe.gaps(chosen, _REPEATS, "genet", history.round, step).mean(axis=1)
            points, values = np.vstack([points, chosen]), np.append(values, found)
        kept = [(region, weight * 0.7) for region, weight in history.mixture.parts]
        return [*kept, (neighbourhood(points[values.argmax()], self._radius), 0.3)]
