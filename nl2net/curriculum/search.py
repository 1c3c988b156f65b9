"""Weak spots of anything that can be scored: where, in plain words, by how much, and how sure.

The engine knows no case: it gets a function that returns gaps (positive where the subject loses) at points of a unit
cube. Half of its answer is the search, half is the test on fresh environments, which the search never saw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from nl2net.benchmark.stats import holm
from nl2net.curriculum.arrays import Bools, Floats
from nl2net.curriculum.mixture import Region
from nl2net.curriculum.streams import generator

# Points of the unit cube, environments for each, and words that name the environments -> gaps (points, environments).
GapFunction = Callable[[Floats, int, str], Floats]
_NORMAL = NormalDist()
_CUTS = np.arange(1, 32) / 32


@dataclass(frozen=True, slots=True)
class Settings:
    """Effort of a search.

    Attributes
    ----------
    settings, repeats : int
        Random points and environments at each.
    fresh : int
        New environments on which each box is tested.
    depth, leaf : int
        Of the regression tree: levels, and fewest settings in a box.
    level : float
        Probability of naming any box wrongly, after Holm's correction.
    """

    settings: int = 1024
    repeats: int = 4
    fresh: int = 2000
    depth: int = 3
    leaf: int = 20
    level: float = 0.05


@dataclass(frozen=True, slots=True)
class Spot:
    """One box with its gap on fresh environments; a negative effect is a box in which the subject wins."""

    region: Region
    share: float
    effect: float
    low: float
    high: float
    p: float
    worst: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """Weak and strong boxes, the overall gap, and the effect that would have been seen."""

    weak: tuple[Spot, ...]
    strong: tuple[Spot, ...]
    mean_gap: float
    detectable: float
    points: Floats
    gaps: Floats


def boxes(points: Floats, values: Floats, settings: Settings) -> list[Region]:
    """Leaves of a regression tree that predicts values from points of the unit cube."""
    size = points.shape[1]
    whole = Region((0.0,) * size, (1.0,) * size)
    leaves: list[Region] = []
    open_boxes = [(whole, np.ones(len(points), dtype=bool), 0)]
    while open_boxes:
        box, inside, depth = open_boxes.pop()
        cut = None if depth == settings.depth else _best_cut(points[inside], values[inside], box, leaf=settings.leaf)
        if cut is None:
            leaves.append(box)
            continue
        axis, at = cut
        left = Region(box.low, (*box.high[:axis], at, *box.high[axis + 1 :]))
        right = Region((*box.low[:axis], at, *box.low[axis + 1 :]), box.high)
        below = points[:, axis] < at
        open_boxes += [(left, inside & below, depth + 1), (right, inside & ~below, depth + 1)]
    return leaves


def _best_cut(points: Floats, values: Floats, box: Region, *, leaf: int) -> tuple[int, float] | None:
    """The cut that lowers the squared error most; none when no cut is better than chance could make it."""
    total, count = values.sum(), len(values)
    if count < 2 * leaf or values.std() < 1e-12:
        return None
    best, found = 0.0, None
    for axis in range(points.shape[1]):
        for cut in _CUTS:
            at = float(box.low[axis] + (box.high[axis] - box.low[axis]) * cut)
            below = points[:, axis] < at
            n = int(below.sum())
            if min(n, count - n) < leaf:
                continue
            part = values[below].sum()
            gain = part**2 / n + (total - part) ** 2 / (count - n) - total**2 / count
            if gain > best:
                best, found = float(gain), (axis, at)
    # About 155 cuts are tried: an F value of 12 is passed by chance in fewer than one tree of twenty.
    noise = (float(((values - values.mean()) ** 2).sum()) - best) / max(count - 2, 1)
    return found if best > 12 * noise else None


def find_weak_spots(gap: GapFunction, size: int, *, seed: int, settings: Settings | None = None) -> Findings:
    """Boxes of the unit cube in which the subject loses, tested on fresh environments.

    Parameters
    ----------
    gap : callable
        ``gap(points, environments, words)``.
    size : int
        Number of parameters.
    seed : int
    settings : Settings, optional

    Examples
    --------
    >>> def planted(points, environments, words):
    ...     noise = generator(1, words).normal(size=(len(points), environments))
    ...     return np.where(points[:, :1] < 0.25, 1.0, 0.0) + 0.1 * noise
    >>> found = find_weak_spots(planted, 2, seed=1)
    >>> [(spot.region.low, spot.region.high, round(spot.effect, 1)) for spot in found.weak]
    [((0.0, 0.0), (0.25, 1.0), 1.0)]
    """
    settings = settings or Settings()
    points = generator(seed, "search points").random((settings.settings, size))
    gaps = gap(points, settings.repeats, f"search {seed}").mean(axis=1)
    tried = []
    for number, box in enumerate(boxes(points, gaps, settings)):
        inside = box.contains(points) > 0
        if _sure(gaps[inside]) and inside.any():
            tried.append(
                _test(gap, box, points=points[inside], gaps=gaps[inside], number=number, seed=seed, settings=settings)
            )
    adjusted = holm([spot.p for spot in tried])
    sure = [spot for spot, p in zip(tried, adjusted, strict=True) if p < settings.level]
    weak = sorted((spot for spot in sure if spot.effect > 0), key=lambda spot: -spot.effect * spot.share)
    strong = sorted((spot for spot in sure if spot.effect < 0), key=lambda spot: spot.effect * spot.share)
    # 80 % power at 5 %, two-sided, for the smallest box that the tree can form.
    detectable = 2.8 * float(gaps.std()) / np.sqrt(settings.leaf)
    return Findings(tuple(weak), tuple(strong), float(gaps.mean()), float(detectable), points, gaps)


def _sure(values: Floats) -> bool:
    """Whether the interval of the mean leaves out zero; the fresh test decides, this only saves its cost."""
    if len(values) < 2:
        return False
    error = values.std(ddof=1) / np.sqrt(len(values))
    return bool(abs(values.mean()) > 1.96 * error and abs(values.mean()) > 1e-12)


def _test(
    gap: GapFunction, box: Region, *, points: Floats, gaps: Floats, number: int, seed: int, settings: Settings
) -> Spot:
    draws = generator(seed, "fresh", number).random((settings.fresh, len(box.low)))
    low, high = np.array(box.low), np.array(box.high)
    found = gap(low + draws * (high - low), 1, f"fresh {seed} {number}")[:, 0]
    mean, error = float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))
    p = 2 * _NORMAL.cdf(-abs(mean) / error) if error > 0 else float(abs(mean) < 1e-12)
    order = np.argsort(-gaps if gaps.mean() > 0 else gaps)[:3]
    worst = tuple(tuple(map(float, points[k])) for k in order)
    half = 1.96 * error
    return Spot(box, float(box.volume), mean, mean - half, mean + half, p, worst)


def strongest_axes(points: Floats, gaps: Floats) -> tuple[int, int]:
    """The two parameters that explain most of the gap, by variance between eight slices."""
    bins = np.minimum((points * 8).astype(int), 7)
    spread = [np.var([_mean(gaps[bins[:, a] == b]) for b in range(8)]) for a in range(points.shape[1])]
    order = np.argsort(-np.array(spread), kind="stable")
    return int(order[0]), int(order[min(1, len(order) - 1)])


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def inside_any(points: Floats, regions: tuple[Region, ...]) -> Bools:
    """Whether points lie in one of the boxes."""
    found = np.zeros(len(points), dtype=bool)
    for region in regions:
        found |= region.contains(points) > 0
    return found
