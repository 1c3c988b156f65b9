"""Questions on a cable map: which event, which result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from nl2net.incident.claims import mentions
from nl2net.incident.frame import Frame
from nl2net.incident.impact import repeaters
from nl2net.incident.impact.cables import CableMap, parse_tables
from nl2net.incident.impact.events import CableList, Circle, EventModel, Impact, LatitudeBand, SiteList, assess
from nl2net.incident.impact.material import Result
from nl2net.incident.impact.programs import (
    Checked,
    Programs,
    cable_graph,
    check_value,
    impact_program,
    repeater_program,
)
from nl2net.incident.recording import Shelf
from nl2net.incident.records import Document

TABLES = ("landings", "cables", "segments", "land_borders")
_SPOKEN = re.compile(
    r"\bcable map\b|\bif\b.{0,60}\b(?:cables?|landings?)\b|\bcables?\b.{0,40}\b(?:would|were to)\b|\bwhat if\b|"
    r"\bisolat\w+|\blatitude\b|\brepeaters?\b|"
    r"\bland(?:s|ing)? in\b|\bwhich cables (?:connect|join|land)\b",
    re.IGNORECASE,
)
_DEGREES = re.compile(r"(\d+(?:\.\d+)?)\s*(?:°|degrees?\b)", re.IGNORECASE)
_CIRCLE = re.compile(
    r"(\d[\d,]*(?:\.\d+)?)\s*(?:km|kilomet\w+)\s+(?:of|around|"
    r"from)\s+\(?\s*(-?\d+(?:\.\d+)?)\s*[,;]\s*(-?\d+(?:\.\d+)?)",
    re.IGNORECASE,
)


def map_documents(shelf: Shelf) -> list[Document]:
    """Tables of the cable map of a corpus, one folder only."""
    tables = [shelf.document(doc) for doc in shelf.data_ids()]
    tables = [d for d in tables if d.data.get("format") == "cable-table"]
    folders = sorted({d.id.rpartition("/")[0] for d in tables})
    return [d for d in tables if d.id.rpartition("/")[0] == folders[0]] if folders else []


def load_map(shelf: Shelf, tables: Sequence[Document]) -> CableMap:
    """The map of the tables."""
    by_name = {d.id.rsplit("/", 1)[-1].removesuffix(".csv"): d.id for d in tables}
    return parse_tables(lambda name: shelf.read_bytes(by_name[name]) if name in by_name else None)


def speaks_of_map(question: str) -> bool:
    """Whether a question is on a map and not on a report.

    Examples
    --------
    >>> speaks_of_map("If the cable North fails, which countries are isolated?")
    True
    >>> speaks_of_map("Which cables were cut in 2024?")
    False
    """
    return _SPOKEN.search(question) is not None


def cable_results(frame: Frame, world: CableMap, programs: Programs | None = None) -> list[Result]:
    """What a question on a map asks for, computed.

    Parameters
    ----------
    frame : Frame
        The question.
    world : CableMap
        All cables of the map; the day of the question or of the map picks those in service.
    programs : Programs, optional
        Runs the event model as a program as well.
    """
    day = next(
        (date(*d).isoformat() for d in frame.dates if d[0] and d[1] and d[2]),
        world.as_of or date(2000, 1, 1).isoformat(),
    )
    today = world.on(day)
    event = _event(frame.question, today)
    if event is None:
        return _lookups(frame, today)
    results = []
    if re.search(r"\brepeaters?\b", frame.question, re.IGNORECASE):
        return _repeaters(frame.question, today, programs)
    borders = re.search(r"\bland borders?\b", frame.question, re.IGNORECASE) is not None
    impact = assess(today, event, land_borders=borders)
    program = impact_program(event, land_borders=borders)
    told = {"failed": list(impact.failed), "isolated": list(impact.isolated), "shares": dict(impact.shares)}
    checked = check_value(programs, program, cable_graph(today) if programs else None, told)
    results.append(_impact_result(impact, event, day, checked))
    if isinstance(event, LatitudeBand):
        other = LatitudeBand(event.degrees, "landings" if event.mode == "whole" else "whole")
        alternative = assess(today, other, land_borders=borders)
        listed = ", ".join(alternative.isolated) or "none"
        results.append(
            Result(
                "alternative",
                f"under the other choice ({alternative.assumptions[0]}) isolated: {listed}",
                list(alternative.isolated),
                "assess",
            )
        )
    return results


def _impact_result(impact: Impact, event: EventModel, day: str, checked: Checked) -> Result:
    worst = sorted(impact.shares.items(), key=lambda item: (-item[1], item[0]))[:8]
    shares = ", ".join(f"{c} {s:.0%}" for c, s in worst if s) or "none"
    text = (
        f"failed cables ({len(impact.failed)}): {', '.join(impact.failed) or 'none'}; isolated: "
        f"{', '.join(impact.isolated) or 'none'}; "
        f"lost share of international cables: {shares}; as of {day}"
    )
    value = {
        "failed": list(impact.failed),
        "isolated": list(impact.isolated),
        "cut_landings": list(impact.cut_landings),
        "shares": dict(impact.shares),
    }
    assumption = "; ".join([*impact.assumptions, *([checked.note] if checked.note else [])])
    return Result("impact", text, value, f"assess(map, {event!r})", assumption, checked.source)


def _event(question: str, world: CableMap) -> EventModel | None:
    if match := _CIRCLE.search(question):
        return Circle(float(match.group(2)), float(match.group(3)), float(match.group(1).replace(",", "")))
    if match := _DEGREES.search(question):
        mode = (
            "landings"
            if re.search(r"\bonly (?:the )?landings\b", question, re.IGNORECASE)
            else "route"
            if re.search(r"\broutes?\b", question, re.I)
            else "whole"
        )
        return LatitudeBand(float(match.group(1)), mode)
    if re.search(r"\brepeaters?\b", question, re.IGNORECASE):
        return LatitudeBand(60.0)
    if re.search(r"\b(?:fail\w*|cut|lost|removed?|broken|sever\w*|breaks?|without)\b", question, re.IGNORECASE):
        if re.search(r"\b(?:landings?|landing stations?|sites?)\b", question, re.IGNORECASE):
            places = sorted({p.name for p in world.landings.values() if mentions(question, p.name)})
            if places:
                return SiteList(tuple(places))
        names = _named(question, world)
        return CableList(tuple(names)) if names else None
    return None


def _named(question: str, world: CableMap) -> list[str]:
    """Cables that a question names; a longer name hides the shorter one inside it."""
    found = []
    rest = question
    for cable in sorted(world.cables, key=lambda c: -len(c.name)):
        for name in (cable.name, *cable.aliases):
            if mentions(rest, name):
                found.append(cable.name)
                rest = re.sub(re.escape(name), " ; ", rest, flags=re.IGNORECASE)
                break
    return sorted(found)


def _repeaters(question: str, world: CableMap, programs: Programs | None) -> list[Result]:
    base = repeaters.S2 if re.search(r"\bS2\b", question) else repeaters.S1
    spacing = re.search(r"(\d+)\s*km", question)
    model = repeaters.Repeaters(float(spacing.group(1)) if spacing else 100.0, base.high, base.middle, base.low)
    told = repeaters.expect(world, model)
    text = (
        f"expected share of failed cables {told.cables:.2%}, of cut landings {told.landings:.2%}; "
        f"{told.without_length} cables without a length are left out"
    )
    value = {"cables": told.cables, "landings": told.landings}
    assumption = (
        f"a repeater every {model.spacing_km:g} km fails with probability {model.high:g}, {model.middle:g} or "
        f"{model.low:g} by the highest absolute landing "
        "latitude (60 and above, 40 to 60, below); one failed repeater fails the cable"
    )
    checked = check_value(programs, repeater_program(model), cable_graph(world) if programs else None, value)
    assumption += f"; {checked.note}" if checked.note else ""
    return [Result("repeaters", text, value, f"expect(map, {model!r})", assumption, checked.source)]


def _lookups(frame: Frame, world: CableMap) -> list[Result]:
    countries = sorted({p.country for p in world.landings.values()}, key=lambda c: (-len(c), c))
    named, rest = [], frame.question
    for country in countries:
        if mentions(rest, country):
            named.append(country)
            rest = re.sub(re.escape(country), " ; ", rest, flags=re.IGNORECASE)
    if named:
        cables = sorted(c.name for c in world.cables if set(named) <= world.countries_of(c))
        return [
            Result(
                "cables",
                f"cables that land in {' and '.join(named)} ({len(cables)}): {', '.join(cables) or 'none'}",
                cables,
                "countries_of",
            )
        ]
    if re.search(r"how many\b.*\b(?:cables|landings|countries)", frame.question, re.IGNORECASE):
        text = f"{len(world.cables)} cables in service, {len(world.landings)} landings in {len(countries)} countries"
        return [
            Result(
                "size of the map",
                text,
                {"cables": len(world.cables), "landings": len(world.landings)},
                "count",
                "; ".join(world.notes),
            )
        ]
    return []
