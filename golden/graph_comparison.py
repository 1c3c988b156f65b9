"""Graphs by node id: equality, the first differences by class, and the difference to a changed copy."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import networkx as nx

from nl2net.golden.cells import EXACT, Tolerance, cells_equal
from nl2net.model import Changes

Attributes = Mapping[str, Any]
_MISSING: Any = object()


def graph_from_json(data: Mapping[str, Any]) -> Any:
    """A graph from node-link JSON with the key ``links``."""
    return nx.node_link_graph(dict(data), edges="links" if "links" in data else "edges")


def _edges(graph: Any) -> dict[tuple[str, ...], Attributes]:
    """Attributes by ends (and key); ends of an undirected edge are sorted."""
    directed = graph.is_directed()
    found: dict[tuple[str, ...], Attributes] = {}
    rows = graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True)
    for u, v, *rest in rows:
        ends = (u, v) if directed or str(u) <= str(v) else (v, u)
        found[(*ends, *(str(part) for part in rest[:-1]))] = rest[-1]
    return found


def changed_attributes(before: Attributes, after: Attributes, tolerance: Tolerance = EXACT) -> dict[str, list[Any]]:
    """Old and new value of every attribute that differs."""
    if before == after and bool not in map(type, before.values()) and bool not in map(type, after.values()):
        return {}
    found = {}
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, _MISSING), after.get(name, _MISSING)
        if old is new:
            continue
        if isinstance(old, bool) != isinstance(new, bool) or not _same_value(old, new, tolerance):
            found[name] = [None if old is _MISSING else old, None if new is _MISSING else new]
    return found


def _same_value(old: Any, new: Any, tolerance: Tolerance) -> bool:
    if old is _MISSING or new is _MISSING:
        return bool(old is new)
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        # The order of a list attribute is part of its value.
        return len(old) == len(new) and all(_same_value(a, b, tolerance) for a, b in zip(old, new, strict=True))
    return cells_equal(old, new, tolerance)


def _same_storage(left: Any, right: Any) -> bool:
    """A fast yes in C; a no decides nothing, for tolerance and the order of ends come after."""
    if left.is_directed() != right.is_directed():
        return False
    return bool(left._node == right._node and left._adj == right._adj)


def edge_record(ends: tuple[str, ...], attributes: Attributes, **extra: Any) -> dict[str, Any]:
    """An edge as it stands in `Changes`."""
    record = {"source": ends[0], "target": ends[1], **extra, **attributes}
    if len(ends) > 2:
        record["key"] = ends[2]
    return record


def difference(before: Any, after: Any, *, tolerance: Tolerance = EXACT) -> Changes:
    """What was changed from one graph to another, by id.

    Ends of undirected edges are named in sorted order. Booleans and numbers are different values here.

    Examples
    --------
    >>> import networkx as nx
    >>> a = nx.Graph([("x", "y")]); b = a.copy(); b.remove_node("y")
    >>> difference(a, b).nodes_removed, difference(a, b).edges_removed
    (('y',), ({'source': 'x', 'target': 'y'},))
    """
    if before is after or (_same_storage(before, after) and not (_has_booleans(before) or _has_booleans(after))):
        return Changes()
    old_nodes, new_nodes = dict(before.nodes(data=True)), dict(after.nodes(data=True))
    old_edges, new_edges = _edges(before), _edges(after)
    changed_nodes = {n: changed_attributes(old_nodes[n], new_nodes[n], tolerance) for n in old_nodes if n in new_nodes}
    changed_edges = {e: changed_attributes(old_edges[e], new_edges[e], tolerance) for e in old_edges if e in new_edges}
    return Changes(
        nodes_added=tuple({"id": n, **new_nodes[n]} for n in sorted(new_nodes.keys() - old_nodes.keys())),
        nodes_removed=tuple(sorted(old_nodes.keys() - new_nodes.keys())),
        nodes_changed={n: found for n, found in sorted(changed_nodes.items()) if found},
        edges_added=tuple(edge_record(e, new_edges[e]) for e in sorted(new_edges.keys() - old_edges.keys())),
        edges_removed=tuple(edge_record(e, {}) for e in sorted(old_edges.keys() - new_edges.keys())),
        edges_changed=tuple(edge_record(e, {}, changed=found) for e, found in sorted(changed_edges.items()) if found),
    )


def _has_booleans(graph: Any) -> bool:
    # In Python True == 1, so equal storage may hide an attribute that changed its type.
    links = chain.from_iterable(map(dict.values, graph._adj.values()))
    links = chain.from_iterable(map(dict.values, links)) if graph.is_multigraph() else links
    return bool in set(map(type, chain.from_iterable(map(dict.values, chain(graph._node.values(), links)))))


def differences_in_words(left: Any, right: Any, *, tolerance: Tolerance = EXACT, limit: int = 3) -> list[str]:
    """The first differences of each class between two graphs, empty if they are equal.

    Notes
    -----
    Graphs of different class (directed, multi) differ even with the same edges.
    """
    if (left.is_directed(), left.is_multigraph()) != (right.is_directed(), right.is_multigraph()):
        return [f"the class is {type(right).__name__}, not {type(left).__name__}"]
    return words_of(difference(left, right, tolerance=tolerance), limit=limit)


def words_of(changes: Changes, *, limit: int = 3) -> list[str]:
    """A difference as short sentences."""
    rows: list[tuple[str, list[str]]] = [
        ("nodes added", [str(node["id"]) for node in changes.nodes_added]),
        ("nodes missing", list(changes.nodes_removed)),
        ("nodes changed", [f"{n} {sorted(found)}" for n, found in changes.nodes_changed.items()]),
        ("edges added", [f"{e['source']} - {e['target']}" for e in changes.edges_added]),
        ("edges missing", [f"{e['source']} - {e['target']}" for e in changes.edges_removed]),
        ("edges changed", [f"{e['source']} - {e['target']} {sorted(e['changed'])}" for e in changes.edges_changed]),
    ]
    return [f"{len(found)} {what}: {', '.join(found[:limit])}" for what, found in rows if found]


def changes_from_json(data: Mapping[str, Any]) -> Changes:
    """The inverse of ``Changes.to_json``."""
    return Changes(
        nodes_added=tuple(data.get("nodes_added", ())),
        nodes_removed=tuple(data.get("nodes_removed", ())),
        nodes_changed=dict(data.get("nodes_changed", {})),
        edges_added=tuple(data.get("edges_added", ())),
        edges_removed=tuple(data.get("edges_removed", ())),
        edges_changed=tuple(data.get("edges_changed", ())),
    )


def _ends(record: Mapping[str, Any], *, directed: bool) -> tuple[str, ...]:
    ends = (str(record["source"]), str(record["target"]))
    return (*(ends if directed else sorted(ends)), *((str(record["key"]),) if "key" in record else ()))


def _by_ends(records: tuple[dict[str, Any], ...], *, directed: bool) -> dict[tuple[str, ...], Attributes]:
    return {
        _ends(record, directed=directed): {k: v for k, v in record.items() if k not in ("source", "target", "key")}
        for record in records
    }


def same_changes(left: Changes, right: Changes, *, directed: bool, tolerance: Tolerance = EXACT) -> str:
    """Compare two differences to the same original; empty if they are equal, else what is wrong with ``right``."""
    if left and not right:
        return "the graph is unchanged"
    if sorted(left.nodes_removed) != sorted(right.nodes_removed):
        return _unlike("removed nodes", set(left.nodes_removed), set(right.nodes_removed))
    for (what, wanted), (_, found) in zip(
        _change_parts(left, directed=directed), _change_parts(right, directed=directed), strict=True
    ):
        if wanted.keys() != found.keys():
            return _unlike(what, set(wanted), set(found))
        for key, attributes in wanted.items():
            if bad := changed_attributes(attributes, found[key], tolerance):
                return f"{what}: {key} differs in {', '.join(sorted(bad))}"
    return ""


def _change_parts(changes: Changes, *, directed: bool) -> list[tuple[str, dict[Any, Attributes]]]:
    """Each class of changes by id, with the new values only: both sides have the same original."""
    changed = _by_ends(changes.edges_changed, directed=directed)
    return [
        ("nodes added", {n["id"]: n for n in changes.nodes_added}),
        ("nodes changed", {n: {k: new for k, (_, new) in d.items()} for n, d in changes.nodes_changed.items()}),
        ("edges added", _by_ends(changes.edges_added, directed=directed)),
        # A difference may name the attributes of a removed edge or not.
        ("edges removed", {e: {} for e in _by_ends(changes.edges_removed, directed=directed)}),
        ("edges changed", {e: {k: new for k, (_, new) in d["changed"].items()} for e, d in changed.items()}),
    ]


def _unlike(what: str, wanted: set[Any], found: set[Any]) -> str:
    missing, surplus = sorted(map(str, wanted - found)), sorted(map(str, found - wanted))
    return f"{what}: {len(missing)} missing {missing[:3]}, {len(surplus)} too many {surplus[:3]}"
