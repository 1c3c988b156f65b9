"""GraphML, and the vocabulary of the Internet Topology Zoo on top of it.

References
----------
.. [1] U. Brandes et al., GraphML specification, http://graphml.graphdrawing.org/specification.html
.. [2] S. Knight et al., "The Internet Topology Zoo", IEEE JSAC 29(9), 2011.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from nl2net.graphs.draft import Draft, check_ids
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.readers.zoo import apply_zoo, is_zoo
from nl2net.graphs.source import Source
from nl2net.graphs.xml_guard import Element, parse_xml, root_tag

_TYPES = ("boolean", "int", "integer", "long", "float", "double", "string", "json")


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    type: str
    owner: str
    default: str | None


def _parse_value(text: str, key: _Key, source: Source, line: int) -> Any:
    plain = text.strip()
    if not plain:
        return None
    try:
        if key.type in ("int", "integer", "long"):
            return int(plain)
        if key.type in ("float", "double"):
            return float(plain)
        if key.type == "json":
            return json.loads(plain)
    except (ValueError, RecursionError):
        raise source.error(f"{plain[:40]!r} is no {key.type}", line=line, field=key.name) from None
    if key.type == "boolean":
        if plain.lower() not in ("true", "false", "0", "1"):
            raise source.error(f"{plain[:40]!r} is no boolean", line=line, field=key.name)
        return plain.lower() in ("true", "1")
    return text


class _GraphmlFile:
    """Collects nodes and links while the file streams by."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.keys: dict[str, _Key] = {}
        self.nodes: list[tuple[str, dict[str, Any]]] = []
        self.edges: list[tuple[Element, dict[str, Any]]] = []
        self.hyperedges: list[Element] = []
        self.ports = 0
        self.graphs = 0

    def take(self, element: Element, depth: int) -> bool:
        handler = getattr(self, f"_take_{element.tag}", None)
        return bool(handler is not None and handler(element, depth))

    def _take_key(self, element: Element, _: int) -> bool:
        attributes = element.attributes
        kind = attributes.get("type") if "attr.type" not in attributes else attributes["attr.type"]
        name = attributes.get("attr.name", attributes.get("id", ""))
        declared = (kind or "string").lower()
        if attributes.get("nl2net") == "json":
            declared = "json"
        if declared not in _TYPES:
            raise self.source.error(
                f"unknown attr.type {kind!r}", line=element.line, field=name, hint=f"Known types: {', '.join(_TYPES)}."
            )
        default = element.child("default")
        self.keys[attributes.get("id", name)] = _Key(
            name, declared, attributes.get("for", "all"), None if default is None else default.text
        )
        return True

    def values(self, element: Element, owner: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in self.keys.values():
            if key.default is not None and key.owner in (owner, "all"):
                found[key.name] = _parse_value(key.default, key, self.source, element.line)
        for data in element.all("data"):
            name = data.attributes.get("key", "")
            declared = self.keys.get(name)
            if declared is None:
                raise self.source.error(f"data for the undeclared key {name!r}", line=data.line, field=owner)
            found[declared.name] = _parse_value(data.text, declared, self.source, data.line)
        return {name: value for name, value in found.items() if value is not None}

    def _take_node(self, element: Element, _: int) -> bool:
        node = element.attributes.get("id")
        if node is None:
            raise self.source.error("a node without id", line=element.line, field="node")
        self.ports += sum(1 for _ in element.all("port"))
        self.nodes.append((node, self.values(element, "node")))
        return True

    def _take_edge(self, element: Element, _: int) -> bool:
        for end in ("source", "target"):
            if end not in element.attributes:
                raise self.source.error(f"an edge without {end}", line=element.line, field="edge")
        values = self.values(element, "edge")
        element.children = []
        self.edges.append((element, values))
        return True

    def _take_hyperedge(self, element: Element, _: int) -> bool:
        self.hyperedges.append(element)
        return True

    def _take_graph(self, element: Element, depth: int) -> bool:
        self.graphs += depth == 1
        return False


def read_graphml(source: Source, options: ReadOptions) -> Draft:
    """Read a GraphML file; Topology Zoo files are recognised by their graph attributes."""
    file = _GraphmlFile(source)
    root = parse_xml(source, file.take)
    if root.tag != "graphml":
        raise source.error(f"the root element is {root.tag!r}, not 'graphml'")
    graph = root.child("graph")
    if graph is None:
        raise source.error("no graph element", hint="The file may use another namespace or be truncated.")
    draft = Draft()
    if file.graphs > 1:
        draft.find("skipped", file.graphs - 1, "the file holds several graphs; they were read as one")
    draft.graph_attributes.update(file.values(graph, "graph"))
    tables = draft.graph_attributes.pop("tables", None)
    if isinstance(tables, dict):
        draft.tables.update(tables)
    units = draft.graph_attributes.pop("units", None)
    if isinstance(units, dict):
        draft.units.update(units)
    check_ids([node for node, _ in file.nodes], source)
    for node, values in file.nodes:
        draft.add_node(node, values)
    _add_edges(file, graph.attributes.get("edgedefault", "undirected"), draft)
    _add_hyperedges(file, draft)
    if file.ports:
        draft.find("skipped", file.ports, "port declarations on nodes; ports of links are kept", severity="info")
    draft.counts = {"nodes": len(file.nodes), "edges": len(file.edges), "hyperedges": len(file.hyperedges)}
    if is_zoo(draft) or options.format == "topology-zoo":
        apply_zoo(draft)
    return draft


def _add_edges(file: _GraphmlFile, default: str, draft: Draft) -> None:
    flags = [
        {"true": True, "false": False}.get(element.attributes.get("directed", ""), default == "directed")
        for element, _ in file.edges
    ]
    draft.directed = any(flags) if flags else default == "directed"
    both_ways = 0
    for (element, values), directed in zip(file.edges, flags, strict=True):
        source, target = element.attributes["source"], element.attributes["target"]
        ports = (element.attributes.get("sourceport"), element.attributes.get("targetport"))
        draft.add_edge(source, target, values, ports=ports)
        if draft.directed and not directed:
            both_ways += 1
            draft.add_edge(target, source, dict(values), ports=(ports[1], ports[0]))
    if both_ways:
        draft.find("direction", both_ways, "undirected links in a directed graph are kept as two arcs each")


def _add_hyperedges(file: _GraphmlFile, draft: Draft) -> None:
    for number, element in enumerate(file.hyperedges, start=1):
        ends = [end.attributes.get("node", "") for end in element.all("endpoint")]
        ports = [end.attributes.get("port") for end in element.all("endpoint")]
        values = file.values(element, "hyperedge")
        if len(ends) == 2:
            draft.add_edge(ends[0], ends[1], values, ports=(ports[0], ports[1]))
        elif len(ends) < 2:
            draft.find("stub", 1, "a hyperedge with fewer than two ends was left out", examples=ends)
            draft.skip("hyperedge with fewer than two ends")
        else:
            segment = f"segment:{element.attributes.get('id', number)}"
            draft.add_node(segment, {**values, "kind": "segment"})
            for end, port in zip(ends, ports, strict=True):
                draft.add_edge(end, segment, ports=(port, None))


READERS = (
    Reader("graphml", lambda source: root_tag(source) == "graphml", read_graphml, "GraphML (XML)"),
    Reader("topology-zoo", lambda source: False, read_graphml, "GraphML with the vocabulary of the Topology Zoo"),
)
