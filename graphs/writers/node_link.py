"""Node-link JSON with the key ``links``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nl2net.locations import atomic_write


def to_node_link(graph: Any) -> dict[str, Any]:
    """The graph as node-link JSON.

    Examples
    --------
    >>> import networkx as nx
    >>> to_node_link(nx.Graph([("a", "b")]))["links"]
    [{'source': 'a', 'target': 'b'}]
    """
    return {
        "directed": graph.is_directed(),
        "multigraph": graph.is_multigraph(),
        "graph": {key: value for key, value in graph.graph.items() if key != "notes"},
        "nodes": [{"id": node, **data} for node, data in graph.nodes(data=True)],
        "links": [{"source": u, "target": v, **data} for u, v, data in graph.edges(data=True)],
    }


def write(graph: Any, path: Path) -> tuple[Path, ...]:
    """Write node-link JSON."""
    with atomic_write(path) as stream:
        stream.write(json.dumps(to_node_link(graph), default=str).encode("utf-8"))
    return (path,)
