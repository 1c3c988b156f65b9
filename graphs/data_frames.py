"""The graph as tables, for pandas and SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from nl2net.graphs.columns import MISSING, GraphColumns


@dataclass(frozen=True, slots=True)
class Frames:
    """Nodes (index ``id``), edges (``source``, ``target``, attributes) and extra tables.

    Every undirected link appears once: grouping by ``source`` alone sees about half of each node's links.
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame
    tables: dict[str, pd.DataFrame]


def _series(values: list[Any]) -> Any:
    """A column whose integers stay integers where some are missing."""
    types = set(map(type, values))
    gaps = MISSING.__class__ in types
    types.discard(MISSING.__class__)
    if not gaps:
        return pd.Series(values, dtype="str" if types == {str} else None)
    filled = [None if value is MISSING else value for value in values]
    nullable = {frozenset((int,)): "Int64", frozenset((bool,)): "boolean", frozenset((str,)): "str"}
    dtype: Any = nullable.get(frozenset(types), "float64" if types <= {int, float} and types else "object")
    try:
        return pd.Series(filled, dtype=dtype)
    except OverflowError:  # integers beyond 64 bits
        return pd.Series(filled, dtype="object")


def frames(graph: Any) -> Frames:
    """Data frames of a graph in normal form.

    Parameters
    ----------
    graph : networkx graph
        In normal form.

    Returns
    -------
    Frames
        Integers with gaps are ``Int64``, booleans ``boolean``; a missing value is missing, never zero or empty.

    Examples
    --------
    >>> import networkx as nx
    >>> tables = frames(nx.Graph([("a", "b", {"speed": 10}), ("b", "c")]))
    >>> tables.edges["speed"].tolist(), str(tables.edges["speed"].dtype)
    ([10, <NA>], 'Int64')
    """
    view = GraphColumns.of(graph)
    nodes = pd.DataFrame({name: _series(values) for name, values in view.nodes.items()})
    nodes.index = pd.Index(view.ids, name="id", dtype="str")
    edges = pd.DataFrame(
        {
            "source": pd.Series(view.sources, dtype="str"),
            "target": pd.Series(view.targets, dtype="str"),
            **{name: _series(values) for name, values in view.edges.items()},
        }
    )
    extra = {name: _table(rows) for name, rows in graph.graph.get("tables", {}).items()}
    return Frames(nodes, edges, extra)


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    names = dict.fromkeys(name for row in rows for name in row)
    return pd.DataFrame({name: _series([row.get(name, MISSING) for row in rows]) for name in names})
