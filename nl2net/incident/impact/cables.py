"""A map of submarine cables: landings, cables with their landings, land borders; as it was on a day."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from nl2net.errors import DataError, UserError
from nl2net.incident.language import MONTHS, fold_name


@dataclass(frozen=True, slots=True)
class Landing:
    """A landing station; ``tbd`` marks one whose place is not settled."""

    id: str
    name: str
    lat: float
    lon: float
    country: str
    tbd: bool = False


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable as a set of landings without order; ``route`` holds points of its geometry where they are known.

    ``length_km`` is ``None`` where nobody published one; ``rfs`` and ``retired`` are ISO dates or ``""``.
    """

    id: str
    name: str
    landings: frozenset[str]
    aliases: tuple[str, ...] = ()
    length_km: float | None = None
    rfs: str = ""
    retired: str = ""
    planned: bool = False
    route: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class CableMap:
    """Landings and cables.

    Attributes
    ----------
    landings : mapping of str to Landing
        By id.
    cables : tuple of Cable
        In the order of the data.
    borders : frozenset of pairs of countries
        Land borders; computations use them only when told to.
    as_of : str
        The day that the map shows, ``""`` if unknown.
    """

    landings: Mapping[str, Landing]
    cables: tuple[Cable, ...]
    borders: frozenset[frozenset[str]] = frozenset()
    as_of: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)

    def countries_of(self, cable: Cable) -> frozenset[str]:
        """Countries in which a cable lands."""
        return frozenset(self.landings[i].country for i in cable.landings if i in self.landings)

    def on(self, day: str) -> CableMap:
        """The map on a day: cables in service then; one of unknown service date counts as in service and is noted.

        Parameters
        ----------
        day : str
            ISO date.
        """
        kept, unknown = [], 0
        for cable in self.cables:
            if cable.planned or (cable.rfs and cable.rfs > day) or (cable.retired and cable.retired <= day):
                continue
            unknown += not cable.rfs
            kept.append(cable)
        notes = [f"{unknown} cables of unknown service date count as in service"] if unknown else []
        if self.as_of and abs((date.fromisoformat(day) - date.fromisoformat(self.as_of)).days) > 366:
            notes.append(
                f"the map is of {self.as_of}, more than a year from {day}: cables of the time between are missing"
            )
        return CableMap(self.landings, tuple(kept), self.borders, self.as_of, tuple(notes))

    def find(self, name: str) -> Cable:
        """A cable by name or alias, in any spelling.

        Raises
        ------
        UserError
            There is none of that name; the hint lists similar ones.
        """
        wanted = fold_name(name)
        for cable in self.cables:
            if wanted in {fold_name(cable.name), fold_name(cable.id), *map(fold_name, cable.aliases)}:
                return cable
        near = [c.name for c in self.cables if wanted[:4] and wanted[:4] in fold_name(c.name)][:5]
        raise UserError(
            f"no cable {name!r} on the map", hint=f"Similar: {', '.join(near)}." if near else "Check the name."
        )


def _rows(raw: bytes, name: str, wanted: Iterable[str]) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(raw.decode("utf-8-sig", "replace")))
    missing = [column for column in wanted if column not in (reader.fieldnames or [])]
    if missing:
        raise DataError(f"lacks the column {missing[0]}", path=name, line=1, field=missing[0], hint="Add the column.")
    return [{k: v or "" for k, v in row.items() if k} for row in reader]


def _float(row: Mapping[str, str], key: str, name: str, number: int) -> float:
    try:
        return float(row[key])
    except ValueError:
        raise DataError(
            f"no number: {row[key]!r}", path=name, line=number, field=key, hint="Write a decimal number."
        ) from None


def parse_length(text: str) -> float | None:
    """Kilometres from "37,000 km", ``None`` for "n.a." and blanks.

    Examples
    --------
    >>> parse_length("37,000 km"), parse_length("n.a.")
    (37000.0, None)
    """
    match = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    return float(match.group().replace(",", "")) if match else None


def parse_service_date(text: str) -> str:
    """ISO date of the first day that "2009 April", "2021 Q4", "2021" or an ISO date can mean.

    Examples
    --------
    >>> parse_service_date("2009 April"), parse_service_date("2021 Q4"), parse_service_date("n.a.")
    ('2009-04-01', '2021-10-01', '')
    """
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return text
    year = re.search(r"\b(?:19|20)\d{2}\b", text)
    if year is None:
        return ""
    quarter = re.search(r"\bQ([1-4])\b", text)
    month = next((MONTHS[w.lower()] for w in re.findall(r"[A-Za-z]+", text) if w.lower() in MONTHS), 1)
    if quarter:
        month = int(quarter.group(1)) * 3 - 2
    return f"{year.group()}-{month:02d}-01"


