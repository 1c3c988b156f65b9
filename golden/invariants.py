"""What a change to a data centre model must keep; checked only where the change touched it."""

from __future__ import annotations

from typing import Any

from nl2net.golden.built import BuiltGraph
from nl2net.model import Changes


def _patterns(built: BuiltGraph) -> set[tuple[str, str, str]]:
    """Kind, relation and kind of every edge of the original model."""
    if "patterns" not in built.cache:
        nodes = built.nodes
        built.cache["patterns"] = {(nodes[u]["kind"], data["kind"], nodes[v]["kind"]) for u, v, data in built.edges}
    found: set[tuple[str, str, str]] = built.cache["patterns"]
    return found


def broken_invariants(built: BuiltGraph, after: Any, changes: Changes) -> list[str]:
    """Faults of the changed model.

    New entities have a known kind, a name and, if they are ports, a capacity; relations follow the kinds of the model;
    ports stay in exactly one switch; switches keep ports and exactly one controller; nothing loses its container.
    """
    faults = [f"{node['id']}: {fault}" for node in changes.nodes_added if (fault := _entity_fault(built, node))]
    for edge in changes.edges_added:
        pattern = (after.nodes[edge["source"]].get("kind"), edge.get("kind"), after.nodes[edge["target"]].get("kind"))
        if pattern not in _patterns(built):
            faults.append(f"{edge['source']} - {edge['target']}: no such relation")
    for n, found in changes.nodes_changed.items():
        old_new = found.get(built.words["cap"])
        if old_new is not None and not (isinstance(old_new[1], (int, float)) and old_new[1] > 0):
            faults.append(f"{n}: no capacity")
    touched = {
        end for edge in (*changes.edges_added, *changes.edges_removed) for end in (edge["source"], edge["target"])
    }
    touched |= {node["id"] for node in changes.nodes_added}
    for n in sorted(touched):
        if n in after:
            faults += _place_faults(built, after, n)
    return faults


def _entity_fault(built: BuiltGraph, node: dict[str, Any]) -> str:
    if node.get("kind") not in built.by_kind:
        return "unknown kind"
    if not node.get("name"):
        return "no name"
    if node["kind"] == built.words["PORT"] and not node.get(built.words["cap"]):
        return "port without capacity"
    return ""


def _place_faults(built: BuiltGraph, after: Any, node: str) -> list[str]:
    words, kind = built.words, after.nodes[node].get("kind")
    above = [(after.nodes[u].get("kind"), data.get("kind")) for u, _, data in after.in_edges(node, data=True)]
    faults = []
    if kind == words["PORT"] and above != [(words["SWITCH"], words["CONTAINS"])]:
        faults.append(f"{node}: not in exactly one switch")
    if kind == words["SWITCH"]:
        if sum(relation == words["CONTROLS"] for _, relation in above) != 1:
            faults.append(f"{node}: not exactly one controller")
        if not any(after.nodes[p].get("kind") == words["PORT"] for p in after.successors(node)):
            faults.append(f"{node}: no port")
    if built.parents.get(node) and words["CONTAINS"] not in [relation for _, relation in above]:
        faults.append(f"{node}: lost its container")
    return faults
