"""Failure of repeaters along cables: exact expectations, and sampling for intervals and sets of countries.

References
----------
Jyothi: Solar Superstorms, SIGCOMM 2021: ``int(length / spacing)`` repeaters; one failed repeater fails the cable; a
landing is cut when
all its cables fail. A cable shorter than the spacing has no repeater and never fails in this model.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nl2net.incident.impact.cables import Cable, CableMap

BANDS = ("high", "middle", "low")


@dataclass(frozen=True, slots=True)
class Repeaters:
    """Probability per repeater by band of the highest absolute landing latitude: >= 60, 40 to 60, below 40 degrees."""

    spacing_km: float
    high: float
    middle: float
    low: float

    def probability(self, latitude: float) -> float:
        """Failure probability of one repeater."""
        return self.high if latitude >= 60 else self.middle if latitude >= 40 else self.low


S1 = Repeaters(100, 1.0, 0.1, 0.01)
S2 = Repeaters(100, 0.1, 0.01, 0.001)


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected shares of failed cables and cut landings, in [0, 1].

    Cables without a length are left out and counted.
    """

    cables: float
    landings: float
    per_cable: Mapping[str, float]
    without_length: int


def cable_failure(cable: Cable, world: CableMap, model: Repeaters) -> float | None:
    """Probability that a cable fails, ``None`` where its length is unknown.

    Examples
    --------
    >>> from nl2net.incident.impact.cables import Landing
    >>> places = {"a": Landing("a", "A", 10.0, 0.0, "X"), "b": Landing("b", "B", 45.0, 9.0, "Y")}
    >>> cable = Cable("c", "C", frozenset(places), length_km=250.0)
    >>> round(cable_failure(cable, CableMap(places, (cable,)), S1), 2)
    0.19
    """
    if cable.length_km is None:
        return None
    highest = max(abs(world.landings[i].lat) for i in cable.landings)
    count = int(cable.length_km / model.spacing_km)
    return float(1 - (1 - model.probability(highest)) ** count)


def expect(world: CableMap, model: Repeaters) -> Expectation:
    """Exact expectations: ``1-(1-p)^n`` per cable, the product over its cables per landing.

    Parameters
    ----------
    world : CableMap
        The cables.
    model : Repeaters
        Spacing and probabilities.
    """
    chances = {c.id: p for c in world.cables if (p := cable_failure(c, world, model)) is not None}
    at: dict[str, float] = {}
    for cable in world.cables:
        if cable.id in chances:
            for landing in cable.landings:
                at[landing] = at.get(landing, 1.0) * chances[cable.id]
    missing = sum(c.length_km is None for c in world.cables)
    cables = sum(chances.values()) / len(chances) if chances else 0.0
    landings = sum(at.values()) / len(at) if at else 0.0
    return Expectation(cables, landings, chances, missing)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Shares over runs, and how often each country was isolated."""

    cables: tuple[float, ...]
    landings: tuple[float, ...]
    isolated: Mapping[str, float]
    seed: int


def sample(world: CableMap, model: Repeaters, *, runs: int = 10, seed: int = 1) -> Sampled:
    """Draw whole worlds.

    Parameters
    ----------
    world : CableMap
        The cables.
    model : Repeaters
        Spacing and probabilities.
    runs : int
        Number of draws.
    seed : int
        Of the generator; the same seed gives the same draws.
    """
    chances = expect(world, model).per_cable
    source = random.Random(seed)  # noqa: S311
    order = sorted(chances)
    counts: Counter[str] = Counter()
    cables, landings = [], []
    by_landing: dict[str, list[str]] = {}
    for cable in world.cables:
        for landing in cable.landings if cable.id in chances else ():
            by_landing.setdefault(landing, []).append(cable.id)
    for _ in range(runs):
        failed = {cable for cable in order if source.random() < chances[cable]}
        cables.append(len(failed) / len(order) if order else 0.0)
        cut = sum(all(c in failed for c in ids) for ids in by_landing.values())
        landings.append(cut / len(by_landing) if by_landing else 0.0)
        counts.update(_isolated(world, failed))
    return Sampled(tuple(cables), tuple(landings), {c: n / runs for c, n in sorted(counts.items())}, seed)


def _isolated(world: CableMap, failed: set[str]) -> set[str]:
    had: set[str] = set()
    kept: set[str] = set()
    for cable in world.cables:
        countries = world.countries_of(cable)
        if len(countries) > 1:
            had |= countries
            kept |= set() if cable.id in failed else countries
    return had - kept


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation.

    Examples
    --------
    >>> interval([0.1, 0.3])
    (0.2, 0.1)
    """
    mean = sum(values) / len(values)
    return round(mean, 6), round((sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5, 6)