def parse_tables(read: Callable[[str], bytes | None]) -> CableMap:
    """A map from tables ``landings.csv``, ``cables.csv``, ``segments.csv`` and, if there, ``land_borders.csv``.

    Parameters
    ----------
    read : callable
        Content of a table by its name without suffix, ``None`` if there is none.

    Raises
    ------
    DataError
        A table or column is missing, a number is none, or a segment names an unknown landing.
    """
    tables = {name: read(name) for name in ("landings", "cables", "segments", "land_borders")}
    for name in ("landings", "cables", "segments"):
        if tables[name] is None:
            raise DataError(
                "no such table", path=f"{name}.csv", hint="A cable map needs landings, cables and segments."
            )
    landings = {}
    for number, row in enumerate(
        _rows(tables["landings"] or b"", "landings.csv", ("id", "name", "lat", "lon", "country")), start=2
    ):
        lat, lon = _float(row, "lat", "landings.csv", number), _float(row, "lon", "landings.csv", number)
        tbd = row.get("tbd", "").lower() in ("1", "true", "yes")
        landings[row["id"]] = Landing(row["id"], row["name"], lat, lon, row["country"], tbd)
    members: dict[str, set[str]] = {}
    routes: dict[str, list[tuple[float, float]]] = {}
    for number, row in enumerate(_rows(tables["segments"] or b"", "segments.csv", ("cable", "from", "to")), start=2):
        for end in (row["from"], row["to"]):
            if end not in landings:
                raise DataError(
                    f"unknown landing {end!r}", path="segments.csv", line=number, hint="Add it to landings.csv."
                )
            members.setdefault(row["cable"], set()).add(end)
        routes.setdefault(row["cable"], []).extend(_points(row.get("route", "")))
    cables = tuple(_cable(row, members, routes) for row in _rows(tables["cables"] or b"", "cables.csv", ("id", "name")))
    borders = (
        frozenset(
            frozenset((row["a"], row["b"])) for row in _rows(tables["land_borders"], "land_borders.csv", ("a", "b"))
        )
        if tables["land_borders"]
        else frozenset()
    )
    days = [row.get("asof_date", "") for row in _rows(tables["cables"] or b"", "cables.csv", ("id",))]
    return CableMap(landings, cables, borders, max(days, default=""))


def _points(text: str) -> list[tuple[float, float]]:
    found = []
    for pair in text.split(";"):
        parts = pair.split()
        if len(parts) == 2:
            found.append((float(parts[0]), float(parts[1])))
    return found


def _cable(
    row: Mapping[str, str], members: Mapping[str, set[str]], routes: Mapping[str, list[tuple[float, float]]]
) -> Cable:
    aliases = tuple(a.strip() for a in row.get("aliases", "").split("|") if a.strip())
    return Cable(
        row["id"],
        row["name"],
        frozenset(members.get(row["id"], ())),
        aliases,
        parse_length(row.get("length_km", "")),
        parse_service_date(row.get("rfs", "")),
        parse_service_date(row.get("retired", "")),
        row.get("planned", "").lower() in ("1", "true", "yes"),
        tuple(routes.get(row["id"], ())),
    )


def parse_telegeography(cables: Any, landings: Any) -> CableMap:
    """A map from the records of the TeleGeography cable map, which the user brings.

    Parameters
    ----------
    cables : list of mapping
        One record per cable with ``id``, ``name``, ``length``, ``rfs`` and ``landing_points``.
    landings : mapping
        GeoJSON of landing points; the country is the last part of a name, by the table of names with commas.
    """
    places = {}
    for feature in landings["features"]:
        found = feature["properties"]
        lon, lat = feature["geometry"]["coordinates"][:2]
        places[str(found["id"])] = Landing(str(found["id"]), found["name"], lat, lon, country_of(found["name"]))
    made = []
    for row in cables:
        ids = frozenset(str(point["id"]) for point in row["landing_points"] if str(point["id"]) in places)
        made.append(
            Cable(
                str(row["id"]),
                row["name"],
                ids,
                length_km=parse_length(str(row.get("length") or "")),
                rfs=parse_service_date(str(row.get("rfs") or "")),
                planned=bool(row.get("is_planned")),
            )
        )
    return CableMap(places, tuple(made))


_COMMA_NAMES = (
    "Congo, Dem. Rep.",
    "Congo, Rep.",
    "Korea, Rep.",
    "Korea, Dem. Rep.",
    "Micronesia, Fed. Sts.",
    "Egypt, Arab Rep.",
    "Gambia, The",
    "Bahamas, The",
)


def country_of(place: str) -> str:
    """The country in a place name.

    Examples
    --------
    >>> country_of("Muanda, Congo, Dem. Rep."), country_of("Nice, France")
    ('Congo, Dem. Rep.', 'France')
    """
    for name in _COMMA_NAMES:
        if place.endswith(name):
            return name
    return place.rsplit(", ", 1)[-1]
