"""Changes that a program proposes: read from a hostile child, checked against the schema, applied to a copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import networkx as nx

from nl2net.errors import UserError
from nl2net.model import Changes, Finding, GraphSchema, Severity
from nl2net.sandbox.channel.classify import plain
from nl2net.sandbox.channel.decode import BadFrame

_FIELDS = ("nodes_added", "nodes_changed", "nodes_removed", "edges_added", "edges_changed", "edges_removed")
_MOST_CHANGES = 200_000
_MOST_FINDINGS = 50
_END_NAMES = ("source", "target", "key")

_TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "text": (str,),
    "date": (str,),
}


def read_changes(found: Any, graph: Any) -> Changes:
    """Build the changes from what a child sent, with the old values of the parent's own graph.

    Raises
    ------
    BadFrame
        A shape that no honest child sends, an id that does not exist, or one that exists already.
    """
    if type(found) is not dict or set(found) != set(_FIELDS):
        raise BadFrame("malformed changes")
    if any(type(found[name]) is not list or len(found[name]) > _MOST_CHANGES for name in _FIELDS):
        raise BadFrame("too many changes")
    changed = {
        node: _difference(graph.nodes[node], data) for node, data in _nodes(found["nodes_changed"], graph, old=True)
    }
    removed = tuple(_known_node(node, graph) for node in found["nodes_removed"])
    added = tuple({"id": node, **plain(data)} for node, data in _nodes(found["nodes_added"], graph, old=False))
    ends = set(graph) | {node["id"] for node in added}
    return Changes(
        nodes_added=added,
        nodes_removed=removed,
        nodes_changed={node: parts for node, parts in changed.items() if parts},
        edges_added=tuple(
            {**_edge(row[:-1], graph, ends), **_attributes(row[-1])} for row in _rows(found["edges_added"], graph)
        ),
        edges_removed=tuple(_known_edge(row, graph) for row in found["edges_removed"]),
        edges_changed=tuple(_changed_edges(found["edges_changed"], graph)),
    )


def _attributes(data: Any) -> dict[str, Any]:
    if type(data) is not dict:
        raise BadFrame("malformed attributes")
    shown: dict[str, Any] = plain(data)
    return {f"{name}_" if name in _END_NAMES else name: value for name, value in shown.items()}


def _nodes(rows: list[Any], graph: Any, *, old: bool) -> Iterator[tuple[Any, dict[Any, Any]]]:
    for row in rows:
        if type(row) is not list or len(row) != 2 or type(row[1]) is not dict:
            raise BadFrame("a malformed node")
        if old:
            _known_node(row[0], graph)
        elif type(row[0]) not in (str, int, float, tuple) or row[0] in graph:
            raise BadFrame("a new node with the id of an old one")
        yield row[0], row[1]


def _known_node(node: Any, graph: Any) -> Any:
    try:
        known = node in graph
    except TypeError:
        known = False
    if not known:
        raise BadFrame("a node that does not exist")
    return node


def _rows(rows: list[Any], graph: Any) -> Iterator[list[Any]]:
    width = 4 if graph.is_multigraph() else 3
    for row in rows:
        if type(row) is not list or len(row) != width:
            raise BadFrame("a malformed edge")
        yield row


def _edge(row: Sequence[Any], graph: Any, ends: set[Any]) -> dict[str, Any]:
    try:
        known = row[0] in ends and row[1] in ends
    except TypeError:
        known = False
    if not known:
        raise BadFrame("an edge to a node that does not exist")
    return dict(zip(_END_NAMES, row, strict=False))


def _known_edge(row: Any, graph: Any) -> dict[str, Any]:
    width = 3 if graph.is_multigraph() else 2
    try:
        known = type(row) is list and len(row) == width and graph.has_edge(*row)
    except TypeError:
        known = False
    if not known:
        raise BadFrame("an edge that does not exist")
    return dict(zip(_END_NAMES, row, strict=False))


def _changed_edges(rows: list[Any], graph: Any) -> Iterator[dict[str, Any]]:
    for row in _rows(rows, graph):
        edge = _known_edge(row[:-1], graph)
        if type(row[-1]) is not dict:
            raise BadFrame("malformed attributes")
        parts = _difference(graph.edges[tuple(row[:-1])], row[-1])
        if parts:
            yield {**edge, "changed": parts}


def _difference(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> dict[str, list[Any]]:
    from nl2net.sandbox.process.baseline import canonical_text

    parts = {}
    for name in dict.fromkeys((*old, *new)):
        if name in old and name in new and canonical_text(old[name]) == canonical_text(new[name]):
            continue
        parts[str(name)] = [plain(old.get(name)), plain(new.get(name))]
    return parts


def check_changes(changes: Changes, schema: GraphSchema, graph: Any) -> tuple[Finding, ...]:
    """Compare changes with the schema and the invariants of the network.

    Parameters
    ----------
    changes : Changes
        From `read_changes`.
    schema : GraphSchema
        Schema of the unchanged graph.
    graph : networkx graph
        The unchanged graph.

    Returns
    -------
    tuple of Finding
        ``REFUSE`` for what cannot be applied (unknown ids), ``CAVEAT`` for what should be looked at: attributes that
        the schema does not know, values of another type, new nodes without an attribute that all others have, and
        nodes that lose their only container.
    """
    unknown = tuple(_check_ids(changes, graph))
    if unknown:
        return unknown[:_MOST_FINDINGS]
    findings = (*_check_attributes(changes, schema), *_check_containment(changes, schema, graph))
    return findings[:_MOST_FINDINGS]


def _finding(rule: str, message: str, severity: Severity = Severity.CAVEAT) -> Finding:
    return Finding(rule, message, severity)


def _check_ids(changes: Changes, graph: Any) -> Iterator[Finding]:
    for node in (*changes.nodes_removed, *changes.nodes_changed):
        if node not in graph:
            yield _finding("unknown-node", f"node {node!r} does not exist", Severity.REFUSE)
    seen: set[Any] = set()
    for row in changes.nodes_added:
        if row["id"] in graph or row["id"] in seen:
            yield _finding("duplicate-node", f"node {row['id']!r} exists already", Severity.REFUSE)
        seen.add(row["id"])
    for row in (*changes.edges_removed, *changes.edges_changed):
        if not graph.has_edge(*_ends(row)):
            yield _finding("unknown-edge", f"there is no edge {row['source']!r} - {row['target']!r}", Severity.REFUSE)
    gone = set(changes.nodes_removed)
    for row in changes.edges_added:
        for end in (row["source"], row["target"]):
            if end in gone or (end not in graph and end not in seen):
                yield _finding("unknown-node", f"a new edge ends at {end!r}, which is not there", Severity.REFUSE)


def _ends(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _END_NAMES if name in row)


def _check_attributes(changes: Changes, schema: GraphSchema) -> Iterator[Finding]:
    known = {owner: {a.name: a.type for a in schema.attributes_of(owner)} for owner in ("node", "edge")}
    for row in changes.nodes_added:
        own = {name: value for name, value in row.items() if name != "id"}
        yield from _check_values("node", own, known["node"])
        missing = [a.name for a in schema.attributes_of("node") if a.total and a.count == a.total and a.name not in own]
        if missing:
            yield _finding("missing-attribute", f"new node {row['id']!r} lacks {', '.join(missing)}")
    for row in changes.edges_added:
        yield from _check_values("edge", {n: v for n, v in row.items() if n not in _END_NAMES}, known["edge"])
    for parts in changes.nodes_changed.values():
        yield from _check_values("node", {name: new for name, (_, new) in parts.items()}, known["node"])
    for row in changes.edges_changed:
        yield from _check_values("edge", {name: new for name, (_, new) in row["changed"].items()}, known["edge"])


def _check_values(owner: str, values: Mapping[str, Any], known: Mapping[str, str]) -> Iterator[Finding]:
    for name, value in values.items():
        if name not in known:
            yield _finding("unknown-attribute", f"{name!r} is no {owner} attribute of this network")
        elif value is not None and known[name] in _TYPES and type(value) not in _TYPES[known[name]]:
            yield _finding(
                "attribute-type",
                f"{owner} attribute {name!r} is {known[name]}, the new value is {type(value).__name__}",
            )


def _check_containment(changes: Changes, schema: GraphSchema, graph: Any) -> Iterator[Finding]:
    """A node that had a container, by a relation without shared children, must keep one."""
    tree_like = {r.relation for r in schema.relations if not r.several_parents and r.acyclic}
    role = next((a.name for a in schema.attributes_of("edge") if a.role == "kind"), "kind")
    if not tree_like or not graph.is_directed():
        return
    after = apply_changes(graph, changes)
    touched = {row["target"] for row in changes.edges_removed}
    touched.update(target for node in changes.nodes_removed for target in graph.successors(node))
    for node in touched:
        had = any(data.get(role) in tree_like for _, _, data in graph.in_edges(node, data=True))
        if had and node in after and not any(d.get(role) in tree_like for _, _, d in after.in_edges(node, data=True)):
            yield _finding("orphan", f"{node!r} would be left without its container")


def apply_changes(graph: Any, changes: Changes) -> Any:
    """A changed copy of a graph; the graph itself stays as it is.

    Raises
    ------
    UserError
        The changes do not fit this graph, because it is not the one they were made for.

    Examples
    --------
    >>> import networkx as nx
    >>> before = nx.Graph([("a", "b")])
    >>> after = apply_changes(before, Changes(nodes_removed=("b",), nodes_added=({"id": "c", "site": "x"},)))
    >>> sorted(after), sorted(before)
    (['a', 'c'], ['a', 'b'])
    """
    after = graph.copy()
    try:
        after.remove_edges_from([_present(after, row) for row in changes.edges_removed if not _gone(row, changes)])
        for node in changes.nodes_removed:
            after.remove_node(node)
        for row in changes.nodes_added:
            after.add_node(row["id"], **{name: value for name, value in row.items() if name != "id"})
        for node, parts in changes.nodes_changed.items():
            _update(after.nodes[node], parts)
        for row in changes.edges_changed:
            _update(after.edges[_ends(row)], row["changed"])
        for row in changes.edges_added:
            after.add_edge(*_ends(row), **{name: value for name, value in row.items() if name not in _END_NAMES})
    except (KeyError, nx.NetworkXException) as error:
        raise UserError(f"the changes do not fit this network: {error}", hint="Ask the question again.") from None
    return after


def _gone(row: Mapping[str, Any], changes: Changes) -> bool:
    removed = changes.nodes_removed
    return bool(removed) and (row["source"] in removed or row["target"] in removed)


def _present(graph: Any, row: Mapping[str, Any]) -> tuple[Any, ...]:
    ends = _ends(row)
    if not graph.has_edge(*ends):
        raise KeyError(ends)
    return ends


def _update(data: dict[Any, Any], parts: Mapping[str, Sequence[Any]]) -> None:
    for name, (_, new) in parts.items():
        if new is None:
            data.pop(name, None)
        else:
            data[name] = new
