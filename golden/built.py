"""A generated graph together with the words and names that its questions may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nl2net.golden.case import GraphSource

Row = tuple[str, str, dict[str, Any]]


@dataclass(frozen=True)
class BuiltGraph:
    """A graph in normal form, and what its recipe knows of it.

    Attributes
    ----------
    source : GraphSource
        The recipe.
    graph : nx.Graph or nx.DiGraph
        Never changed; whoever runs a program hands it a copy.
    words : mapping of str to str
        Slots that are fixed by the graph: attribute names, kinds, and the words for them.
    roles : mapping of str to str
        Attribute name to role.
    """

    source: GraphSource
    graph: Any
    words: Mapping[str, str]
    roles: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> dict[str, dict[str, Any]]:
        """Attributes by node id, as a plain mapping: what the second solvers read."""
        return {str(n): data for n, data in self.graph.nodes(data=True)}

    @cached_property
    def edges(self) -> list[Row]:
        """Rows of source, target and attributes."""
        return [(str(u), str(v), data) for u, v, data in self.graph.edges(data=True)]

    @cached_property
    def directed(self) -> bool:
        """Whether links have a direction."""
        return bool(self.graph.is_directed())

    @cached_property
    def peers(self) -> dict[str, set[str]]:
        """Neighbours in either direction, from the rows alone."""
        found: dict[str, set[str]] = {n: set() for n in self.nodes}
        for u, v, _ in self.edges:
            found[u].add(v)
            found[v].add(u)
        return found

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """Targets of the containment relation by source."""
        return self._targets("CONTAINS")

    @cached_property
    def parents(self) -> dict[str, list[str]]:
        """Sources of the containment relation by target."""
        return self._sources("CONTAINS")

    @cached_property
    def controls(self) -> dict[str, list[str]]:
        """Targets of the control relation by source."""
        return self._targets("CONTROLS")

    @cached_property
    def by_kind(self) -> dict[str, list[str]]:
        """Node ids by kind, in order of insertion."""
        found: dict[str, list[str]] = {}
        for n, data in self.nodes.items():
            found.setdefault(data["kind"], []).append(n)
        return found

    @cached_property
    def facts(self) -> frozenset[str]:
        """Facts that intents may need, such as ``directed`` or ``isolated``."""
        from nl2net.golden.facts import facts_of

        return facts_of(self)

    @cached_property
    def cache(self) -> dict[str, Any]:
        """Values that slots and solvers compute once per graph."""
        return {}

    def kind(self, word: str) -> list[str]:
        """Ids of the kind that the word ``SWITCH``, ``PORT`` ... stands for."""
        return self.by_kind.get(self.words[word], [])

    def _targets(self, relation: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {n: [] for n in self.nodes}
        for u, v, data in self.edges:
            if data["kind"] == self.words[relation]:
                found[u].append(v)
        return found

    def _sources(self, relation: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {n: [] for n in self.nodes}
        for u, v, data in self.edges:
            if data["kind"] == self.words[relation]:
                found[v].append(u)
        return found
