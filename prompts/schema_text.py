"""The schema as text: the only description of a private graph that a model ever sees.

``nl2net graph schema`` prints exactly these bytes. The text holds no value of the data except those that the user
shared, and its length does not depend on the size of the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from nl2net.model import AttributeSchema, GraphSchema, RelationSchema

# A token of a typical model vocabulary is about 3.6 characters of such text; the estimate only steers compaction.
_CHARS_PER_TOKEN = 3.6
_MINOR_NOTE = re.compile(r"is text that holds numbers|has one value everywhere|^over \S+, the name of")
_COARSE = ((1.0, "all"), (0.5, "most"), (0.1, "some"), (0.0, "few"))

# Words that people use for the roles of attributes; compaction keeps attributes that the question asks for.
ROLE_WORDS: dict[str, tuple[str, ...]] = {
    "capacity": ("capacity", "bandwidth", "speed", "gbps", "mbps", "bit", "throughput", "rate", "10g", "fast"),
    "traffic": ("traffic", "bytes", "packets", "volume", "load", "talk", "send", "sent", "flow", "transfer", "data"),
    "distance": ("distance", "length", "km", "long", "far", "near", "fibre", "fiber", "kilometre", "meter"),
    "cost": ("cost", "price", "expensive", "cheap", "pay", "bill", "eur", "usd"),
    "latency": ("latency", "delay", "rtt", "ms", "slow"),
    "address": ("address", "ip", "subnet", "prefix", "/16", "/24", "octet"),
    "prefix": ("prefix", "subnet", "cidr", "network", "/16", "/24", "/28"),
    "site": ("site", "location", "city", "country", "region", "place", "where"),
    "coordinate": ("coordinate", "latitude", "longitude", "north", "south", "east", "west", "map"),
    "time": ("time", "when", "date", "hour", "last", "first", "since"),
    "kind": ("kind", "type", "role"),
    "name": ("name", "called"),
}


def render_schema(
    schema: GraphSchema, *, question: str = "", budget_tokens: int | None = None, coarse: bool = False
) -> str:
    """Render a schema as the text that is put into prompts.

    Parameters
    ----------
    schema : GraphSchema
        Derived from the data by ``nl2net.graphs``.
    question : str
        Masked question; only used to choose which attributes a tight budget keeps.
    budget_tokens : int, optional
        Compact the text until it is about this long; by default nothing is left out.
    coarse : bool
        Say "most" instead of "on 39 of 61".

    Returns
    -------
    str
        Several lines, without a final newline.

    Examples
    --------
    >>> from nl2net.model import GraphClass
    >>> print(render_schema(GraphSchema(GraphClass(directed=False, multi=False), nodes=3, edges=2)))
    Graph: networkx Graph, undirected, no parallel links, connected.
    Node ids are text.
    Nodes have no attributes.
    Edges have no attributes.
    """
    full = _render(schema, schema.attributes, (), coarse=coarse)
    if budget_tokens is None:
        return full
    words = _words(question)
    for text in _compactions(schema, words, full, coarse=coarse):
        if len(text) <= budget_tokens * _CHARS_PER_TOKEN:
            return text
    return text


def _compactions(schema: GraphSchema, words: frozenset[str], full: str, *, coarse: bool) -> Iterator[str]:
    """Shorter and shorter texts: first without remarks that few questions need, then with fewer attributes."""
    yield full
    schema = replace(schema, notes=tuple(note for note in schema.notes if not _MINOR_NOTE.search(note)))
    yield _render(schema, schema.attributes, (), coarse=coarse)
    ranked = sorted(schema.attributes, key=lambda a: -_score(a, words))
    useful = [a for a in ranked if a.count and (a.distinct != "1" or _score(a, words) >= 4 or a.role)]
    for keep in range(len(useful), -1, -1):
        kept = set(map(id, useful[:keep]))
        shown = tuple(a for a in schema.attributes if id(a) in kept)
        rest = tuple(a for a in schema.attributes if id(a) not in kept)
        yield _render(schema, shown, rest, coarse=coarse)


def _words(text: str) -> frozenset[str]:
    found = set(re.findall(r"[a-z0-9/]+", text.lower()))
    return frozenset(found | {word.rstrip("s") for word in found})


def _score(attribute: AttributeSchema, words: frozenset[str]) -> float:
    """How much an attribute matters for a question; id-like and kind attributes always rank high."""
    own = _words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", attribute.public_name).replace("_", " ").replace(".", " "))
    score = 4.0 * len(own & words)
    score += 3.0 * bool(words & set(ROLE_WORDS.get(attribute.role, ())))
    score += {"name": 2.5, "kind": 2.5}.get(attribute.role, 0.5 if attribute.role else 0.0)
    return score + attribute.count / max(attribute.total, 1) * 0.5


def _render(
    schema: GraphSchema, shown: Iterable[AttributeSchema], rest: tuple[AttributeSchema, ...], *, coarse: bool
) -> str:
    shown = tuple(shown)
    lines = [_class_line(schema), f"Node ids are text{_shape(schema.id_shape)}."]
    if schema.node_kinds:
        lines.append('Node kinds (graph.nodes[n]["kind"]): ' + ", ".join(sorted(schema.node_kinds)) + ".")
    if schema.edge_kinds:
        lines.append(f'Edge kinds ({_access(schema, "edge")}["kind"]): ' + ", ".join(sorted(schema.edge_kinds)) + ".")
    lines += [_relation_line(relation) for relation in schema.relations]
    for owner in ("node", "edge"):
        lines += _owner_lines(schema, owner, [a for a in shown if a.owner == owner], coarse=coarse)
    if rest:
        lines.append(_rest_line(rest))
    for table in schema.tables:
        columns = ", ".join(f"{name} ({kind})" for name, kind in table.columns)
        lines.append(f'Extra table graph.graph["tables"]["{table.name}"], a list of dicts: {columns}.')
    lines += list(schema.notes)
    return "\n".join(lines)


def _class_line(schema: GraphSchema) -> str:
    kind = schema.graph_class
    parts = [
        f"networkx {kind.name}",
        "directed" if kind.directed else "undirected",
        "parallel links possible" if kind.multi else "no parallel links",
        "connected" if schema.components <= 1 else "not connected (several components)",
    ]
    if schema.self_loops:
        parts.append("has self-loops")
    return "Graph: " + ", ".join(parts) + "."


def _shape(shape: str) -> str:
    return f", shape {shape}" if shape else ""


def _access(schema: GraphSchema, owner: str) -> str:
    if owner == "node":
        return "graph.nodes[n]"
    return "graph.edges[u, v, k]" if schema.graph_class.multi else "graph.edges[u, v]"


def _relation_line(relation: RelationSchema) -> str:
    facts = [f"each source has {relation.fan_out}"]
    if relation.several_parents:
        facts.append("a target may have several sources")
    arrow = f"{relation.source_kind} -{relation.relation}-> {relation.target_kind}"
    return f"Edge {arrow}: " + ", ".join(facts) + "."


def _owner_lines(schema: GraphSchema, owner: str, shown: list[AttributeSchema], *, coarse: bool) -> list[str]:
    title = "Node" if owner == "node" else "Edge"
    if not shown:
        return [] if schema.attributes_of(owner) else [f"{title}s have no attributes."]
    head = f'{title} attributes ({_access(schema, owner)}["x"]):'
    return [head, *(_attribute_line(attribute, coarse=coarse) for attribute in shown)]


def _attribute_line(attribute: AttributeSchema, *, coarse: bool) -> str:
    facts = [attribute.type + (f" of shape {attribute.shape}" if attribute.shape else "")]
    if attribute.unit == "unknown":
        facts.append("unit unknown")
    elif attribute.unit:
        facts.append(attribute.unit)
    if attribute.keys:
        facts.append("keys " + ", ".join(attribute.keys))
    if attribute.distinct == "1":
        facts.append("same value everywhere")
    elif attribute.distinct == "unique":
        facts.append("unique")
    facts.append(_coverage(attribute, coarse=coarse))
    if attribute.values:
        facts.append("values " + ", ".join(map(repr, attribute.values)))
    if attribute.value_range:
        facts.append("from {} to {}".format(*attribute.value_range))
    return f"- {attribute.public_name}: " + ", ".join(fact for fact in facts if fact)


def _coverage(attribute: AttributeSchema, *, coarse: bool) -> str:
    if attribute.per_kind and len(attribute.per_kind) <= 3:
        kinds = [
            kind if have == total else f"{kind} ({_share(have, total, coarse=coarse)})"
            for kind, (have, total) in sorted(attribute.per_kind.items())
        ]
        return "only on " + ", ".join(kinds)
    if attribute.count == attribute.total:
        return ""
    return "only on " + _share(attribute.count, attribute.total, coarse=coarse)


def _share(have: int, total: int, *, coarse: bool) -> str:
    if not coarse:
        return f"{have} of {total}"
    share = have / max(total, 1)
    return next(word for least, word in _COARSE if share >= least)


def _rest_line(rest: tuple[AttributeSchema, ...]) -> str:
    """Names of attributes without details; long runs of one prefix are folded."""
    groups: dict[str, list[AttributeSchema]] = {}
    for attribute in rest:
        prefix = re.split(r"[_.\d]", attribute.public_name, maxsplit=1)[0]
        groups.setdefault(f"{attribute.owner} {prefix}", []).append(attribute)
    parts = []
    for members in groups.values():
        if len(members) > 3:
            prefix = re.split(r"[_.\d]", members[0].public_name, maxsplit=1)[0]
            parts.append(f"{prefix}*: {len(members)} {members[0].type} {members[0].owner} attributes")
        else:
            parts += [f"{member.public_name} ({member.owner})" for member in members]
    return f"{len(rest)} further attributes without details here: " + ", ".join(parts[:40]) + "."
