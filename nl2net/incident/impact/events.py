"""What an event does to a cable map: models as values, one computation for all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nl2net.errors import UserError
from nl2net.incident.impact.cables import Cable, CableMap

_RADIUS_KM = 6371.0088


@dataclass(frozen=True, slots=True)
class Damage:
    """Cables that fail as a whole, and landings of other cables that are cut off them."""

    failed: frozenset[str]
    cut: Mapping[str, frozenset[str]]
    assumption: str
    alternative: str = ""


class EventModel(Protocol):
    """An event that damages cables."""

    def damage(self, world: CableMap) -> Damage:
        """The damage on a map."""


def great_circle_km(one: tuple[float, float], two: tuple[float, float]) -> float:
    """Distance on a sphere; right over the date line and at the poles.

    Examples
    --------
    >>> round(great_circle_km((0.0, 179.5), (0.0, -179.5)))
    111
    >>> round(great_circle_km((90.0, 0.0), (89.0, 137.0)))
    111
    """
    lat1, lon1, lat2, lon2 = map(math.radians, (*one, *two))
    half = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * _RADIUS_KM * math.asin(min(1.0, math.sqrt(half)))


def _damage_where(
    world: CableMap, inside: frozenset[str], touched: frozenset[str], mode: str
) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    if mode == "whole":
        return frozenset(c.id for c in world.cables if c.landings & inside), {}
    if mode == "route":
        return touched | frozenset(c.id for c in world.cables if c.landings & inside), {}
    return frozenset(), {c.id: c.landings & inside for c in world.cables if c.landings & inside}


@dataclass(frozen=True, slots=True)
class LatitudeBand:
    """A storm that reaches down to an absolute latitude.

    ``mode``: ``whole``: one landing in the band takes the cable; ``landings``: only landings in the band are cut;
    ``route``: the route counts too.
    """

    degrees: float
    mode: str = "whole"

    def damage(self, world: CableMap) -> Damage:
        """The damage on a map."""
        inside = frozenset(i for i, p in world.landings.items() if abs(p.lat) >= self.degrees)
        touched = frozenset(c.id for c in world.cables if any(abs(lat) >= self.degrees for lat, _ in c.route))
        failed, cut = _damage_where(world, inside, touched, self.mode)
        words = {
            "whole": "a cable fails if one of its landings lies in the band",
            "landings": "only landings in the band are cut, the rest of a cable works",
            "route": "a cable fails if a landing or a point of its route lies in the band",
        }
        other = "landings" if self.mode == "whole" else "whole"
        return Damage(
            failed,
            cut,
            f"{words[self.mode]} (at or above {self.degrees:g}° absolute latitude)",
            f"the other choice: {words[other]}",
        )


@dataclass(frozen=True, slots=True)
class Circle:
    """An area around a point, in kilometres along great circles."""

    lat: float
    lon: float
    km: float
    mode: str = "route"

    def damage(self, world: CableMap) -> Damage:
        """The damage on a map."""
        centre = (self.lat, self.lon)
        inside = frozenset(i for i, p in world.landings.items() if great_circle_km(centre, (p.lat, p.lon)) <= self.km)
        touched = frozenset(c.id for c in world.cables if self._crosses(c, centre))
        failed, cut = _damage_where(world, inside, touched, self.mode)
        text = f"cables with a landing or a route within {self.km:g} km of ({self.lat:g}, {self.lon:g}) fail"
        return Damage(failed, cut, text, "routes between known points are taken as great circles")

    def _crosses(self, cable: Cable, centre: tuple[float, float]) -> bool:
        pieces = zip(cable.route, cable.route[1:], strict=False)
        return any(segment_distance_km(centre, one, two) <= self.km for one, two in pieces)


def segment_distance_km(point: tuple[float, float], one: tuple[float, float], two: tuple[float, float]) -> float:
    """Least distance of a point to the great circle arc between two others.

    Examples
    --------
    >>> round(segment_distance_km((1.0, 5.0), (0.0, 0.0), (0.0, 10.0)))
    111
    """
    p, a, b = _vector(point), _vector(one), _vector(two)
    normal = _cross(a, b)
    length = math.sqrt(sum(x * x for x in normal))
    ends = min(great_circle_km(point, one), great_circle_km(point, two))
    if length < 1e-12:
        return ends
    unit = tuple(x / length for x in normal)
    height = sum(x * y for x, y in zip(p, unit, strict=True))
    foot = tuple(x - height * y for x, y in zip(p, unit, strict=True))
    size = math.sqrt(sum(x * x for x in foot))
    if size < 1e-12:
        return ends
    foot = tuple(x / size for x in foot)
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    between = min(sum(x * y for x, y in zip(foot, e, strict=True)) for e in (a, b)) >= dot - 1e-12
    return _RADIUS_KM * abs(math.asin(max(-1.0, min(1.0, height)))) if between else ends


def _vector(point: tuple[float, float]) -> tuple[float, float, float]:
    lat, lon = math.radians(point[0]), math.radians(point[1])
    return math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)


def _cross(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True, slots=True)
class CableList:
    """Named cables fail; an unknown name is an error with suggestions."""

    names: tuple[str, ...]

    def damage(self, world: CableMap) -> Damage:
        """The damage on a map."""
        failed = frozenset(world.find(name).id for name in self.names)
        return Damage(failed, {}, f"{', '.join(self.names)} fail as a whole, nothing else does")


@dataclass(frozen=True, slots=True)
class SiteList:
    """Named landing stations fail: cables lose these landings and keep the others."""

    names: tuple[str, ...]

    def damage(self, world: CableMap) -> Damage:
        """The damage on a map."""
        inside = frozenset(i for i, p in world.landings.items() if p.name in self.names)
        cut = {c.id: c.landings & inside for c in world.cables if c.landings & inside}
        return Damage(frozenset(), cut, f"the landings {', '.join(self.names)} fail, the rest of their cables works")


@dataclass(frozen=True, slots=True)
class Impact:
    """What damage means.

    ``shares`` gives per country the lost share of its international cables. International means landings in two or
    more countries.
    """

    failed: tuple[str, ...]
    cut_landings: tuple[str, ...]
    isolated: tuple[str, ...]
    shares: Mapping[str, float]
    assumptions: tuple[str, ...]


def _alive(world: CableMap, damage: Damage) -> dict[str, frozenset[str]]:
    """Countries that each cable still joins."""
    alive = {}
    for cable in world.cables:
        if cable.id in damage.failed:
            continue
        left = cable.landings - damage.cut.get(cable.id, frozenset())
        countries = frozenset(world.landings[i].country for i in left)
        if len(countries) > 1:
            alive[cable.id] = countries
    return alive


def assess(world: CableMap, event: EventModel, *, land_borders: bool = False) -> Impact:
    """Failed cables, cut landings, isolated countries and lost shares.

    Parameters
    ----------
    world : CableMap
        On the day in question.
    event : EventModel
        What happens.
    land_borders : bool
        Whether a country stays connected over a land neighbour that is.

    Raises
    ------
    UserError
        The event names a cable that is not on the map.
    """
    damage = event.damage(world)
    before = {c.id: world.countries_of(c) for c in world.cables if len(world.countries_of(c)) > 1}
    after = _alive(world, damage)
    had = frozenset().union(*before.values()) if before else frozenset()
    linked = set().union(*after.values()) if after else set()
    if land_borders:
        linked = _over_land(linked, world)
    isolated = tuple(sorted(had - linked))
    shares = {}
    for country in sorted(had):
        total = sum(country in found for found in before.values())
        left = sum(country in found for found in after.values())
        shares[country] = round(1 - left / total, 4)
    names = {c.id: c.name for c in world.cables}
    cut = sorted(
        {i for cable in damage.cut.values() for i in cable}
        | {i for c in world.cables if c.id in damage.failed for i in c.landings}
    )
    lonely = [
        i
        for i in cut
        if not any(
            i in c.landings - damage.cut.get(c.id, frozenset()) for c in world.cables if c.id not in damage.failed
        )
    ]
    impact = Impact(
        tuple(sorted(names[i] for i in damage.failed)),
        tuple(lonely),
        isolated,
        shares,
        tuple(
            text
            for text in (
                damage.assumption,
                damage.alternative,
                "a cable counts as international if it lands in two or more countries",
                "land borders count as connection" if land_borders else "land borders are left out",
                *world.notes,
            )
            if text
        ),
    )
    _check(impact, world)
    return impact


def _over_land(linked: set[str], world: CableMap) -> set[str]:
    grown = set(linked)
    frontier = list(linked)
    while frontier:
        here = frontier.pop()
        for pair in world.borders:
            for other in pair - {here} if here in pair else ():
                if other not in grown:
                    grown.add(other)
                    frontier.append(other)
    return grown


def _check(impact: Impact, world: CableMap) -> None:
    """Invariants before anything is shown: parts within totals, members exist, shares in [0, 1]."""
    countries = {p.country for p in world.landings.values()}
    names = {c.name for c in world.cables}
    sound = (
        set(impact.isolated) <= countries
        and set(impact.failed) <= names
        and all(0 <= s <= 1 for s in impact.shares.values())
    )
    if not sound:
        raise UserError(
            "the result breaks an invariant and is not shown", hint="Report this with the map and the event."
        )
