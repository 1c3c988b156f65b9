"""Every sample file of the shared folder gives the class and the counts of its README."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import yaml

from nl2net.errors import DataError
from nl2net.graphs import ReadOptions, load_graph, sample_names

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"

TOPOLOGIES = SHARED / "topologies"


def _expected() -> list[tuple[str, str, int, int]]:
    readme = TOPOLOGIES / "README.md"
    if not readme.is_file():
        assert not os.environ.get("CI"), f"{readme} is missing"
        return []
    rows = []
    for line in readme.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) >= 7 and cells[5].isdigit():
            rows.append((cells[0], cells[4], int(cells[5]), int(cells[6])))
    return rows


@pytest.mark.parametrize(("file", "graph_class", "nodes", "edges"), _expected())
def test_class_and_counts_are_those_of_the_readme(file: str, graph_class: str, nodes: int, edges: int) -> None:
    graph = load_graph(TOPOLOGIES / file).graph
    assert (type(graph).__name__, len(graph), graph.number_of_edges()) == (graph_class, nodes, edges)


def test_all_expected_files_were_found() -> None:
    assert len(_expected()) == 16


def _gml_by_the_ladder(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    try:
        return nx.parse_gml(text, label="id")
    except nx.NetworkXError:
        return nx.parse_gml(text.replace("graph [", "graph [\n multigraph 1", 1), label="id")


@pytest.mark.parametrize("name", ["zoo_abilene.gml", "zoo_airtel_dup_edges.gml"])
def test_gml_equals_the_retry_ladder_of_networkx(name: str) -> None:
    loaded, ladder = load_graph(TOPOLOGIES / name), _gml_by_the_ladder(TOPOLOGIES / name)
    ours = sorted(tuple(sorted(edge)) for edge in loaded.graph.edges())
    assert ours == sorted(tuple(sorted(map(str, edge))) for edge in ladder.edges())
    names = {str(node): data["label"] for node, data in ladder.nodes(data=True)}
    assert {node: data["name"] for node, data in loaded.graph.nodes(data=True)} == names


def test_gml_and_graphml_twins_agree() -> None:
    twins = [load_graph(TOPOLOGIES / f"zoo_abilene.{suffix}").graph for suffix in ("gml", "graphml")]
    names = [{node: data["name"] for node, data in graph.nodes(data=True)} for graph in twins]
    assert names[0] == names[1]
    assert set(map(frozenset, twins[0].edges())) == set(map(frozenset, twins[1].edges()))


def test_cdp_rows_are_those_of_the_expected_parse() -> None:
    graph = load_graph(TOPOLOGIES / "ntc_cisco_ios_show_cdp_neighbors.raw", ReadOptions(local="sw1")).graph
    parsed = yaml.safe_load((TOPOLOGIES / "ntc_cisco_ios_show_cdp_neighbors.parsed.yml").read_text())["parsed_sample"]
    wanted = sorted((row["neighbor_name"], row["local_interface"], row["neighbor_interface"]) for row in parsed)
    found = sorted(
        (v, data["ports"]["sw1"], data["ports"][v]) if u == "sw1" else (u, data["ports"]["sw1"], data["ports"][u])
        for u, v, data in graph.edges(data=True)
    )
    assert found == wanted
    assert sum(data["kind"] == "endpoint" for _, data in graph.nodes(data=True)) >= 19


@pytest.mark.parametrize(("layer", "nodes", "edges"), [("layer3", 12, 10), ("layer2", 16, 12), ("layer1", 10, 9)])
def test_one_layer_folds_reverse_links(layer: str, nodes: int, edges: int) -> None:
    graph = load_graph("layers", ReadOptions(layer=layer)).graph
    assert not graph.is_directed()
    assert (len(graph), graph.number_of_edges()) == (nodes, edges)


def test_netbox_paths_are_traced() -> None:
    loaded = load_graph("netbox")
    kinds = loaded.schema.node_kinds
    assert kinds == {
        "region": 67,
        "site": 24,
        "rack": 42,
        "device": 72,
        "prefix": 90,
        "provider": 9,
        "provider_network": 1,
        "circuit": 29,
    }
    ends = [(u.split(":")[0], v.split(":")[0], d) for u, v, d in loaded.graph.edges(data=True)]
    between = [data for a, b, data in ends if a == b == "device"]
    assert (len(between), sum("circuits" in data for data in between)) == (38, 12)
    assert sum("circuit" in (a, b) for a, b, _ in ends) == 26
    assert next(f.count for f in loaded.report if "provider network" in f.message) == 13
    assert loaded.provenance["skipped"]["power cable"] == 26


def test_malt_identity_and_hierarchy() -> None:
    loaded = load_graph(TOPOLOGIES / "malt_full.textproto")
    assert nx.number_of_selfloops(loaded.graph) == 0
    found = {finding.rule: finding.count for finding in loaded.report}
    assert found["hierarchy"] == 640
    assert found["duplicate-name"] == 320
    contains = [r for r in loaded.schema.relations if r.relation == "RK_CONTAINS"]
    assert contains and all(relation.acyclic for relation in contains)
    capacity = loaded.schema.attribute("node", "physical_capacity_bps")
    assert capacity is not None and (capacity.role, capacity.unit, capacity.distinct) == ("capacity", "bit/s", "1")


def test_direction_hidden_in_attributes_is_reported() -> None:
    loaded = load_graph("comm50")
    finding = next(finding for finding in loaded.report if finding.rule == "direction-in-attributes")
    assert finding.count == 51
    assert any("direction of a link is only in" in note for note in loaded.schema.notes)


def test_germany50_demands_are_a_table() -> None:
    loaded = load_graph(TOPOLOGIES / "topohub_sndlib_germany50.json")
    demands = loaded.graph.graph["tables"]["demands"]
    # 662 pairs, each in one order only; the 1,324 of the folder's README count both directions of each.
    assert len(demands) == len({frozenset((row["source"], row["target"])) for row in demands}) == 662
    assert {end for row in demands for end in (row["source"], row["target"])} <= set(loaded.graph)
    assert any("one order only" in note for note in loaded.schema.notes)


@pytest.mark.parametrize("name", sample_names())
def test_samples_load_by_name_and_by_stem(name: str) -> None:
    loaded = load_graph(name)
    assert loaded.path is not None
    assert load_graph(loaded.path.name.split(".")[0]).fingerprint == loaded.fingerprint


def test_an_unknown_name_lists_the_nearest() -> None:
    with pytest.raises(DataError) as caught:
        load_graph("geant2013")
    assert "geant2012" in caught.value.hint
