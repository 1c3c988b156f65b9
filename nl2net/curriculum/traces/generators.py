"""Traces that stand in for published sets without a clear licence, matched to their statistics.

Rates follow an AR(1) process on the log scale, ``x' = phi x + sqrt(1 - phi^2) sigma e`` with
``rate = m exp(x - sigma^2 / 2)`` and ``sigma^2 = ln(1 + CV^2)``, so that mean, spread and lag-1 correlation are set
apart from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.streams import generator
from nl2net.curriculum.traces.normal import Trace, build_trace
from nl2net.errors import UserError

_Maker = Callable[[np.random.Generator], tuple[float, Floats]]


def _ar1(rng: np.random.Generator, count: int, phi: float, sigma: float) -> Floats:
    noise = rng.standard_normal(count)
    x = np.empty(count)
    x[0] = sigma * noise[0]
    step = np.sqrt(1 - phi * phi) * sigma
    for k in range(1, count):
        x[k] = phi * x[k - 1] + step * noise[k]
    return x


def _log_normal(rng: np.random.Generator, median: float, sigma: float) -> float:
    return float(median * np.exp(sigma * rng.standard_normal()))


def _volatile(rng: np.random.Generator) -> tuple[float, Floats]:
    # Uniform levels that change with probability 0.2 a second: strong swings around 2.6 Mbit/s.
    changes = rng.random(319) < 0.2
    levels = rng.uniform(0.2, 5.0, 320)
    return 1.0, levels[np.cumsum(changes)]


def _broadband(rng: np.random.Generator) -> tuple[float, Floats]:
    level = _log_normal(rng, 1.1, 0.5)
    spread = rng.gamma(1.8, 0.2)
    jumps = np.cumsum(rng.random(320) < 0.07)
    levels = level * np.exp(spread * rng.standard_normal(jumps[-1] + 1))
    return 1.0, np.maximum(levels[jumps] * (1 + 0.02 * rng.standard_normal(320)), 0.0)


@dataclass(frozen=True, slots=True)
class _Walk:
    """AR(1) on the log rate: number of steps, median and log spread of the means, range of the CV, correlation."""

    count: int
    median: float
    sigma: float
    cv: tuple[float, float]
    phi: float

    def draw(self, rng: np.random.Generator) -> Floats:
        mean = _log_normal(rng, self.median, self.sigma)
        spread = np.sqrt(np.log1p(rng.uniform(*self.cv) ** 2))
        rates: Floats = mean * np.exp(_ar1(rng, self.count, self.phi, spread) - spread**2 / 2)
        return rates


_COMMUTE = _Walk(319, 1.1, 0.39, (0.31, 0.71), 0.85)
_WIRED = _Walk(60, 57.0, 1.15, (0.14, 0.78), 0.65)
_CELLULAR = _Walk(60, 2.3, 1.2, (0.21, 0.7), 0.7)


def _commute(rng: np.random.Generator) -> tuple[float, Floats]:
    return 1.0, _COMMUTE.draw(rng)


def _wired(rng: np.random.Generator) -> tuple[float, Floats]:
    return 0.5, _WIRED.draw(rng)


def _cellular(rng: np.random.Generator) -> tuple[float, Floats]:
    rates = _CELLULAR.draw(rng)
    outage, draws = False, rng.random(60)
    for k in range(60):
        outage = draws[k] < (0.6 if outage else 0.015)
        if outage:
            rates[k] *= 0.05
    return 0.5, rates


# Name -> (maker, one-way delay in ms or none).
GENERATORS: dict[str, tuple[_Maker, tuple[float, float] | None]] = {
    "volatile": (_volatile, None),
    "broadband": (_broadband, None),
    "commute": (_commute, None),
    "wired": (_wired, (0.7, 76.0)),
    "cellular": (_cellular, (15.0, 139.0)),
}


def generate(name: str, *, seed: int, count: int) -> list[Trace]:
    """Generated traces of one kind; trace k depends on the seed, the name and k alone.

    Parameters
    ----------
    name : {"volatile", "broadband", "commute", "wired", "cellular"}
        Stand in for the published synthetic, fixed-line, 3G commute, wired and cellular sets.
    seed, count : int

    Raises
    ------
    UserError
        Unknown name.
    """
    if name not in GENERATORS:
        raise UserError(f"no generator {name!r}", hint=f"One of {', '.join(GENERATORS)}.")
    maker, delay = GENERATORS[name]
    traces = []
    for k in range(count):
        rng = generator(seed, "trace", name, k)
        step, rates = maker(rng)
        settings = {} if delay is None else {"delay_ms": float(rng.uniform(*delay))}
        edges = np.arange(len(rates) + 1, dtype=np.float64) * step
        traces.append(build_trace(f"{name}-{seed}-{k}", edges, rates, settings=settings, notes=["generated"]))
    return traces
