"""An invented world of cables and networks with planted facts, the same bytes for the same seed and size.

Everything is made up: names, places, AS numbers and prefixes from the documentation and private ranges.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from nl2net.errors import UserError
from nl2net.incident.impact.synthetic_documents import make_documents
from nl2net.incident.impact.synthetic_streams import make_stream
from nl2net.locations import atomic_write


def _words(text: str) -> list[str]:
    return text.split()


# Cables, landings and countries of the filling; the planted part comes on top and holds 14 cables.
SIZES = {"small": (0, 0, 0), "medium": (106, 360, 46), "large": (486, 1260, 166)}
AS_OF = "2031-06-30"
_ROOTS = _words("bal cor dan fen gar hol ist jor kel lum mar nor ost pel quin ras sol tir ur ves wal yor zan")
_ENDS = _words("ia land mark stan ova istan a eth ora ane ussia ony")


@dataclass(frozen=True, slots=True)
class World:
    """Files by name, and what was planted: question, answer, event model, alternative."""

    seed: int
    size: str
    files: dict[str, bytes]
    facts: list[dict[str, Any]]
    questions: list[dict[str, Any]]

    def write(self, folder: Path) -> None:
        """Write corpus, ``facts.json`` and ``questions.json`` into a folder."""
        for name, content in self.files.items():
            with atomic_write(folder / name) as stream:
                stream.write(content)
        for name, rows in (
            ("facts.json", {"facts": self.facts}),
            ("questions.json", {"version": 1, "questions": self.questions}),
        ):
            with atomic_write(folder / name) as stream:
                stream.write(json.dumps(rows, sort_keys=True, indent=1).encode())


@dataclass(slots=True)
class _Tables:
    landings: list[dict[str, Any]]
    cables: list[dict[str, Any]]
    segments: list[dict[str, Any]]
    borders: list[dict[str, Any]]

    def place(self, name: str, lat: float, lon: float, country: str, *, tbd: bool = False) -> str:
        identity = f"l{len(self.landings) + 1:04d}"
        row = {
            "id": identity,
            "name": name,
            "lat": f"{lat:.4f}",
            "lon": f"{lon:.4f}",
            "country": country,
            "tbd": int(tbd),
        }
        self.landings.append(row)
        return identity

    def lay(
        self,
        name: str,
        places: Sequence[str],
        *,
        length: float | None,
        route: Sequence[tuple[float, float]] = (),
        **facts: Any,
    ) -> str:
        identity = f"c{len(self.cables) + 1:03d}"
        row = {
            "id": identity,
            "name": name,
            "aliases": "",
            "length_km": "" if length is None else f"{length:.4f}",
            "rfs": "2015-01-01",
            "retired": "",
            "planned": 0,
            "owners": "",
            "source": "invented",
            "asof_date": AS_OF,
        }
        self.cables.append({**row, **facts})
        by_id = {p["id"]: (float(p["lat"]), float(p["lon"])) for p in self.landings}
        for number, (one, two) in enumerate(pairwise(places)):
            points = [by_id[one], *(route if not number else ()), by_id[two]]
            text = "; ".join(f"{a:.4f} {b:.4f}" for a, b in points)
            self.segments.append(
                {"cable": identity, "from": one, "to": two, "branch": int(number > 0), "length_km": "", "route": text}
            )
        return identity


def make_world(seed: int, *, size: str = "small", as_layer: bool = True, documents: bool = True) -> World:
    """A world.

    Parameters
    ----------
    seed : int
        Same seed and size, same bytes.
    size : str
        ``small`` (14 cables), ``medium`` (120) or ``large`` (500).
    as_layer : bool
        Whether to make AS links and an update stream.
    documents : bool
        Whether to make notes and questions on them.

    Raises
    ------
    UserError
        The size is unknown.

    Examples
    --------
    >>> make_world(7).files == make_world(7).files
    True
    """
    if size not in SIZES:
        raise UserError(f"no size {size!r}", hint=f"One of {', '.join(SIZES)}.")
    source = random.Random(seed)  # noqa: S311
    tables = _Tables([], [], [], [])
    facts = _plant(tables, source)
    _fill(tables, source, SIZES[size])
    files = {
        "landings.csv": _table(tables.landings),
        "cables.csv": _table(tables.cables),
        "segments.csv": _table(tables.segments),
        "land_borders.csv": _table(tables.borders),
    }
    questions = [_as_question(fact, number) for number, fact in enumerate(facts, start=1) if fact.get("question")]
    if as_layer:
        more, told = make_stream(source)
        files |= more
        facts += told
        questions += [_as_question(fact, 100 + number) for number, fact in enumerate(told)]
    if documents:
        texts, asked = make_documents(source)
        files |= texts
        questions += asked
    return World(seed, size, files, facts, questions)


def _table(rows: Iterable[dict[str, Any]]) -> bytes:
    listed = list(rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(listed[0]) if listed else ["a", "b"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    return stream.getvalue().encode()


def _as_question(fact: dict[str, Any], number: int) -> dict[str, Any]:
    return {
        "id": f"w-{number}",
        "incident": "computed",
        "category": "graph",
        "question": fact["question"],
        "expected_status": ["answered"],
        "match_all": fact["match"],
        "forbid": [],
        "needs": [],
    }


def _plant(t: _Tables, source: random.Random) -> list[dict[str, Any]]:
    """Structures whose effect is known by construction."""
    hub = [t.place(f"Port {n}", 20 + n, 5 + 3 * n, "Hubland") for n in range(4)]
    shift = source.uniform(-2, 2)
    lonely = t.place("Solitude", 12 + shift, -20, "Norland, Rep.")
    duo = [t.place("Twin Bay", 8, 40 + shift, "Isles (East)"), t.place("Second Bay", 9, 41, "Isles")]
    border = t.place("Frontier", 25, 12 + shift, "Borderland")
    a, b, c = (
        t.place("Highcape", 58 + shift / 2, -6, "Upland"),
        t.place("Midport", 44, -60, "Farland"),
        t.place("Lowcape", 10, -35, "Downland"),
    )
    b_low = t.place("Southport", 30, -70, "Farland")
    north, south = t.place("Icehaven", 62 + abs(shift), 18, "Northia"), t.place("Warmhaven", 10, 60, "Southia")
    arc = [t.place("Arc West", 50, -120, "Westia"), t.place("Arc East", 52, 120, "Eastia")]
    trench = [t.place("Reef", -10, 170, "Reefia"), t.place("Atoll", -12, -172, "Atollia")]
    coast = [t.place("Coast A", 21, 30, "Hubland"), t.place("Coast B", 21.3, 30.4, "Hubland", tbd=True)]
    t.lay("Lone Line", [lonely, hub[0]], length=3100, rfs="")
    t.lay("Twin One", [duo[0], duo[1], hub[1]], length=2200, aliases="TW1|Twin-1")
    t.lay("Twin One Extension", [duo[0], duo[1], hub[2]], length=None)
    t.lay("Border Line", [border, hub[3]], length=900)
    t.lay("North Bridge", [a, b], length=5200 + round(shift, 4))
    t.lay("South Bridge", [c, b_low], length=4800)
    t.lay("South Bridge Express", [c, b], length=5000, retired="2029-12-01")
    t.lay("Long Span", [north, hub[0], south], length=9800)
    t.lay("Polar Arc", arc, length=8800, route=[(86.0, -150.0), (86.0, 150.0)])
    t.lay("Trench East", trench, length=2100, route=[(-11.0, 179.0)])
    t.lay("Trench West", [trench[0], hub[1]], length=9000, route=[(-11.0, 178.9)])
    t.lay("Coast Loop", coast, length=60)
    t.lay("Future Link", [lonely, c], length=2500, planned=1, rfs="2033-01-01")
    t.lay("Trench-East", trench, length=2100, retired="2020-01-01")
    t.borders.append({"a": "Borderland", "b": "Hubland"})
    return _cable_facts()


def _cable_facts() -> list[dict[str, Any]]:
    def fact(question: str, match: Sequence[str], answer: Any, event: str, alternative: str = "") -> dict[str, Any]:
        return {
            "question": question,
            "match": list(match),
            "answer": answer,
            "event": event,
            "alternative": alternative,
        }

    return [
        fact(
            "If the cable Lone Line fails, which countries are isolated on the cable map?",
            ["isolated[^.;]*Norland, Rep\\."],
            ["Norland, Rep."],
            "CableList",
        ),
        fact(
            "If the cables Twin One and Twin One Extension fail, which countries are isolated on the cable map?",
            ["isolated[^;]*Isles", "Isles \\(East\\)"],
            ["Isles", "Isles (East)"],
            "CableList",
        ),
        fact(
            "If the cable Twin One fails, which countries are isolated on the cable map?",
            ["isolated: none"],
            [],
            "CableList",
        ),
        fact(
            "If the cable Border Line fails, which countries are isolated on the cable map with land borders?",
            ["isolated: none"],
            [],
            "CableList with land borders",
            "Borderland without land borders",
        ),
        fact(
            "Which countries are isolated on the cable map if a storm cuts all landings above 60 degrees latitude?",
            ["Southia", "Northia"],
            ["Northia", "Southia"],
            "LatitudeBand",
            "Northia when only landings are cut",
        ),
        fact(
            "Which cables fail on the cable map within 60 km of (-11, 178.95)?",
            ["Trench East", "Trench West"],
            ["Trench East", "Trench West"],
            "Circle",
        ),
    ]


def _fill(t: _Tables, source: random.Random, size: tuple[int, int, int]) -> None:
    cables, landings, countries = size
    if not cables:
        return
    names: list[str] = []
    while len(names) < countries:
        name = (source.choice(_ROOTS) + source.choice(_ROOTS) + source.choice(_ENDS)).capitalize()
        if name not in names:
            names.append(name)
    # At most 55 degrees, and away from the trench, so that the planted facts stay true.
    places = []
    for number in range(landings):
        lat, lon = source.uniform(-55, 55), source.uniform(-160, 150)
        places.append(t.place(f"Landing {number + 1}", lat, lon, names[number % countries]))
    for number in range(cables):
        chosen = source.sample(places, source.randint(2, 5))
        t.lay(
            f"System {number + 1}", chosen, length=source.uniform(200, 15000), rfs=f"{source.randint(1995, 2030)}-06-01"
        )
