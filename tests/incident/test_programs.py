"""Event models as programs in the sandbox: the same as the library, shown in the answer, honest if they cannot run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

from nl2net.errors import UserError
from nl2net.incident.impact import repeaters
from nl2net.incident.impact.asgraph import AsGraph
from nl2net.incident.impact.cables import Cable, CableMap, Landing
from nl2net.incident.impact.events import CableList, Circle, EventModel, LatitudeBand, SiteList, assess
from nl2net.incident.impact.programs import (
    Programs,
    as_graph,
    cable_graph,
    check_value,
    impact_program,
    removal_program,
    repeater_program,
)
from nl2net.incident.impact.synthetic import make_world
from nl2net.incident.loop import Investigator
from nl2net.incident.records import ReportStatus
from tests.incident.conftest import open_corpus

_PLACES = {
    "a": Landing("a", "A", 62.0, 10.0, "North"),
    "b": Landing("b", "B", 35.0, 12.0, "South"),
    "c": Landing("c", "C", 10.0, 179.0, "East, Rep."),
    "d": Landing("d", "D", 12.0, -179.0, "Isles (West)"),
}
WORLD = CableMap(
    _PLACES,
    (
        Cable("1", "One", frozenset("ab"), length_km=3100.0, route=((62.0, 10.0), (70.0, 11.0), (35.0, 12.0))),
        Cable("2", "Two", frozenset("cd"), length_km=220.0, route=((10.0, 179.0), (12.0, -179.0))),
        Cable("3", "Three", frozenset("bc"), length_km=None),
    ),
    frozenset({frozenset({"North", "South"})}),
)
EVENTS = [
    LatitudeBand(60.0),
    LatitudeBand(60.0, "landings"),
    LatitudeBand(65.0, "route"),
    Circle(11.0, 180.0, 200.0),
    Circle(89.0, 0.0, 2200.0),
    CableList(("Two",)),
    SiteList(("B",)),
]


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    with Programs() as found:
        yield found


@pytest.mark.parametrize("event", EVENTS, ids=repr)
@pytest.mark.parametrize("borders", [False, True])
def test_program_and_library_agree(programs: Programs, event: EventModel, borders: bool) -> None:
    impact = assess(WORLD, event, land_borders=borders)
    ran = programs.run(impact_program(event, land_borders=borders), cable_graph(WORLD))
    assert ran.reason == ""
    assert ran.value == {
        "failed": list(impact.failed),
        "isolated": list(impact.isolated),
        "shares": dict(impact.shares),
    }


def test_repeaters_agree(programs: Programs) -> None:
    told = repeaters.expect(WORLD, repeaters.S1)
    ran = programs.run(repeater_program(repeaters.S1), cable_graph(WORLD))
    assert ran.value == {"cables": told.cables, "landings": told.landings}


def test_removal_agrees(programs: Programs) -> None:
    plain = nx.barbell_graph(4, 2)
    graph = AsGraph({int(n) + 1: {int(m) + 1 for m in plain.neighbors(n)} for n in plain})
    for asn in graph.neighbours:
        ran = programs.run(removal_program((asn,)), as_graph(graph))
        assert ran.value == list(graph.cut_off_by([asn]))
    links = ((5, 6),)
    assert programs.run(removal_program((), links), as_graph(graph)).value == list(graph.cut_off_without(links))


def test_a_difference_is_never_shown(programs: Programs) -> None:
    program = impact_program(LatitudeBand(60.0))
    with pytest.raises(UserError, match="disagree"):
        check_value(programs, program, cable_graph(WORLD), {"failed": []})


def test_a_program_that_fails_leaves_a_note(programs: Programs) -> None:
    checked = check_value(programs, "def answer(graph):\n    return 1 / 0\n", cable_graph(WORLD), 1)
    assert checked.source == ""
    assert "library alone" in checked.note


def test_the_answer_shows_the_program(programs: Programs, tmp_path: Path) -> None:
    make_world(5, size="small").write(tmp_path)
    question = "If all cables with a landing at or above 40 degrees latitude fail, which countries are isolated?"
    with open_corpus(tmp_path) as corpus:
        report = Investigator(corpus, programs=programs).investigate(question)
        alone = Investigator(corpus).investigate(question)
    assert report.status is ReportStatus.ANSWERED
    assert "def answer(graph):" in report.answer
    assert report.evidence[0].program.startswith("import math")
    assert report.evidence[0].output == alone.evidence[0].output
    assert "def answer(graph):" not in alone.answer
