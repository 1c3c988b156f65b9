"""Training distributions: weighted boxes of the unit cube over a uniform rest, every draw with its density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nl2net.curriculum.arrays import Floats
from nl2net.curriculum.spaces import Space


@dataclass(frozen=True, slots=True)
class Region:
    """A box of the unit cube."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def contains(self, points: Floats) -> Floats:
        """1 where a point lies inside, else 0."""
        inside = (points >= np.array(self.low)) & (points <= np.array(self.high))
        return inside.all(axis=1).astype(float)

    @property
    def volume(self) -> float:
        """Share of the unit cube."""
        return float(np.prod(np.array(self.high) - np.array(self.low)))

    def words(self, space: Space) -> str:
        """The box in plain words; whole axes are left out.

        Examples
        --------
        >>> from nl2net.curriculum.spaces import shipped_space
        >>> space = shipped_space("abr")
        >>> Region((0, 0, 0, 0.5, 0), (1, 1, 1, 1, 0.03)).words(space)
        'link RTT is above 510 ms and maximum buffer is below 19.9 s'
        """
        said = []
        for k, axis in enumerate(space.axes):
            low, high = (axis.words(float(axis.value(np.array(edge)))) for edge in (self.low[k], self.high[k]))
            label = axis.label or axis.name
            if self.low[k] > 0 and self.high[k] < 1:
                said.append(f"{label} is {low} to {high}")
            elif self.low[k] > 0:
                said.append(f"{label} is above {low}")
            elif self.high[k] < 1:
                said.append(f"{label} is below {high}")
        return " and ".join(said) or "anywhere"


Part = tuple[Region, float]


def neighbourhood(point: Floats, radius: float = 0.1) -> Region:
    """The box around a point, cut at the cube's faces; radius 0 gives the point alone."""
    low, high = np.clip(point - radius, 0.0, 1.0), np.clip(point + radius, 0.0, 1.0)
    return Region(tuple(map(float, low)), tuple(map(float, high)))


@dataclass(frozen=True, slots=True)
class Mixture:
    """Weighted boxes; what is left of weight 1 is uniform."""

    size: int
    parts: tuple[Part, ...] = ()

    @property
    def uniform_share(self) -> float:
        """Weight of the uniform part."""
        return max(0.0, 1.0 - sum(weight for _, weight in self.parts))

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Points of the unit cube and the mixture's density at each; 1 / density restores uniform averages.

        The density is infinite at a part of no volume (a single point): such draws cannot be reweighted.
        """
        points = rng.random((count, self.size))
        if self.parts:
            weights = np.array([self.uniform_share, *(weight for _, weight in self.parts)])
            chosen = rng.choice(len(weights), size=count, p=weights / weights.sum())
            lows = np.array([[0.0] * self.size, *(region.low for region, _ in self.parts)])
            highs = np.array([[1.0] * self.size, *(region.high for region, _ in self.parts)])
            points = lows[chosen] + points * (highs - lows)[chosen]
        return points, self.density(points)

    def density(self, points: Floats) -> Floats:
        """Density at points; 1 everywhere for the uniform mixture."""
        total = np.full(len(points), self.uniform_share)
        for region, weight in self.parts:
            volume = region.volume
            inside = region.contains(points)
            total += weight * (inside / volume if volume > 0 else np.where(inside > 0, np.inf, 0.0))
        return total

    def to_json(self) -> list[dict[str, object]]:
        """For logs."""
        return [{"low": list(r.low), "high": list(r.high), "weight": weight} for r, weight in self.parts]


def mixture_from_json(size: int, data: Sequence[dict[str, object]]) -> Mixture:
    """The mixture of a checkpoint."""
    parts = [
        (Region(tuple(part["low"]), tuple(part["high"])), float(part["weight"]))  # type: ignore[arg-type]
        for part in data
    ]
    return Mixture(size, tuple(parts))
