"""One graph for many programs: clean twins are lent for each run, and what was changed on them is undone after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.golden.journal import JournalDiGraph, JournalGraph


def _replica(kind: type[Any], graph: Any) -> Any:
    """A clean graph with the same content in the same order, filled past the mutators: nothing needs recording yet."""
    made = kind()
    made.graph.update(graph.graph)
    node_attributes, edge_attributes = made.node_attr_dict_factory, made.edge_attr_dict_factory
    for n, data in graph._node.items():
        dict.update(attributes := node_attributes(), data)
        made._node[n] = attributes
        made._adj[n] = {}
        if made.is_directed():
            made._pred[n] = {}
    back = made._pred if made.is_directed() else made._adj
    for u, row in graph._adj.items():
        for v, data in row.items():
            if v not in made._adj[u]:
                dict.update(attributes := edge_attributes(), data)
                made._adj[u][v] = back[v][u] = attributes
    return made


class Lender:
    """Makes twins of one graph on demand and takes them back clean."""

    def __init__(self, graph: Any) -> None:
        self._kind = JournalDiGraph if graph.is_directed() else JournalGraph
        self.original = _replica(self._kind, graph)
        self._twins: list[Any] = []
        self._lent = 0

    def lend(self) -> Any:
        """The next free twin."""
        if self._lent == len(self._twins):
            twin = _replica(self._kind, self.original)
            twin.owners()
            twin.lent = True
            self._twins.append(twin)
        twin = self._twins[self._lent]
        self._lent += 1
        return twin

    def lent(self) -> list[Any]:
        """The twins in use, in the order in which they were lent."""
        return self._twins[: self._lent]

    def take_back(self) -> None:
        """Undo all changes."""
        for graph in (self.original, *self._twins[: self._lent]):
            graph.journal.undo()
        self._lent = 0


@contextmanager
def borrowed(built: BuiltGraph) -> Iterator[Any]:
    """The graph for one run of a program; whatever it changes is undone at the end.

    Examples
    --------
    >>> from nl2net.golden.case import GraphSource
    >>> from nl2net.golden.recipes import build_graph
    >>> built = build_graph(GraphSource("traffic", "demo", {"nodes": 12}))
    >>> with borrowed(built) as graph:
    ...     changed = graph.copy()
    ...     changed.remove_node(next(iter(changed)))
    ...     len(changed.changes().nodes_removed), len(graph)
    (1, 12)
    """
    lender: Lender | None = built.cache.get("lender")
    if lender is None:
        lender = built.cache["lender"] = Lender(built.graph)
    lender.original.lender = lender
    try:
        yield lender.original
    finally:
        lender.original.lender = None
        lender.take_back()
