"""The data-quality report, made at every load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from nl2net.graphs.columns import MISSING, GraphColumns, present
from nl2net.graphs.schema import direction_pair, holds_numbers
from nl2net.model import AttributeSchema, GraphSchema, QualityFinding

_SUSPICIOUS = {"bw", "bandwidth", "speed", "bytes", "byte", "capacity", "rate", "delay", "latency", "packets"}


def _finding(
    rule: str, severity: str, count: int, message: str, examples: Iterable[Any] = (), advice: str = ""
) -> QualityFinding:
    shown = []
    for example in examples:
        shown.append(str(example)[:80])
        if len(shown) == 5:
            break
    return QualityFinding(rule, severity, count, message, tuple(shown), advice)


def build_report(
    view: GraphColumns, schema: GraphSchema, from_reader: Iterable[QualityFinding]
) -> tuple[QualityFinding, ...]:
    """All findings on a loaded graph, those of its reader first.

    Parameters
    ----------
    view : GraphColumns
        The graph as columns.
    schema : GraphSchema
        Its schema.
    from_reader : iterable of QualityFinding
        What was noticed while reading.
    """
    rules = (_components, _names, _coverage, _parallel, _texts, _units, _constants, _direction, _hierarchy, _addresses)
    return (*from_reader, *(finding for rule in rules for finding in rule(view, schema)))


def _components(view: GraphColumns, schema: GraphSchema) -> Iterator[QualityFinding]:
    sizes = view.component_sizes
    shown = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
    severity = "info" if len(sizes) == 1 else "warning"
    advice = "" if len(sizes) == 1 else "Paths, diameter and closeness hold within one part only."
    yield _finding(
        "components",
        severity,
        len(sizes),
        f"connected component{'s' if len(sizes) > 1 else ''}, of size{'s' if len(sizes) > 1 else ''} {shown}",
        (),
        advice,
    )
    if schema.isolated:
        alone = (node for node, degree in zip(view.ids, view.degrees.tolist(), strict=True) if not degree)
        yield _finding("components", "warning", schema.isolated, "nodes without any link", alone)
    if schema.edge_kinds and len(schema.edge_kinds) > 1:
        for kind, count in schema.edge_kinds.items():
            yield _finding("components", "info", count, f"links of kind {kind}")


def _names(view: GraphColumns, _: GraphSchema) -> Iterator[QualityFinding]:
    names = Counter(value for value in present(view.nodes.get("name", [])) if isinstance(value, str))
    shared = [name for name, count in names.items() if count > 1]
    if shared:
        advice = "A question that uses such a name needs the kind or the id as well."
        yield _finding("duplicate-name", "warning", len(shared), "names belong to several nodes", shared, advice)


def _coverage(_: GraphColumns, schema: GraphSchema) -> Iterator[QualityFinding]:
    for attribute in schema.attributes:
        partial = {kind: pair for kind, pair in attribute.per_kind.items() if pair[0] < pair[1]}
        if attribute.per_kind and not partial:
            continue
        if attribute.count < attribute.total:
            where = f"{attribute.owner} attribute {attribute.name!r}"
            per_kind = "; ".join(f"{kind}: {n} of {m}" for kind, (n, m) in sorted(partial.items())[:5])
            detail = f" ({per_kind})" if per_kind else ""
            severity = "warning" if attribute.type in ("integer", "number") else "info"
            message = f"{where} is on {attribute.count} of {attribute.total} {attribute.owner}s{detail}"
            yield _finding("coverage", severity, attribute.total - attribute.count, message)


def _parallel(view: GraphColumns, schema: GraphSchema) -> Iterator[QualityFinding]:
    if view.parallel:
        pairs = sorted(view.parallel, key=lambda pair: -pair[2])
        shown = (f"{view.ids[u]} - {view.ids[v]} ({count})" for u, v, count in pairs)
        advice = "Counts of links and of neighbours differ; some algorithms do not take a multigraph."
        yield _finding("parallel", "warning", len(pairs), "pairs of nodes have more than one link", shown, advice)
    if schema.self_loops:
        loops = (u for u, v in zip(view.sources, view.targets, strict=True) if u == v)
        yield _finding("self-loop", "warning", schema.self_loops, "links from a node to itself", loops)


def _texts(view: GraphColumns, schema: GraphSchema) -> Iterator[QualityFinding]:
    for attribute in schema.attributes:
        values = present(view.columns(attribute.owner)[attribute.name])
        where = f"{attribute.owner} attribute {attribute.name!r}"
        if attribute.type == "mixed":
            types = Counter(type(value).__name__ for value in values)
            shown = ", ".join(f"{count} {name}" for name, count in types.most_common())
            yield _finding("mixed-type", "warning", len(types), f"{where} has values of several types: {shown}")
        elif attribute.type == "date":
            yield _finding("text-number", "info", len(values), f"{where} is text that holds dates ({attribute.shape})")
        elif attribute.type == "text":
            if holds_numbers(attribute, values):
                advice = "Text is compared character by character; programs must convert it."
                yield _finding(
                    "text-number",
                    "warning",
                    len(values),
                    f"{where} is text that looks like numbers",
                    dict.fromkeys(values),
                    advice,
                )
            elif attribute.shape in ("IPv4", "IPv6", "CIDR"):
                message = f"{where} is text that holds addresses ({attribute.shape})"
                yield _finding("text-number", "info", len(values), message)


def _units(_: GraphColumns, schema: GraphSchema) -> Iterator[QualityFinding]:
    unknown = [attribute for attribute in schema.attributes if attribute.unit == "unknown"]

    def rank(attribute: AttributeSchema) -> tuple[bool, bool, str]:
        suspicious = any(word in attribute.name.lower() for word in _SUSPICIOUS)
        return not suspicious, not attribute.role, attribute.name

    if unknown:
        names = [f"{attribute.owner} {attribute.name}" for attribute in sorted(unknown, key=rank)]
        advice = "Say it with --unit ATTR=UNIT."
        yield _finding("unit-unknown", "warning", len(names), "numeric attributes have no known unit", names, advice)


def _constants(_: GraphColumns, schema: GraphSchema) -> Iterator[QualityFinding]:
    constant = [a for a in schema.attributes if a.distinct == "1" and a.count > 1]
    if constant:
        names = [f"{attribute.owner} {attribute.name}" for attribute in constant]
        advice = "Ranking by such an attribute gives ties only."
        yield _finding("constant", "info", len(names), "attributes have one value everywhere", names, advice)


def _direction(view: GraphColumns, _: GraphSchema) -> Iterator[QualityFinding]:
    pair = None if view.graph.is_directed() else direction_pair(view.edges)
    if pair is None:
        return
    senders, receivers = view.edges[pair[0]], view.edges[pair[1]]
    rows = zip(view.sources, view.targets, senders, receivers, strict=True)
    against = sum(1 for u, v, a, b in rows if (a, b) == (v, u) and a != b)
    message = (
        f"direction is only in the edge attributes {pair[0]!r} and {pair[1]!r}; "
        f"{against} of {len(senders)} links are stored the other way round"
    )
    advice = "Use these attributes, not the order of the ends."
    yield _finding("direction-in-attributes", "warning", against, message, (), advice)


def _hierarchy(view: GraphColumns, schema: GraphSchema) -> Iterator[QualityFinding]:
    kinds = view.edges.get("kind")
    if kinds is None or not view.graph.is_directed():
        return
    contains = [
        (u, v)
        for u, v, kind in zip(view.sources, view.targets, kinds, strict=True)
        if kind is not MISSING and "contain" in str(kind).lower()
    ]
    several = [node for node, count in Counter(v for _, v in set(contains)).items() if count > 1]
    if several:
        advice = "Sums over containers count such a child more than once."
        yield _finding("hierarchy", "warning", len(several), "children have several containers", several, advice)
    cyclic = {r.relation for r in schema.relations if not r.acyclic and "contain" in r.relation.lower()}
    for relation in sorted(cyclic):
        yield _finding("hierarchy", "error", 1, f"the relation {relation} has a cycle")


def _addresses(view: GraphColumns, schema: GraphSchema) -> Iterator[QualityFinding]:
    for attribute in schema.attributes_of("node"):
        if attribute.role != "address" or attribute.type != "text":
            continue
        counts = Counter(present(view.nodes[attribute.name]))
        shared = [address for address, count in counts.items() if count > 1]
        if shared:
            message = f"addresses in {attribute.name!r} belong to several nodes"
            yield _finding("duplicate-address", "warning", len(shared), message, shared)
