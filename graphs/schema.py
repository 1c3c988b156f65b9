"""Derives the schema, the only description of a graph that a model ever sees. No data value enters it unasked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from nl2net.graphs.columns import MISSING, GraphColumns, present
from nl2net.graphs.loaded import SchemaOptions
from nl2net.graphs.names import nesting_notes
from nl2net.graphs.relations import derive_relations
from nl2net.graphs.roles import assign_roles, words
from nl2net.graphs.shapes import is_address_like, looks_numeric, text_shape
from nl2net.graphs.sharing import shared_range, shared_values
from nl2net.model import AttributeSchema, GraphClass, GraphSchema, TableSchema

_DEFAULT_OPTIONS = SchemaOptions()
_SCALARS: dict[type, str] = {int: "integer", float: "number", bool: "boolean", str: "text"}
_NO_UNIT_ROLES = {"coordinate", "count", "cost", "time", "kind", "name"}
_DIRECTION_PAIRS = (("source", "target"), ("src", "dst"), ("from", "to"), ("sender", "receiver"), ("client", "server"))


def value_type(values: list[Any]) -> str:
    """Type of a column without its missing values.

    Examples
    --------
    >>> value_type([1, 2]), value_type([1, 2.5]), value_type([["a"], ["b"]]), value_type([1, "a"])
    ('integer', 'number', 'list of text', 'mixed')
    """
    types = set(map(type, values))
    if types == {int, float}:
        return "number"
    if len(types) != 1:
        return "mixed"
    only = types.pop()
    if only is list:
        members = [item for value in values for item in value]
        return f"list of {value_type(members)}" if members else "list"
    if only is dict:
        members = [item for value in values for item in value.values()]
        return f"mapping of text to {value_type(members)}" if members else "mapping"
    return _SCALARS.get(only, "mixed")


def distinct_class(values: list[Any], total: int) -> str:
    """``"1"``, ``"2-10"``, ``"many"`` or ``"unique"``."""
    try:
        count = len(set(values))
    except TypeError:
        count = len(set(map(repr, values)))
    if count == 1:
        return "1"
    if count == len(values) and count > 2:
        return "unique"
    return "2-10" if count <= 10 else "many"


def _per_kind(values: list[Any], kinds: list[Any] | None) -> dict[str, tuple[int, int]]:
    if kinds is None:
        return {}
    totals = Counter(str(kind) for kind in kinds if kind is not MISSING)
    found = Counter(
        str(kind) for kind, value in zip(kinds, values, strict=True) if value is not MISSING and kind is not MISSING
    )
    return {kind: (count, totals[kind]) for kind, count in found.items()}


def _mapping_keys(values: list[Any], private: set[str]) -> tuple[str, ...]:
    """Keys of a mapping where all records have the same and none is a node id, a name or an address."""
    if set(map(type, values)) != {dict}:
        return ()
    first = tuple(values[0])
    if len(first) > 30 or any(value.keys() != values[0].keys() for value in values):
        return ()
    return () if any(key in private or is_address_like(key) for key in first) else first


def _unit(attribute: AttributeSchema, units: dict[str, str]) -> str:
    if attribute.name in units:
        return str(units[attribute.name])
    if attribute.type not in ("integer", "number"):
        return ""
    if attribute.role in _NO_UNIT_ROLES or (attribute.distinct == "1" and not attribute.role):
        return ""
    if {"id", "index", "idx", "vlan", "asn", "port"} & set(words(attribute.name)):
        return ""
    return "unknown"


def _attribute(name: str, owner: str, values: list[Any], kinds: list[Any] | None, private: set[str]) -> AttributeSchema:
    there = present(values)
    kind = value_type(there)
    shape = text_shape(list(dict.fromkeys(there))) if kind == "text" else ""
    if kind == "text" and shape in ("ISO date", "ISO time"):
        kind = "date"
    return AttributeSchema(
        name=name,
        public_name=name,
        owner=owner,
        type=kind,
        count=len(there),
        total=len(values),
        distinct=distinct_class(there, len(values)),
        per_kind=_per_kind(values, kinds if name != "kind" else None),
        shape=shape,
        keys=_mapping_keys(there, private) if name != "ports" else (),
    )


_IDENTIFIERS = {"id", "ids", "uuid", "guid", "serial", "asn", "vlan", "vni", "key", "code", "phone", "zip", "version"}


def holds_numbers(attribute: AttributeSchema, values: list[Any]) -> bool:
    """Whether a text attribute holds numbers that a program would calculate with: no addresses, no identifiers."""
    if attribute.type != "text" or attribute.shape in ("IPv4", "IPv6", "CIDR", "MAC"):
        return False
    return not _IDENTIFIERS & set(words(attribute.name)) and looks_numeric(values)


def _public_names(attributes: tuple[AttributeSchema, ...], private: set[str]) -> tuple[AttributeSchema, ...]:
    """Names that are themselves data (a column per customer) become `attr_1`, `attr_2`, ..."""
    number = 0
    taken = {attribute.name for attribute in attributes}
    result = []
    for attribute in attributes:
        if attribute.name in private or is_address_like(attribute.name):
            number += 1
            while f"attr_{number}" in taken:
                number += 1
            attribute = replace(attribute, public_name=f"attr_{number}")
        result.append(attribute)
    return tuple(result)


def derive_schema(view: GraphColumns, options: SchemaOptions = _DEFAULT_OPTIONS) -> GraphSchema:
    """Describe a graph without its values.

    Parameters
    ----------
    view : GraphColumns
        The graph as columns.
    options : SchemaOptions
        What the user allows to be said beyond names, types and counts.

    Returns
    -------
    GraphSchema

    Raises
    ------
    UserError
        ``options`` asks to share values that identify nodes, or an attribute that the graph lacks.
    """
    graph = view.graph
    names = present(view.nodes.get("name", []))
    private = {*view.ids, *(name for name in names if isinstance(name, str))}
    attributes: list[AttributeSchema] = []
    for owner in ("node", "edge"):
        columns = view.columns(owner)
        kinds = columns.get("kind")
        attributes += [_attribute(name, owner, values, kinds, private) for name, values in columns.items()]
    with_roles = _public_names(assign_roles(attributes), private)
    units = graph.graph.get("units", {})
    with_units = tuple(replace(attribute, unit=_unit(attribute, units)) for attribute in with_roles)
    final = tuple(
        replace(
            attribute,
            values=shared_values(attribute, view, options),
            value_range=shared_range(attribute, view, options),
        )
        for attribute in with_units
    )
    return GraphSchema(
        graph_class=GraphClass(directed=graph.is_directed(), multi=graph.is_multigraph()),
        nodes=len(view.ids),
        edges=len(view.sources),
        node_kinds=dict(Counter(map(str, present(view.nodes.get("kind", []))))),
        edge_kinds=dict(Counter(map(str, present(view.edges.get("kind", []))))),
        attributes=final,
        relations=derive_relations(view),
        tables=_tables(graph.graph.get("tables", {}), private),
        id_shape=_id_shape(view),
        components=len(view.component_sizes),
        isolated=int((view.degrees == 0).sum()),
        self_loops=view.self_loops,
        parallel_pairs=len(view.parallel),
        notes=_notes(view, final),
    )


def _id_shape(view: GraphColumns) -> str:
    kinds, names = view.nodes.get("kind"), view.nodes.get("name")
    if kinds is not None and names is not None:
        typed = all(node == f"{kind}:{name}" for node, kind, name in zip(view.ids, kinds, names, strict=True))
        if typed:
            return "KIND:name"
    if names is not None and all(node.isdigit() for node in view.ids):
        return "<digits>"
    return text_shape(view.ids)


def _tables(tables: dict[str, list[dict[str, Any]]], private: set[str]) -> tuple[TableSchema, ...]:
    found = []
    for name, rows in tables.items():
        columns = dict.fromkeys(column for row in rows for column in row if column not in private)
        types = tuple(
            (column, value_type([row[column] for row in rows if row.get(column) is not None])) for column in columns
        )
        found.append(TableSchema(name, types, len(rows)))
    return tuple(found)


def direction_pair(columns: dict[str, list[Any]]) -> tuple[str, str] | None:
    """Edge attributes that name a sender and a receiver, such as ``source_ip`` and ``target_ip``."""
    for name in columns:
        parts = words(name)
        for first, second in _DIRECTION_PAIRS:
            if first not in parts or name == "ports":
                continue
            twin = [second if part == first else part for part in parts]
            for other in columns:
                if words(other) == twin:
                    return name, other
    return None


def _notes(view: GraphColumns, attributes: tuple[AttributeSchema, ...]) -> tuple[str, ...]:
    public = {(a.owner, a.name): a.public_name for a in attributes}
    notes = list(view.graph.graph.get("notes", ()))
    pair = None if view.graph.is_directed() else direction_pair(view.edges)
    if pair is not None:
        a, b = (public["edge", name] for name in pair)
        notes.append(
            f"the graph is undirected; the direction of a link is only in its attributes {a} and {b}, "
            "not in the order of its ends"
        )
    for attribute in attributes:
        if attribute.type == "text":
            values = present(view.columns(attribute.owner)[attribute.name])
            if holds_numbers(attribute, values):
                notes.append(f"{attribute.owner} attribute {attribute.public_name} is text that holds numbers")
        if (
            attribute.distinct == "1"
            and attribute.type in ("integer", "number")
            and attribute.count > 1
            and attribute.role
        ):
            notes.append(f"{attribute.owner} attribute {attribute.public_name} has one value everywhere")
    if "ports" in view.edges:
        notes.append("edge attribute ports maps a node id to the interface name at that end")
    notes.extend(nesting_notes(view))
    return tuple(notes)
