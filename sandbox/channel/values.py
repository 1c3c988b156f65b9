"""Values that JSON has no form for, as the parent sees them after decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TableValue:
    """A data frame or series, without pandas.

    ``index`` holds one label per row. ``kind`` is ``frame`` or ``series``; ``index_names`` is empty where the index
    has no name.
    """

    columns: tuple[Any, ...]
    rows: tuple[tuple[Any, ...], ...]
    index: tuple[Any, ...]
    index_names: tuple[Any, ...] = ()
    kind: str = "frame"

    @property
    def plain_index(self) -> bool:
        """Whether the index only counts the rows, so that it says nothing."""
        return not any(self.index_names) and all(
            type(label) is int and label == place for place, label in enumerate(self.index)
        )


@dataclass(frozen=True, slots=True)
class ViewValue:
    """A view of a graph or a mapping: its items in order."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GraphValue:
    """A graph as node-link JSON with key ``links``, kept apart from the operator's own graph object.

    Node ids and attributes are decoded values.
    """

    directed: bool
    multigraph: bool
    nodes: tuple[tuple[Any, dict[Any, Any]], ...]
    edges: tuple[tuple[Any, ...], ...]  # (source, target[, key], attributes)

    def to_networkx(self) -> Any:
        """A networkx graph of the same class."""
        import networkx as nx

        kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph}
        graph: Any = kinds.get((self.directed, self.multigraph), nx.MultiDiGraph)()
        graph.add_nodes_from((node, dict(attributes)) for node, attributes in self.nodes)
        graph.add_edges_from(self.edges)
        return graph
