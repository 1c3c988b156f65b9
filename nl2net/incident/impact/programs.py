"""Event models as programs that run in the sandbox over a graph, and are shown beside what they returned.

The library computes the same in its own process; a result is shown only where the two agree.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any, Self

import networkx as nx

from nl2net.errors import Nl2netError, UserError
from nl2net.graphs import describe_graph
from nl2net.incident.impact.asgraph import AsGraph
from nl2net.incident.impact.cables import CableMap
from nl2net.incident.impact.events import CableList, Circle, EventModel, LatitudeBand, SiteList
from nl2net.incident.impact.repeaters import Repeaters
from nl2net.sandbox import GraphPayload, Limits, Outcome, Sandbox, Task

_LIMITS = Limits(wall_s=20.0, cpu_s=20.0)


def _template(name: str) -> Template:
    return Template((files("nl2net.incident") / "data" / "programs" / f"{name}.txt").read_text(encoding="utf-8"))


def _constants(values: Mapping[str, object]) -> str:
    return "\n".join(f"{name} = {value!r}" for name, value in values.items())


def cable_graph(world: CableMap) -> Any:
    """A cable map as a graph: cables joined to their landings, and countries to their land neighbours.

    Parameters
    ----------
    world : CableMap
        On the day in question.

    Returns
    -------
    networkx.Graph
        Nodes have ``kind`` ``cable``, ``landing`` or ``country``; an unknown ``length_km`` is -1.
    """
    graph: Any = nx.Graph()
    for identity, place in world.landings.items():
        graph.add_node(
            f"landing {identity}", kind="landing", name=place.name, lat=place.lat, lon=place.lon, country=place.country
        )
    for cable in world.cables:
        lats = [abs(lat) for lat, _ in cable.route]
        graph.add_node(
            f"cable {cable.id}",
            kind="cable",
            name=cable.name,
            length_km=-1.0 if cable.length_km is None else float(cable.length_km),
            highest=max(lats, default=0.0),
            route=[number for point in cable.route for number in point],
        )
        graph.add_edges_from((f"cable {cable.id}", f"landing {landing}") for landing in sorted(cable.landings))
    for pair in sorted(tuple(sorted(pair)) for pair in world.borders):
        for country in pair:
            graph.add_node(f"country {country}", kind="country", name=country)
        graph.add_edge(f"country {pair[0]}", f"country {pair[-1]}")
    return graph


def impact_program(event: EventModel, *, land_borders: bool = False) -> str:
    """The program of an event on a cable map; ``""`` for a model without one.

    Examples
    --------
    >>> "DEGREES = 40.0" in impact_program(LatitudeBand(40.0))
    True
    """
    if isinstance(event, LatitudeBand):
        name, values = "band", {"DEGREES": event.degrees, "MODE": event.mode}
    elif isinstance(event, Circle) and event.mode == "route":
        name, values = "circle", {"LAT": event.lat, "LON": event.lon, "KM": event.km}
    elif isinstance(event, CableList):
        name, values = "named", {"NAMES": sorted(event.names), "SITES": []}
    elif isinstance(event, SiteList):
        name, values = "named", {"NAMES": [], "SITES": sorted(event.names)}
    else:
        return ""
    head = _constants({**values, "LAND_BORDERS": land_borders})
    return _template("impact").substitute(constants=head, selection=_template(name).template.rstrip() + "\n")


def repeater_program(model: Repeaters) -> str:
    """The program of the expected failures per repeater."""
    values = {"SPACING_KM": model.spacing_km, "HIGH": model.high, "MIDDLE": model.middle, "LOW": model.low}
    return _template("repeaters").substitute(constants=_constants(values))


def removal_program(ases: tuple[int, ...], links: tuple[tuple[int, int], ...] = ()) -> str:
    """The program of ASes and links that are gone."""
    named = {"ASES": [str(asn) for asn in ases], "LINKS": [(str(a), str(b)) for a, b in links]}
    return _template("removal").substitute(constants=_constants(named))


def as_graph(graph: AsGraph) -> Any:
    """The links between ASes as a graph whose node names are the numbers."""
    made: Any = nx.Graph()
    made.add_nodes_from(str(asn) for asn in sorted(graph.neighbours))
    made.add_edges_from(
        (str(a), str(b)) for a, found in sorted(graph.neighbours.items()) for b in sorted(found) if a < b
    )
    return made


@dataclass(frozen=True, slots=True)
class Checked:
    """A program whose value is the library's too; ``source`` is empty where no sandbox ran it, ``note`` says why."""

    source: str = ""
    note: str = ""


def check_value(programs: Programs | None, program: str, graph: Any, expected: object) -> Checked:
    """Run a program and compare it with what the library computed.

    Parameters
    ----------
    programs : Programs, optional
        Where to run it; without one nothing is run.
    program : str
        The source; ``""`` if the model has none.
    graph : networkx graph
        Its data.
    expected : object
        What the library computed.

    Raises
    ------
    UserError
        The two differ, so neither is shown.
    """
    if programs is None or not program:
        return Checked()
    ran = programs.run(program, graph)
    if ran.reason:
        return Checked(
            note=f"computed by the library alone, for the program did not run ({ran.reason.splitlines()[0]})"
        )
    if ran.value != expected:
        raise UserError(
            "the program in the sandbox and the library disagree, so nothing is shown",
            hint="Report this with the question and the data.",
        )
    return Checked(source=program)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program returned, or why there is nothing."""

    program: str
    value: Any = None
    reason: str = ""


class Programs:
    """Runs programs in the sandbox, which starts at the first of them.

    Parameters
    ----------
    accept_unsealed : bool
        As for every command that runs a program.
    """

    def __init__(self, *, accept_unsealed: bool = False) -> None:
        self._accept = accept_unsealed
        self._sandbox: Sandbox | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def run(self, program: str, graph: Any) -> Ran:
        """Run a program over a graph; a failure is a reason, not an error, for the library has computed too."""
        try:
            if self._sandbox is None:
                self._sandbox = Sandbox(limits=_LIMITS, accept_unsealed=self._accept)
            loaded = describe_graph(graph, name="incident")
            holder = self._sandbox.open(GraphPayload(loaded.graph, loaded.schema, loaded.fingerprint))
            report = holder.run(Task(program))
        except Nl2netError as error:
            return Ran(program, None, str(error))
        if report.outcome is not Outcome.OK:
            return Ran(program, None, report.error or report.outcome.value)
        return Ran(program, report.value)


def shown(program: str) -> str:
    """A program as an answer shows it: indented."""
    return textwrap.indent(program.strip(), "    ")
