"""How names are nested: a child's name that begins with its parent's name, said without either."""

from __future__ import annotations

from collections import defaultdict

from nl2net.graphs.columns import MISSING, GraphColumns
from nl2net.graphs.shapes import signature

_SEPARATOR = {".": "a dot", "-": "a hyphen", "_": "an underscore", ":": "a colon", "/": "a slash", " ": "a blank"}
_REST = {"a": "letters", "1": "a number", "a1": "letters and a number"}


def _remainder(parent: str, child: str) -> str | None:
    if len(child) <= len(parent) or not child.startswith(parent):
        return None
    return signature(child[len(parent) :])


def _describe(rest: str) -> str:
    mark, word = rest[:1], rest[1:]
    if mark in _SEPARATOR and word in _REST:
        return f"{_SEPARATOR[mark]} and {_REST[word]}"
    return _REST.get(rest, "a suffix")


def nesting_notes(view: GraphColumns) -> list[str]:
    """Sentences such as "a PORT's name is its SWITCH's name, then a dot and letters and a number"."""
    kinds, names = view.nodes.get("kind"), view.nodes.get("name")
    relations = view.edges.get("kind")
    if kinds is None or names is None or relations is None or not view.graph.is_directed():
        return []
    of = {node: (kind, name) for node, kind, name in zip(view.ids, kinds, names, strict=True)}
    rests: dict[tuple[str, str, str], set[str | None]] = defaultdict(set)
    for u, v, relation in zip(view.sources, view.targets, relations, strict=True):
        (parent_kind, parent), (child_kind, child) = of[u], of[v]
        if MISSING in (parent_kind, parent, child_kind, child, relation):
            continue
        rests[str(parent_kind), str(relation), str(child_kind)].add(_remainder(str(parent), str(child)))
    notes = []
    for (parent_kind, relation, child_kind), found in sorted(rests.items()):
        if len(found) == 1 and None not in found:
            rest = str(next(iter(found)))
            notes.append(
                f"over {relation}, the name of a {child_kind} is the name of its {parent_kind}, then {_describe(rest)}"
            )
    return notes
