"""Graphs that remember what was changed, so that a program can be tried without a deep copy of a large graph.

``graph.copy()`` hands out a twin that is made once per graph; after the program has run, every dictionary that it
touched is put back as it was. The difference is read from the touched dictionaries alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import networkx as nx
from networkx.classes.reportviews import NodeView

from nl2net.golden.graph_comparison import changed_attributes, edge_record
from nl2net.model import Changes


class Journal:
    """Shallow copies of all dictionaries touched since the last undo."""

    __slots__ = ("_saved", "named")

    def __init__(self) -> None:
        self._saved: dict[int, tuple[dict[Any, Any], dict[Any, Any]]] = {}
        self.named: set[Any] = set()  # nodes that may have been added or removed

    def __bool__(self) -> bool:
        return bool(self._saved)

    def touch(self, target: dict[Any, Any]) -> None:
        """Remember the present content of a dictionary, once."""
        if id(target) not in self._saved:
            self._saved[id(target)] = (target, dict(target))

    def before(self, target: dict[Any, Any]) -> dict[Any, Any] | None:
        """The content that a dictionary had, or ``None`` if it was not touched."""
        found = self._saved.get(id(target))
        return None if found is None else found[1]

    def undo(self) -> None:
        """Put everything back, in the old order."""
        for target, content in self._saved.values():
            dict.clear(target)
            dict.update(target, content)
        self.forget()

    def forget(self) -> None:
        """Take the present content as the clean one."""
        self._saved.clear()
        self.named.clear()

    def saved(self) -> list[tuple[dict[Any, Any], dict[Any, Any]]]:
        """Touched dictionaries with their old content."""
        return list(self._saved.values())


class _Attributes(dict[Any, Any]):
    """Attributes of a node or an edge; writing reports to the journal, reading costs nothing extra."""

    __slots__ = ("_journal",)

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def __setitem__(self, key: Any, value: Any) -> None:
        self._journal.touch(self)
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        self._journal.touch(self)
        super().__delitem__(key)

    def update(self, *args: Any, **kwargs: Any) -> None:
        self._journal.touch(self)
        super().update(*args, **kwargs)

    def pop(self, *args: Any) -> Any:
        self._journal.touch(self)
        return super().pop(*args)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        self._journal.touch(self)
        return super().setdefault(key, default)

    def clear(self) -> None:
        self._journal.touch(self)
        super().clear()

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class _Recording:
    """Mixed into networkx classes: mutators touch what they are about to change."""

    journal: Journal
    lender: Any
    lent: bool
    memo: dict[Any, frozenset[Any]]

    def __init__(self, incoming: Any = None, **attributes: Any) -> None:
        self.journal = Journal()
        self.lender = None
        self.lent = False
        self.memo: dict[Any, frozenset[Any]] = {}
        self._owners: dict[int, tuple[Any, ...]] | None = None
        self.node_attr_dict_factory = lambda: _Attributes(self.journal)
        self.edge_attr_dict_factory = lambda: _Attributes(self.journal)
        super().__init__(incoming, **attributes)  # type: ignore[call-arg]
        self.journal.forget()

    def copy(self, as_view: bool = False) -> Any:
        """A twin from the pool while a program runs, else a plain copy."""
        if as_view or self.lender is None:
            return super().copy(as_view)  # type: ignore[misc]
        return self.lender.lend()

    @cached_property
    def nodes(self) -> Any:
        """The usual view, whose look-up by id stays in C: programs do little else."""
        view = type("NodeView", (NodeView,), {"__slots__": (), "__getitem__": self._node.__getitem__})  # type: ignore[attr-defined]
        return view(self)

    def descendants(self, source: Any) -> set[Any]:
        """What ``networkx.descendants`` finds; while the graph is as it was made, each search is done once."""
        graph: Any = self
        if self.journal:
            return set(nx.descendants(graph, source))
        if source not in self.memo:
            self.memo[source] = frozenset(nx.descendants(graph, source))
        return set(self.memo[source])

    def _touch_nodes(self, *nodes: Any) -> None:
        self.journal.named.update(nodes)
        for name in ("_node", "_adj", "_pred"):
            if hasattr(self, name):
                self.journal.touch(getattr(self, name))

    def _touch_links(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            for name in ("_adj", "_pred"):
                inner = getattr(self, name, {}).get(node)
                if inner is not None:
                    self.journal.touch(inner)

    def add_node(self, node: Any, **attributes: Any) -> None:
        if node not in self._node:  # type: ignore[attr-defined]
            self._touch_nodes(node)
        super().add_node(node, **attributes)  # type: ignore[misc]

    def add_nodes_from(self, nodes: Iterable[Any], **attributes: Any) -> None:
        items = list(nodes)
        self._touch_nodes(*(item if _hashable(item) else item[0] for item in items))
        super().add_nodes_from(items, **attributes)  # type: ignore[misc]

    def add_edge(self, u: Any, v: Any, **attributes: Any) -> None:
        if u not in self._node or v not in self._node:  # type: ignore[attr-defined]
            self._touch_nodes(u, v)
        self._touch_links((u, v))
        super().add_edge(u, v, **attributes)  # type: ignore[misc]

    def add_edges_from(self, links: Iterable[Any], **attributes: Any) -> None:
        for u, v, *rest in list(links):
            self.add_edge(u, v, **{**attributes, **(rest[0] if rest else {})})

    def remove_node(self, node: Any) -> None:
        if node in self._node:  # type: ignore[attr-defined]
            self._touch_nodes(node)
            self._touch_links((node, *self._adj[node], *getattr(self, "_pred", {}).get(node, ())))  # type: ignore[attr-defined]
        super().remove_node(node)  # type: ignore[misc]

    def remove_nodes_from(self, nodes: Iterable[Any]) -> None:
        for node in list(nodes):
            if node in self._node:  # type: ignore[attr-defined]
                self.remove_node(node)

    def remove_edge(self, u: Any, v: Any) -> None:
        self._touch_links((u, v))
        super().remove_edge(u, v)  # type: ignore[misc]

    def remove_edges_from(self, links: Iterable[Any]) -> None:
        for u, v, *_ in list(links):
            if self.has_edge(u, v):  # type: ignore[attr-defined]
                self.remove_edge(u, v)

    def changes(self) -> Changes:
        """What has been changed since the last undo."""
        return _Reader(self).read()

    def owners(self) -> dict[int, tuple[Any, ...]]:
        """Whose dictionary is whose, made once while the graph is clean."""
        if self._owners is None:
            self._owners = _owners(self)
        return self._owners


def _hashable(item: Any) -> bool:
    # As networkx tells a node from a pair of node and attributes.
    try:
        hash(item)
    except TypeError:
        return False
    return True


class JournalGraph(_Recording, nx.Graph):  # type: ignore[misc, type-arg]
    """Undirected graph with a journal."""


class JournalDiGraph(_Recording, nx.DiGraph):  # type: ignore[misc, type-arg]
    """Directed graph with a journal."""


def _owners(graph: Any) -> dict[int, tuple[Any, ...]]:
    found: dict[int, tuple[Any, ...]] = {id(data): ("node", n) for n, data in graph._node.items()}
    for u, inner in graph._adj.items():
        found[id(inner)] = ("links", u)
        found.update((id(data), ("link", u, v)) for v, data in inner.items())
    return found


class _Reader:
    """Builds the difference from the dictionaries that a journal saved."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._directed = graph.is_directed()
        self._nodes: dict[str, dict[str, list[Any]]] = {}
        self._added: dict[tuple[str, str], dict[str, Any]] = {}
        self._removed: dict[tuple[str, str], dict[str, Any]] = {}
        self._changed: dict[tuple[str, str], dict[str, Any]] = {}

    def read(self) -> Changes:
        graph, owners = self._graph, self._graph.owners()
        nodes, old_nodes = graph._node, graph.journal.before(graph._node) or graph._node
        named = graph.journal.named
        added = [n for n in named if n in nodes and n not in old_nodes]
        removed = [n for n in named if n in old_nodes and n not in nodes]
        for n in named & nodes.keys() & old_nodes.keys():
            # A node that was removed and added again has new attributes in a new dictionary.
            if nodes[n] is not old_nodes[n] and (found := changed_attributes(self._old(old_nodes[n]), nodes[n])):
                self._nodes[n] = found
        for target, content in graph.journal.saved():
            match owners.get(id(target)):
                case ("node", n) if graph._node.get(n) is target:
                    if found := changed_attributes(content, target):
                        self._nodes[n] = found
                case ("link", u, v) if graph._adj.get(u, {}).get(v) is target:
                    if found := changed_attributes(content, target):
                        self._changed[self._ends(u, v)] = {"changed": found}
                case ("links", u):
                    self._links(u, content, graph._adj.get(u, {}))
        for u in added:
            self._links(u, {}, graph._adj[u])
        return Changes(
            nodes_added=tuple({"id": n, **graph._node[n]} for n in sorted(added)),
            nodes_removed=tuple(sorted(removed)),
            nodes_changed=dict(sorted(self._nodes.items())),
            edges_added=_records(self._added),
            edges_removed=_records(self._removed),
            edges_changed=_records(self._changed),
        )

    def _ends(self, u: str, v: str) -> tuple[str, str]:
        return (u, v) if self._directed or str(u) <= str(v) else (v, u)

    def _links(self, u: str, before: dict[str, Any], now: dict[str, Any]) -> None:
        for v in before.keys() - now.keys():
            self._removed[self._ends(u, v)] = {}
        for v in now.keys() - before.keys():
            self._added[self._ends(u, v)] = now[v]
        for v in now.keys() & before.keys():
            # A link that was removed and added again has new attributes in a new dictionary.
            if now[v] is not before[v] and (found := changed_attributes(self._old(before[v]), now[v])):
                self._changed[self._ends(u, v)] = {"changed": found}

    def _old(self, target: dict[Any, Any]) -> dict[Any, Any]:
        saved: dict[Any, Any] | None = self._graph.journal.before(target)
        return target if saved is None else saved


def _records(found: dict[tuple[str, str], dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple(edge_record(ends, data) for ends, data in sorted(found.items()))
