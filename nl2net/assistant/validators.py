"""Checks on the typed value after a run. Each gives a caveat, or a problem that is worth a repair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from nl2net.model import AttributeSchema, Changes, GraphSchema, ResultType, TypedResult
from nl2net.sandbox.outcome import RunReport

# Asked type -> result types that satisfy it.
_FITS: dict[str, frozenset[ResultType]] = {
    "number": frozenset({ResultType.NUMBER, ResultType.TABLE, ResultType.LIST}),
    "boolean": frozenset(set(ResultType) - {ResultType.GRAPH}),
    "list": frozenset({ResultType.LIST, ResultType.TABLE, ResultType.TEXT, ResultType.NUMBER}),
    "table": frozenset({ResultType.TABLE, ResultType.LIST, ResultType.NUMBER}),
    "path": frozenset({ResultType.LIST, ResultType.TEXT, ResultType.TABLE, ResultType.NUMBER}),
    "graph": frozenset({ResultType.GRAPH}),
    "figure": frozenset({ResultType.FIGURE, ResultType.TABLE, ResultType.LIST}),
}


def wrong_shape(result: TypedResult | None, expected: str) -> str:
    """Why a value cannot be the asked one, in words that may be sent; ``""`` if it can.

    Examples
    --------
    >>> wrong_shape(TypedResult(ResultType.GRAPH, {}), "number")
    'the question asks for a number, the program returns a graph'
    """
    if result is None or not expected or result.type in _FITS.get(expected, frozenset(ResultType)):
        return ""
    return f"the question asks for a {expected}, the program returns a {result.type}"


def caveats(question: str, program: str, report: RunReport, schema: GraphSchema) -> Iterator[str]:
    """What a careful colleague would add to the answer."""
    result = report.result
    yield from report.notes
    if result is None:
        return
    used = _used(program, schema)
    yield from _coverage(used)
    yield from _units(question, used)
    yield from _ranges(question, result, schema)
    yield from _structure(program, schema)
    if result.truncated:
        yield f"only the first rows are shown ({result.rows_total} in all)"
    if _is_empty(result):
        yield "the answer is none: nothing in this graph meets the question"


def _used(program: str, schema: GraphSchema) -> list[AttributeSchema]:
    literals = set(re.findall(r"[\"']([^\"'\n]{1,80})[\"']", program)) | set(re.findall(r"\b[A-Za-z_]\w*\b", program))
    return [a for a in schema.attributes if a.public_name in literals and a.role not in {"kind"} and a.name != "name"]


def _coverage(used: list[AttributeSchema]) -> Iterator[str]:
    for attribute in used:
        per_kind = [have for have, total in attribute.per_kind.values() if have == total]
        if attribute.count < attribute.total and not per_kind:
            yield f"only {attribute.count} of {attribute.total} {attribute.owner}s have {attribute.public_name}"
        if attribute.distinct == "1" and attribute.type in {"integer", "number"}:
            yield f"{attribute.public_name} has the same value everywhere: ranking by it is a tie"


def _units(question: str, used: list[AttributeSchema]) -> Iterator[str]:
    asked = re.search(
        r"\b(?:[kmgt]i?b(?:it|yte)?s?|giga\w+|mega\w+|tera\w+|kilo\w+|gbps|mbps|km|miles?|ms)\b", question, re.I
    )
    for attribute in used:
        measured = attribute.type in {"integer", "number"} and attribute.role not in {"coordinate", ""}
        if attribute.unit != "unknown" or not measured:
            continue
        if asked:
            yield f"{attribute.public_name} has no unit in the data: {asked.group()!r} cannot be derived, plain values"
        else:
            yield f"the unit of {attribute.public_name} is not stated in the data"


def _ranges(question: str, result: TypedResult, schema: GraphSchema) -> Iterator[str]:
    if result.type is not ResultType.NUMBER or isinstance(result.data, dict):
        return
    value = result.data
    if re.search(r"\bhow many (?:nodes|hosts|devices|routers|switches)\b", question, re.I) and value > schema.nodes:
        yield f"the count {value} is above the number of nodes: please check"
    if re.search(r"\b(?:percent|percentage|share|fraction)\b", question, re.I):
        if not 0 <= value <= 100:
            yield f"a share should lie between 0 and 100, this is {value}"
        elif value <= 1:
            yield "a share between 0 and 1 (1 is all)"


def _structure(program: str, schema: GraphSchema) -> Iterator[str]:
    needs_whole = (
        r"\b(?:closeness_centrality|global_efficiency|average_shortest_path_length|diameter|eccentricity|center)\b"
    )
    if schema.components > 1 and re.search(needs_whole, program):
        yield f"the graph has {schema.components} components; distances exist only inside each"
    if schema.graph_class.multi and re.search(r"\.degree\b", program):
        yield "degree counts parallel links, not neighbours"
    if schema.graph_class.multi and "all_simple_paths" in program:
        yield "one path is counted per combination of parallel links"


def _is_empty(result: TypedResult) -> bool:
    data: Any = result.data
    if result.type is ResultType.TABLE:
        return not data["rows"]
    return result.type is ResultType.LIST and not data


def change_problems(changes: Changes, graph: Any) -> Iterator[str]:
    """Broken invariants of a proposed change: orphans, lost containment, missing attributes of new nodes.

    Parameters
    ----------
    changes : Changes
        Checked against the schema by the sandbox.
    graph : networkx graph
        The original.
    """
    touched = _edges_by_node(changes)
    for node in changes.nodes_added:
        required = _usual_attributes(graph, node.get("kind"))
        missing = sorted(required - node.keys())
        if missing:
            yield f"new node {node['id']} lacks {', '.join(missing)}, which every node of its kind has"
        if graph.number_of_edges() and node["id"] not in touched:
            yield f"new node {node['id']} has no link"
    removed = set(changes.nodes_removed)
    for gone in sorted(removed):
        for child in _children(graph, gone):
            if child not in removed and not _other_parents(graph, child, removed) and child not in touched:
                yield f"{child} would be left without the {graph.nodes[gone].get('kind', 'node')} that contained it"


def _edges_by_node(changes: Changes) -> set[str]:
    return {end for edge in changes.edges_added for end in (edge["source"], edge["target"])}


def _usual_attributes(graph: Any, kind: object) -> set[str]:
    rows = [set(d) for _, d in graph.nodes(data=True) if d.get("kind") == kind]
    return set.intersection(*rows) - {"name"} if rows and kind is not None else set()


def _children(graph: Any, node: str) -> Iterator[str]:
    if graph.is_directed() and node in graph:
        for _, child, data in graph.out_edges(node, data=True):
            if "CONTAINS" in str(data.get("kind", "")).upper():
                yield child


def _other_parents(graph: Any, child: str, removed: set[str]) -> bool:
    return any(
        parent not in removed and "CONTAINS" in str(data.get("kind", "")).upper()
        for parent, _, data in graph.in_edges(child, data=True)
    )
