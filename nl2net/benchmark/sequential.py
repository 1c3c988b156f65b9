"""Early stopping at planned looks: limits that keep the whole test at its level, by alpha spending.

References
----------
.. [1] K. K. G. Lan and D. L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70, 1983.
.. [2] P. Armitage, C. K. McPherson and B. C. Rowe, "Repeated significance tests on accumulating data", Journal of the
   Royal Statistical Society A 132, 1969.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from nl2net.errors import UserError

_NORMAL = NormalDist()
_POINTS = 601  # of the grid on which the density is followed
SPENDING = ("obrien-fleming", "pocock")
Floats = npt.NDArray[np.float64]


def spent(kind: str, time: float, alpha: float) -> float:
    """Alpha of one side that may be used up when the share ``time`` of the cases is in.

    Examples
    --------
    >>> round(spent("pocock", 1.0, 0.025), 6), spent("obrien-fleming", 0.2, 0.025) < 1e-6
    (0.025, True)
    """
    if kind == "pocock":
        return alpha * math.log(1 + (math.e - 1) * time)
    if kind == "obrien-fleming":
        return 2 * (1 - _NORMAL.cdf(_NORMAL.inv_cdf(1 - alpha / 2) / math.sqrt(time)))
    raise UserError(f"unknown spending function {kind!r}", hint=f"Known are {', '.join(SPENDING)}.")


def boundaries(times: Sequence[float], *, kind: str = "obrien-fleming", level: float = 0.95) -> list[float]:
    """Two-sided limits of the z value at planned looks.

    Parameters
    ----------
    times : sequence of float
        Shares of all planned cases at the looks, rising, the last one 1.
    kind : str
        ``obrien-fleming`` hardly stops early, ``pocock`` spends evenly.
    level : float
        1 minus the chance that equal agents are called different at any look.

    Examples
    --------
    >>> [round(limit, 2) for limit in boundaries([0.2, 0.4, 0.6, 0.8, 1.0])]
    [4.88, 3.36, 2.68, 2.29, 2.03]
    """
    if not times or sorted(set(times)) != list(times) or times[0] <= 0 or not math.isclose(times[-1], 1.0):
        raise UserError("looks are rising shares of the cases, the last one 1")
    return list(_boundaries(tuple(times), kind, level))


@lru_cache(maxsize=64)
def _boundaries(times: tuple[float, ...], kind: str, level: float) -> tuple[float, ...]:
    alpha = (1 - level) / 2
    limits: list[float] = []
    grid: Floats = np.zeros(1)
    density: Floats = np.ones(1)
    used = before = 0.0
    for time in times:
        step = math.sqrt(time - before)
        allowed = max(spent(kind, time, alpha) - used, 1e-15)
        limit = _limit(grid, density, step, time, allowed)
        grid, density = _advance(grid, density, step, limit * math.sqrt(time))
        limits.append(limit)
        used, before = used + allowed, time
    return tuple(limits)


def _limit(grid: Floats, density: Floats, step: float, time: float, allowed: float) -> float:
    """The z value above which ``allowed`` of the mass that is still inside ends."""
    low, high = 0.0, 12.0
    for _ in range(60):
        middle = (low + high) / 2
        above = float(_sum(density * ndtr((grid - middle * math.sqrt(time)) / step), grid))
        low, high = (middle, high) if above > allowed else (low, middle)
    return (low + high) / 2


def _advance(grid: Floats, density: Floats, step: float, edge: float) -> tuple[Floats, Floats]:
    """Density of the sum after the next step, inside the limits."""
    points = np.linspace(-edge, edge, _POINTS)
    gaps = (points[:, None] - grid[None, :]) / step
    kernel = np.exp(-0.5 * gaps * gaps) / (step * math.sqrt(2 * math.pi))
    moved = kernel @ density if len(grid) == 1 else np.trapezoid(kernel * density[None, :], grid, axis=1)
    return points, np.asarray(moved, dtype=np.float64)


def _sum(values: Floats, grid: Floats) -> float:
    return float(values[0]) if len(grid) == 1 else float(np.trapezoid(values, grid))


@dataclass(frozen=True, slots=True)
class Look:
    """The state of a paired comparison at one planned look."""

    cases: int
    first_only: int
    second_only: int
    z: float
    limit: float

    @property
    def stop(self) -> bool:
        """The limit was passed: the better agent is known."""
        return abs(self.z) >= self.limit


def look_at(
    pairs: Sequence[tuple[bool, bool]], *, planned: int, looks: int, kind: str = "obrien-fleming", level: float = 0.95
) -> list[Look]:
    """Test two agents at equally spaced looks, up to the first that decides or to the last that was reached.

    Parameters
    ----------
    pairs : sequence of two booleans
        Whether the first and the second agent solved a case, in the order in which cases were run.
    planned : int
        Number of cases of the whole test.
    looks : int
        Number of planned looks.

    Examples
    --------
    >>> found = look_at([(True, False)] * 40, planned=100, looks=5)
    >>> len(found), found[-1].stop
    (2, True)
    """
    limits = boundaries([(number + 1) / looks for number in range(looks)], kind=kind, level=level)
    found: list[Look] = []
    for number, limit in enumerate(limits, start=1):
        cases = round(planned * number / looks)
        if cases > len(pairs):
            break
        first = sum(a and not b for a, b in pairs[:cases])
        second = sum(b and not a for a, b in pairs[:cases])
        z = (first - second) / math.sqrt(first + second) if first + second else 0.0
        found.append(Look(cases, first, second, z, limit))
        if found[-1].stop:
            break
    return found


def simulate_overlap(
    skills: Mapping[str, float], sizes: Sequence[int], *, trials: int = 200, seed: int = 1
) -> dict[int, float]:
    """Share of pairs of agents whose 95 % intervals overlap, by number of cases, for agents of known skill.

    Parameters
    ----------
    skills : mapping of str to float
        True rate of each agent.
    sizes : sequence of int
        Numbers of cases.
    trials : int
        Simulated suites per size.

    Examples
    --------
    >>> found = simulate_overlap({"a": 0.5, "b": 0.3}, [20, 2000], trials=50)
    >>> found[2000] < found[20]
    True
    """
    from nl2net.benchmark.stats import wilson

    draws = np.random.default_rng(seed)
    rates = list(skills.values())
    pairs = [(i, j) for i in range(len(rates)) for j in range(i + 1, len(rates))]
    shares = {}
    for size in sizes:
        overlapping = 0
        for solved in draws.binomial(size, rates, size=(trials, len(rates))):
            intervals = [wilson(int(count), size) for count in solved]
            overlapping += sum(intervals[i].overlaps(intervals[j]) for i, j in pairs)
        shares[size] = overlapping / max(1, trials * len(pairs))
    return shares
