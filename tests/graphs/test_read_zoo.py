"""Topology Zoo files with everything odd that the collection holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from nl2net.graphs import ReadOptions, load_graph

KEYS = (
    ("node", "label", "string"), ("node", "Internal", "int"), ("node", "Latitude", "double"),
    ("node", "Longitude", "double"), ("node", "hyperedge", "int"), ("node", "id", "int"),
    ("edge", "LinkSpeed", "string"), ("edge", "LinkSpeedRaw", "double"), ("edge", "key", "int"),
    ("graph", "Creator", "string"),
)  # fmt: skip
NODES: tuple[dict[str, Any], ...] = (
    {"label": "Zürich", "Internal": 1, "Latitude": 47.37, "Longitude": 8.55},
    {"label": "Łódź & Co", "Internal": 1, "Latitude": 51.76, "Longitude": 19.46},
    {"label": "None", "Internal": 1, "hyperedge": 1},
    {"label": "London", "Internal": 0},
    {"label": "London", "Internal": 0},
    {"label": "São Paulo", "Internal": 1},
)
EDGES: tuple[tuple[int, int, dict[str, Any]], ...] = (
    (0, 1, {"LinkSpeed": "10", "LinkSpeedRaw": 1e10}), (0, 1, {}), (0, 2, {}), (1, 2, {}), (3, 2, {}),
)  # fmt: skip


def _graphml() -> str:
    names = {(owner, name): f"d{number}" for number, (owner, name, _) in enumerate(KEYS)}

    def data(owner: str, values: dict[str, Any]) -> str:
        escaped = {name: str(value).replace("&", "&amp;") for name, value in values.items()}
        return "".join(f'<data key="{names[owner, name]}">{text}</data>' for name, text in escaped.items())

    parts = ['<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    parts += [
        f'<key attr.name="{name}" attr.type="{kind}" for="{owner}" id="{names[owner, name]}" />'
        for owner, name, kind in KEYS
    ]
    parts.append('<graph edgedefault="undirected">' + data("graph", {"Creator": "Topology Zoo Toolset"}))
    parts += [f'<node id="{n}">{data("node", {**values, "id": n + 40})}</node>' for n, values in enumerate(NODES)]
    parts += [f'<edge source="{u}" target="{v}">{data("edge", {**values, "key": 0})}</edge>' for u, v, values in EDGES]
    return "".join([*parts, "</graph></graphml>"])


def _gml() -> str:
    def fields(values: dict[str, Any]) -> str:
        shown = {name: f'"{value}"' if isinstance(value, str) else repr(value) for name, value in values.items()}
        return "".join(f"    {name} {text.replace('&', '&amp;')}\n" for name, text in shown.items())

    parts = ['graph [\n  Creator "Topology Zoo Toolset"\n  directed 0\n']
    parts += [f"  node [\n    id {number}\n{fields(values)}  ]\n" for number, values in enumerate(NODES)]
    parts += [f"  edge [\n    source {u}\n    target {v}\n{fields(values)}  ]\n" for u, v, values in EDGES]
    return "".join([*parts, "]\n"])


@pytest.mark.parametrize(("suffix", "text"), [("graphml", _graphml()), ("gml", _gml())])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_odd_zoo_file(suffix: str, text: str, encoding: str, tmp_path: Path) -> None:
    file = tmp_path / f"Odd.{suffix}"
    file.write_bytes(text.replace('encoding="utf-8"', f'encoding="{encoding}"').encode(encoding))
    loaded = load_graph(file)
    graph = loaded.graph
    assert type(graph) is nx.MultiGraph
    assert (len(graph), graph.number_of_edges(), loaded.schema.components, loaded.schema.isolated) == (6, 5, 3, 2)
    assert [graph.nodes[node].get("name") for node in graph] == [
        "Zürich", "Łódź & Co", None, "London", "London", "São Paulo",
    ]  # fmt: skip
    assert graph.nodes["2"]["hyperedge"] == 1
    assert graph.nodes["3"]["Internal"] == 0
    found = {(finding.rule, finding.count) for finding in loaded.report}
    assert {("duplicate-name", 1), ("parallel", 1)} <= found
    latitude = loaded.schema.attribute("node", "Latitude")
    speed = loaded.schema.attribute("edge", "LinkSpeedRaw")
    assert latitude is not None and (latitude.count, latitude.total, latitude.unit) == (2, 6, "degree")
    assert speed is not None and (speed.count, speed.unit, speed.role) == (1, "bit/s", "capacity")
    assert any("outside network" in note for note in loaded.schema.notes)
    assert any("helper node" in note for note in loaded.schema.notes)


def test_identifiers_and_addresses_are_not_called_numbers_in_text(tmp_path: Path) -> None:
    file = tmp_path / "n.graphml"
    file.write_text(_graphml().replace('attr.name="id" attr.type="int"', 'attr.name="id" attr.type="string"'))
    notes = " ".join(load_graph(file).schema.notes)
    assert "file_id is text" not in notes
    assert "ip_address is text" not in " ".join(load_graph("comm50").schema.notes)
    speeds = load_graph("geant2012")
    assert any("LinkSpeed is text that holds numbers" in note for note in speeds.schema.notes)
    assert not any("file_id" in note or "geocode_id" in note for note in speeds.schema.notes)


def test_twins_without_labels_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "plain.gml"
    file.write_text('graph [ node [ id 1 label "a" ] node [ id 2 label "a" ] edge [ source 1 target 2 ] ]')
    graph = load_graph(file, ReadOptions(multigraph=True)).graph
    assert type(graph) is nx.MultiGraph
    assert list(graph.nodes(data="name")) == [("1", "a"), ("2", "a")]
