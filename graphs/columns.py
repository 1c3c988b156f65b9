"""A columnar view of a finished graph, from which report, schema, fingerprint and data frames are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

MISSING: Any = ...


def edge_lists(graph: Any) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    """Ends and attributes of every link, each undirected link once."""
    triples = list(graph.edges(data=True))
    return [t[0] for t in triples], [t[1] for t in triples], [t[2] for t in triples]


def attribute_columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Values by attribute in order of first appearance, `MISSING` where a record lacks it."""
    names = dict.fromkeys(chain.from_iterable(records))
    return {name: [record.get(name, MISSING) for record in records] for name in names}


@dataclass(eq=False)
class GraphColumns:
    """Nodes and links of a graph as columns.

    Attributes
    ----------
    graph : networkx graph
        In normal form.
    ids : list of str
        Node ids in the order of the graph.
    sources, targets : list of str
        Ends of each link.
    nodes, edges : dict of str to list
        Attribute values, `MISSING` where there is none.
    """

    graph: Any
    ids: list[str]
    sources: list[str]
    targets: list[str]
    nodes: dict[str, list[Any]]
    edges: dict[str, list[Any]]

    @classmethod
    def of(cls, graph: Any) -> GraphColumns:
        """The view of a graph."""
        sources, targets, records = edge_lists(graph)
        return cls(
            graph,
            list(graph),
            sources,
            targets,
            attribute_columns([data for _, data in graph.nodes(data=True)]),
            attribute_columns(records),
        )

    def columns(self, owner: str) -> dict[str, list[Any]]:
        """Columns of ``"node"`` or ``"edge"``."""
        return self.nodes if owner == "node" else self.edges

    @cached_property
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Link ends as positions in ``ids``."""
        position = dict(zip(self.ids, range(len(self.ids)), strict=True))
        count = len(self.sources)
        first, second = (
            np.fromiter(map(position.__getitem__, ends), np.int64, count) for ends in (self.sources, self.targets)
        )
        return first, second

    @cached_property
    def component_sizes(self) -> list[int]:
        """Sizes of the (weakly) connected components, largest first."""
        u, v = self.ends
        size = len(self.ids)
        matrix = coo_array((np.ones(len(u), dtype=np.int8), (u, v)), shape=(size, size))
        _, labels = connected_components(matrix, directed=False)
        return sorted(np.bincount(labels).tolist(), reverse=True)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Links per node; a self-loop counts twice."""
        u, v = self.ends
        return np.bincount(u, minlength=len(self.ids)) + np.bincount(v, minlength=len(self.ids))

    @cached_property
    def self_loops(self) -> int:
        """Links from a node to itself."""
        u, v = self.ends
        return int((u == v).sum())

    @cached_property
    def parallel(self) -> list[tuple[int, int, int]]:
        """Pairs of positions that have more than one link, with the number of links."""
        if not self.graph.is_multigraph():
            return []
        u, v = self.ends
        if not self.graph.is_directed():
            u, v = np.minimum(u, v), np.maximum(u, v)
        codes, counts = np.unique(u * len(self.ids) + v, return_counts=True)
        many = counts > 1
        pairs = zip(codes[many].tolist(), counts[many].tolist(), strict=True)
        return [(code // len(self.ids), code % len(self.ids), count) for code, count in pairs]


def present(values: list[Any]) -> list[Any]:
    """Values that are there."""
    if type(MISSING) not in set(map(type, values)):
        return values
    return [value for value in values if value is not MISSING]
