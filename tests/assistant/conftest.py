"""A small graph with private names, and what the assistant makes of it."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from nl2net.graphs import LoadedGraph, load_graph


def write_graph(folder: Path) -> Path:
    """A node-link file: three sites, two racks, capacities on two of three links."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node("core1.fra", name="core1.fra", site="Frankfurt", role="backbone")
    graph.add_node("core2.fra", name="core2.fra", site="Frankfurt", role="backbone")
    graph.add_node("edge9.muc", name="edge9.muc", site="München", role="outpost")
    graph.add_edge("core1.fra", "core2.fra", capacity_bps=10_000_000_000)
    graph.add_edge("core2.fra", "edge9.muc", capacity_bps=1_000_000_000)
    graph.add_edge("core1.fra", "edge9.muc")
    import json

    path = folder / "plant.json"
    path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    return path


@pytest.fixture
def plant(tmp_path: Path) -> LoadedGraph:
    return load_graph(write_graph(tmp_path))
