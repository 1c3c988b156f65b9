"""Patterns of edges between declared kinds: fan-out, several parents, cycles."""

from __future__ import annotations

from collections import Counter, defaultdict

from nl2net.graphs.columns import MISSING, GraphColumns
from nl2net.model import RelationSchema


def _acyclic(pairs: list[tuple[str, str]]) -> bool:
    """Whether the arcs hold no cycle, by taking away nodes without incoming arcs."""
    after: dict[str, list[str]] = defaultdict(list)
    incoming: Counter[str] = Counter()
    for u, v in pairs:
        after[u].append(v)
        incoming[v] += 1
    ready = [node for node in after if not incoming[node]]
    while ready:
        for target in after.pop(ready.pop(), ()):
            incoming[target] -= 1
            if not incoming[target]:
                ready.append(target)
    return not any(incoming.values())


def derive_relations(view: GraphColumns) -> tuple[RelationSchema, ...]:
    """Relation patterns of a directed graph whose nodes have kinds, most frequent first.

    Notes
    -----
    ``acyclic`` and ``several_parents`` are judged over all edges of one relation, whatever kinds they join.
    """
    kinds = view.nodes.get("kind")
    if kinds is None or not view.graph.is_directed():
        return ()
    kind_of = {node: "" if kind is MISSING else str(kind) for node, kind in zip(view.ids, kinds, strict=True)}
    relations = view.edges.get("kind", [MISSING] * len(view.sources))
    by_relation: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for u, v, relation in zip(view.sources, view.targets, relations, strict=True):
        by_relation["" if relation is MISSING else str(relation)].append((u, v))
    found = []
    for relation, pairs in by_relation.items():
        acyclic = _acyclic(pairs)
        parents = Counter(v for _, v in set(pairs))
        patterns: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        for u, v in pairs:
            patterns[kind_of[u], kind_of[v]].append((u, v))
        for (source_kind, target_kind), members in patterns.items():
            widest = max(Counter(u for u, _ in members).values())
            found.append(
                RelationSchema(
                    source_kind=source_kind,
                    relation=relation,
                    target_kind=target_kind,
                    count=len(members),
                    fan_out="exactly one" if widest == 1 else "several",
                    several_parents=any(parents[v] > 1 for _, v in members),
                    acyclic=acyclic,
                )
            )
    return tuple(sorted(found, key=lambda r: (-r.count, r.source_kind, r.relation, r.target_kind)))
