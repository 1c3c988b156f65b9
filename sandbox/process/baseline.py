"""What a question changed: hashes of every node and edge, taken in the holder, compared in the child.

Works on values only, so it gives the same for the copy that a program returned and for the graph that it changed in
place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_FLAT = frozenset({str, int, float, bool, type(None)})


def canonical(value: Any) -> Any:
    """A value in a form whose ``repr`` does not depend on the order of mappings and sets.

    Examples
    --------
    >>> canonical({"b": 1, "a": [2]}) == canonical({"a": [2], "b": 1})
    True
    """
    kind = type(value)
    if kind in _FLAT:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return ("mapping", sorted((repr(canonical(key)), canonical_text(item)) for key, item in value.items()))
    if isinstance(value, (set, frozenset)):
        return ("set", sorted(canonical_text(item) for item in value))
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    return (kind.__name__, str(value))


def canonical_text(value: Any) -> str:
    """The canonical form as text."""
    return repr(canonical(value))


def attribute_hash(attributes: Mapping[Any, Any]) -> int:
    """Hash of the attributes of one node or edge.

    Hashing the text and not the values: ``hash(-1) == hash(-2)``, and ``1 == True == 1.0``.
    """
    if all(type(value) in _FLAT for value in attributes.values()):
        try:
            return hash(repr(sorted(attributes.items())))
        except TypeError:
            pass
    return hash(canonical_text(attributes))


def _edge_table(graph: Any) -> dict[Any, int]:
    if graph.is_multigraph():
        return {(u, v, key): attribute_hash(data) for u, v, key, data in graph.edges(keys=True, data=True)}
    return {(u, v): attribute_hash(data) for u, v, data in graph.edges(data=True)}


def take_baseline(graph: Any) -> dict[str, Any]:
    """Hashes of all nodes and edges, and the class of the graph."""
    return {
        "directed": graph.is_directed(),
        "multi": graph.is_multigraph(),
        "nodes": {node: attribute_hash(data) for node, data in graph.nodes(data=True)},
        "edges": _edge_table(graph),
    }


def _same_end(edge: tuple[Any, ...], table: Mapping[Any, int], directed: bool) -> tuple[Any, ...] | None:
    """The edge as the table spells it; an undirected edge may stand the other way round."""
    if edge in table:
        return edge
    turned = (edge[1], edge[0], *edge[2:])
    return turned if not directed and turned in table else None


def compare(baseline: Mapping[str, Any], graph: Any) -> dict[str, list[Any]]:
    """The difference between the baseline and a graph, with the *new* attributes only.

    The old values are not in the child any more; the parent takes them from its own graph.

    Raises
    ------
    ValueError
        The graph is of another class than the original.
    """
    if (graph.is_directed(), graph.is_multigraph()) != (baseline["directed"], baseline["multi"]):
        raise ValueError("the returned graph is of another class than the network")
    before: Mapping[Any, int] = baseline["nodes"]
    changed = {node: data for node, data in graph.nodes(data=True) if before.get(node) != attribute_hash(data)}
    report: dict[str, list[Any]] = {
        "nodes_added": [[node, data] for node, data in changed.items() if node not in before],
        "nodes_changed": [[node, data] for node, data in changed.items() if node in before],
        "nodes_removed": [node for node in before if node not in graph],
    }
    return report | _compare_edges(baseline, graph)


def _compare_edges(baseline: Mapping[str, Any], graph: Any) -> dict[str, list[Any]]:
    table: Mapping[Any, int] = baseline["edges"]
    added, changed, seen = [], [], set()
    rows = graph.edges(keys=True, data=True) if baseline["multi"] else graph.edges(data=True)
    for row in rows:
        edge, data = tuple(row[:-1]), row[-1]
        known = _same_end(edge, table, baseline["directed"])
        if known is None:
            added.append([*edge, data])
            continue
        seen.add(known)
        if table[known] != attribute_hash(data):
            changed.append([*known, data])
    removed = [list(edge) for edge in table if edge not in seen]
    return {"edges_added": added, "edges_changed": changed, "edges_removed": removed}
