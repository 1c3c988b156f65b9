"""The data satisfies its schema, and no data value is in it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2net.errors import DataError, UserError
from nl2net.graphs import (
    ReadOptions,
    RegisteredGraph,
    SchemaOptions,
    describe_graph,
    frames,
    list_registered,
    load_graph,
    register_graph,
    sample_names,
)
from nl2net.graphs.shapes import matches_shape
from nl2net.locations import Locations
from nl2net.model import AttributeSchema

PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "text": str,
    "date": str,
}


def _records(graph: Any, owner: str) -> list[dict[str, Any]]:
    items = graph.nodes(data=True) if owner == "node" else graph.edges(data=True)
    return [item[-1] for item in items]


def _check(attribute: AttributeSchema, records: list[dict[str, Any]]) -> None:
    values = [record[attribute.name] for record in records if attribute.name in record]
    assert (len(values), len(records)) == (attribute.count, attribute.total)
    expected = PYTHON_TYPES.get(attribute.type)
    if expected is not None:
        assert all(isinstance(value, expected) for value in values)
    if attribute.type in ("integer", "number"):
        assert not any(isinstance(value, bool) for value in values)
    if attribute.shape:
        assert all(matches_shape(value, attribute.shape) for value in values)
    distinct = len({repr(value) for value in values})
    allowed = {"1": distinct == 1, "2-10": 2 <= distinct <= 10, "unique": distinct == len(values)}
    assert allowed.get(attribute.distinct, distinct > 10)
    for kind, (count, total) in attribute.per_kind.items():
        same = [record for record in records if record.get("kind") == kind]
        assert (sum(attribute.name in record for record in same), len(same)) == (count, total)
    for key in attribute.keys:
        assert all(key in value for value in values)


@pytest.mark.parametrize("name", sample_names())
def test_samples_satisfy_their_schema(name: str) -> None:
    loaded = load_graph(name)
    for attribute in loaded.schema.attributes:
        _check(attribute, _records(loaded.graph, attribute.owner))


CANARY = st.integers(0, 10**6).map(lambda n: f"Canary{n}x")
VALUE = st.one_of(CANARY, st.integers(7_000_000, 9_000_000), st.lists(CANARY, min_size=1, max_size=2))
RECORD = st.dictionaries(st.sampled_from(["speed", "site", "name", "tags"]), VALUE, max_size=3)


@settings(max_examples=60, deadline=None)
@given(nodes=st.dictionaries(CANARY, RECORD, min_size=2, max_size=6), data=st.data())
def test_no_value_is_in_the_schema(nodes: dict[str, dict[str, Any]], data: st.DataObject) -> None:
    graph: Any = nx.MultiDiGraph() if data.draw(st.booleans()) else nx.Graph()
    graph.add_nodes_from(nodes.items())
    ends = st.sampled_from(sorted(nodes))
    for _ in range(data.draw(st.integers(0, 5))):
        graph.add_edge(data.draw(ends), data.draw(ends), **data.draw(RECORD))
    private = data.draw(ends)
    graph.nodes[private][private] = 1  # an attribute that is called like a node
    schema = describe_graph(graph, name="g").schema
    for attribute in schema.attributes:
        _check(attribute, _records(graph, attribute.owner))
    seen_by_a_model = [replace(attribute, name=attribute.public_name) for attribute in schema.attributes]
    text = repr(asdict(replace(schema, attributes=tuple(seen_by_a_model))))
    assert "Canary" not in text
    counts = {str(n) for n in range(200)}
    numbers = {str(v) for record in nodes.values() for v in record.values() if isinstance(v, int)}
    assert not any(number in text for number in numbers - counts)


@pytest.mark.parametrize(
    ("name", "owner", "attribute", "role"),
    [
        ("geant2012", "edge", "LinkSpeedRaw", "capacity"),
        ("geant2012", "edge", "LinkSpeed", ""),
        ("geant2012", "node", "Longitude", "coordinate"),
        ("comm50", "edge", "byte_weight", "traffic"),
        ("comm50", "edge", "packet_weight", "traffic"),
        ("comm50", "edge", "connection_weight", "traffic"),
        ("comm50", "node", "size", ""),
        ("comm50", "node", "ip_address", "address"),
        ("malt", "node", "physical_capacity_bps", "capacity"),
        ("malt", "node", "name", "name"),
        ("netbox", "node", "site", "site"),
        ("netbox", "node", "prefix", "prefix"),
    ],
)
def test_roles(name: str, owner: str, attribute: str, role: str) -> None:
    found = load_graph(name).schema.attribute(owner, attribute)
    assert found is not None and found.role == role


@pytest.mark.parametrize("word", ["bw", "bandwidth", "speed", "capacity_bps", "physicalCapacity", "link_speed"])
def test_synonyms_of_capacity(word: str) -> None:
    graph = nx.Graph([("a", "b", {word: 10, "delay": 2.5, "igp_metric": 7})])
    roles = {a.name: a.role for a in describe_graph(graph, name="g").schema.attributes_of("edge")}
    assert roles == {word: "capacity", "delay": "latency", "igp_metric": "cost"}


@pytest.mark.parametrize("attribute", ["name", "LinkLabelX"])
def test_refused_values(attribute: str) -> None:
    with pytest.raises(UserError):
        load_graph("geant2012", schema_options=SchemaOptions(frozenset({attribute})))


def test_shared_values_and_ranges() -> None:
    options = SchemaOptions(frozenset({"LinkType"}), frozenset({"LinkSpeedRaw"}))
    schema = load_graph("geant2012", schema_options=options).schema
    speed, kind = schema.attribute("edge", "LinkSpeedRaw"), schema.attribute("edge", "LinkType")
    assert speed is not None and speed.value_range is not None and speed.value_range[0] > 0
    assert kind is not None and len(kind.values) == 1


def test_registered_graphs_keep_their_options(locations: Locations, tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text("here,there,bw\nr1,r2,10\nr1,r2,20\n")
    with pytest.raises(DataError, match="two ends"):
        load_graph(file)
    options = ReadOptions(source="here", target="there", merge="sum:bw", units={"bw": "Mbit/s"})
    stored = register_graph(RegisteredGraph("mine", file, options, SchemaOptions(coarse_counts=True)), locations)
    assert stored.stat().st_mode & 0o777 == 0o600
    loaded = load_graph("mine", locations=locations)
    assert loaded.graph.edges["r1", "r2"] == {"bw": 30}
    assert loaded.schema_options.coarse_counts
    bw = loaded.schema.attribute("edge", "bw")
    assert bw is not None and bw.unit == "Mbit/s"
    assert [entry.name for entry in list_registered(locations)] == ["mine"]


def test_frames_keep_integers_and_gaps() -> None:
    tables = frames(load_graph("malt").graph)
    assert tables.nodes.index.name == "id"
    assert str(tables.nodes["switch_loc.stage"].dtype) == "Int64"
    assert tables.nodes["switch_loc.stage"].isna().sum() > 1000
    assert list(tables.edges.columns[:2]) == ["source", "target"]
    assert len(tables.edges) == 1766
