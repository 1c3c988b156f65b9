"""A made-up graph with the schema of the private one: programs fail on it as they would on data, and nothing leaks.

Everything in it comes from the schema, the placeholders of the question and the texts of the masked program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

import networkx as nx

from nl2net.model import AttributeSchema, GraphSchema

_NODES = 12
_MOST_NODES = 40
_MOST_NAMES = 24
_TEXTS = re.compile(r"'([^'\\\n]{1,60})'|\"([^\"\\\n]{1,60})\"")
_STAND_INS: Mapping[str, str] = {
    "PREFIX": "10.{0}.0.0/16",
    "CIDR": "10.{0}.0.0/16",
    "ADDRESS": "10.0.{0}.1",
    "IP": "10.0.{0}.1",
    "OCTETS": "10.{0}",
    "MAC": "02:00:00:00:00:0{0}",
    "NUMBER": "{0}",
    "DATE": "2024-01-0{0}",
}


def stand_ins(placeholders: Sequence[str]) -> dict[str, str]:
    """Made-up values for placeholders that a program parses; names of nodes and values stand for themselves.

    Examples
    --------
    >>> stand_ins(["NODE_1", "PREFIX_2"])
    {'PREFIX_2': '10.2.0.0/16'}
    """
    found = {}
    for name in placeholders:
        kind, _, number = name.rpartition("_")
        if kind in _STAND_INS and number.isdigit():
            found[name] = _STAND_INS[kind].format(int(number) % 10)
    return found


def texts_of(program: str, schema: GraphSchema) -> tuple[str, ...]:
    """Quoted texts of a program that are no words of the schema; found without parsing, for this runs unsealed."""
    words = {attribute.public_name for attribute in schema.attributes}
    words.update(schema.node_kinds, schema.edge_kinds, ("source", "target", "key", "id", "tables"))
    found = dict.fromkeys(single or double for single, double in _TEXTS.findall(program))
    return tuple(text for text in found if text not in words)[:_MOST_NAMES]


def made_up_graph(schema: GraphSchema, *, placeholders: Sequence[str] = (), texts: Sequence[str] = ()) -> Any:
    """Build the twin.

    Parameters
    ----------
    schema : GraphSchema
        What a model may know.
    placeholders : sequence of str
        Placeholders of the question; those of nodes become node names.
    texts : sequence of str
        Other texts of the program; they become node names too, and values of text attributes.

    Returns
    -------
    networkx graph
        Of the class of the schema, with about 12 nodes.

    Examples
    --------
    >>> from nl2net.model import GraphClass
    >>> schema = GraphSchema(GraphClass(directed=True, multi=False), nodes=900, edges=4000)
    >>> twin = made_up_graph(schema, placeholders=["NODE_1"])
    >>> len(twin), "NODE_1" in twin
    (12, True)
    """
    return _Maker(schema, tuple(placeholders), tuple(texts)).build()


class _Maker:
    def __init__(self, schema: GraphSchema, placeholders: tuple[str, ...], texts: tuple[str, ...]) -> None:
        self.schema = schema
        bound = stand_ins(placeholders)
        self.names = tuple(dict.fromkeys((*(p for p in placeholders if p not in bound), *texts)))[:_MOST_NAMES]
        self.words = tuple(dict.fromkeys((*texts, *placeholders, "alpha", "beta", "gamma")))
        kinds = {(True, True): nx.MultiDiGraph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph}
        self.graph: Any = kinds.get((schema.graph_class.directed, schema.graph_class.multi), nx.Graph)()

    def build(self) -> Any:
        self._nodes()
        self._edges()
        tables = {table.name: self._rows(table.columns) for table in self.schema.tables}
        if tables:
            self.graph.graph["tables"] = tables
        return self.graph

    def _nodes(self) -> None:
        kinds = list(self.schema.node_kinds) or [""]
        size = min(_MOST_NODES, max(_NODES, len(kinds) * 2, len(self.names) + 4))
        names = [*self.names, *(f"made-up-{place}" for place in range(size))][:size]
        for place, (name, kind) in enumerate(zip(names, cycle(kinds), strict=False)):
            self.graph.add_node(name, **self._attributes("node", kind, place))

    def _edges(self) -> None:
        place = 0
        for source, target, relation in islice(self._pairs(), 400):
            self.graph.add_edge(source, target, **self._attributes("edge", relation, place))
            place += 1
        names = list(self.graph)
        if self.schema.parallel_pairs and self.schema.graph_class.multi:
            self.graph.add_edge(names[0], names[1], **self._attributes("edge", self._first_relation(), place))
        if self.schema.self_loops:
            self.graph.add_edge(names[-1], names[-1], **self._attributes("edge", self._first_relation(), place))

    def _first_relation(self) -> str:
        return next(iter(self.schema.edge_kinds), "")

    def _pairs(self) -> Iterator[tuple[str, str, str]]:
        """Node pairs with the relation between them: by the relations of the schema, else a ring with chords."""
        if self.schema.relations:
            kind = self._kind_attribute("node")
            for relation in self.schema.relations:
                sources = [n for n, data in self.graph.nodes(data=True) if data.get(kind) == relation.source_kind]
                targets = [n for n, data in self.graph.nodes(data=True) if data.get(kind) == relation.target_kind]
                for place, target in enumerate(targets):
                    if sources and sources[place % len(sources)] != target:
                        yield sources[place % len(sources)], target, relation.relation
            return
        names = list(self.graph)
        relations = cycle(self.schema.edge_kinds or [""])
        reach = len(names) - (1 if self.schema.isolated else 0)
        for place in range(reach):
            yield names[place], names[(place + 1) % reach], next(relations)
            if place % 3 == 0 and reach > 4:
                yield names[place], names[(place + reach // 2) % reach], next(relations)

    def _kind_attribute(self, owner: str) -> str:
        kinds = self.schema.node_kinds if owner == "node" else self.schema.edge_kinds
        if not kinds:
            return ""
        roles = [a.public_name for a in self.schema.attributes_of(owner) if a.role == "kind"]
        return roles[0] if roles else "kind"

    def _attributes(self, owner: str, kind: str, place: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for attribute in self.schema.attributes_of(owner):
            count, total = attribute.count, attribute.total
            if attribute.per_kind and kind:
                count, total = attribute.per_kind.get(kind, (0, 1))
            # An attribute with gaps is absent on the second of every three.
            if count and (count >= total or place % 3 != 1):
                found[attribute.public_name] = self._value(attribute, place)
        name = self._kind_attribute(owner)
        if kind and name:
            found[name] = kind
        return found

    def _value(self, attribute: AttributeSchema, place: int) -> Any:
        if attribute.values:
            return attribute.values[place % len(attribute.values)]
        if attribute.keys:
            inner = attribute.type.rpartition(" to ")[2]
            return {key: self._plain(inner, "", place) for key in attribute.keys}
        return self._plain(attribute.type, attribute.shape, place)

    def _plain(self, kind: str, shape: str, place: int) -> Any:
        if kind.startswith("list of "):
            return [self._plain(kind.removeprefix("list of "), shape, place + step) for step in (0, 1)]
        if kind.startswith("mapping of "):
            key, _, value = kind.removeprefix("mapping of ").partition(" to ")
            return {self._plain(key, "", place): self._plain(value or "text", "", place)}
        simple = {"integer": place + 1, "number": 1.5 + place, "boolean": place % 2 == 0}
        if kind in simple:
            return simple[kind]
        if kind == "date":
            return f"2024-01-{1 + place % 28:02d}T00:00:00"
        if kind == "mixed" and place % 2:
            return place
        return self._text(shape.lower(), place)

    def _text(self, shape: str, place: int) -> str:
        octet = place % 250 + 1
        if "cidr" in shape or "prefix" in shape:
            return f"2001:db8:{octet:x}::/48" if "6" in shape else f"10.{octet}.0.0/24"
        if "ipv6" in shape:
            return f"2001:db8::{octet:x}"
        if "ip" in shape.split("v")[0] and "v4" in shape:
            return f"10.0.0.{octet}"
        if "mac" in shape:
            return f"02:00:00:00:00:{octet:02x}"
        if "." in shape:
            return ".".join(self.words[(place + step) % len(self.words)] for step in range(shape.count(".") + 1))
        return self.words[place % len(self.words)]

    def _rows(self, columns: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
        names = list(self.graph)
        rows = []
        for place in range(3):
            row = {name: self._plain(kind, "", place) for name, kind in columns}
            ends = {"source": names[place], "target": names[place + 1], "node": names[place]}
            rows.append(row | {name: end for name, end in ends.items() if name in row})
        return rows
