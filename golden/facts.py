"""Facts of a graph that an intent may need before it makes sense to ask."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx

from nl2net.golden.built import BuiltGraph


def facts_of(built: BuiltGraph) -> frozenset[str]:
    """Names of the facts that hold.

    Examples
    --------
    >>> from nl2net.golden.case import GraphSource
    >>> from nl2net.golden.recipes import build_graph
    >>> sorted(facts_of(build_graph(GraphSource("traffic", "demo", {"directed": True}))) & {"directed", "undirected"})
    ['directed']
    """
    found = {"directed" if built.directed else "undirected"}
    if any(not peers for peers in built.peers.values()):
        found.add("isolated")
    if built.source.recipe == "traffic":
        found |= _traffic_facts(built)
    else:
        found |= _planning_facts(built)
    return frozenset(found)


def _traffic_facts(built: BuiltGraph) -> set[str]:
    found = set()
    plain: Any = nx.Graph(built.graph)
    found.add("connected" if nx.is_connected(plain) else "disconnected")
    if built.words["named"]:
        found.add("named")
    if not built.directed and max(nx.core_number(plain).values()) >= 2:
        found.add("core")
    sites = {data[built.words["site_attr"]] for data in built.nodes.values()}
    linked = {frozenset(built.nodes[n][built.words["site_attr"]] for n in (u, v)) for u, v, _ in built.edges}
    if sum(len(pair) == 2 for pair in linked) < len(sites) * (len(sites) - 1) // 2:
        found.add("unlinked_sites")
    for weight in ("bytes", "packets", "flows"):
        totals = Counter[str]()
        for u, v, data in built.edges:
            totals[u] += data[built.words[weight]]
            totals[v] += data[built.words[weight]]
        if len(set(totals.values())) < len(totals) or len(totals) < len(built.nodes) - 1:
            break
    else:
        found.add("distinct_totals")
    return found


def _planning_facts(built: BuiltGraph) -> set[str]:
    counts = Counter(
        sum(built.nodes[p]["kind"] == built.words["PORT"] for p in built.children[s]) for s in built.kind("SWITCH")
    )
    (first, *rest) = counts.most_common(2)
    return {"clear_mode"} if rest and first[1] > rest[0][1] else set()
