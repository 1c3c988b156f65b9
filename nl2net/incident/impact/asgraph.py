"""The AS graph of paths or of a relationship file, and what the removal of an AS or a link does to it."""

from __future__ import annotations

import csv
import io
import itertools
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nl2net.errors import DataError, UserError

if TYPE_CHECKING:
    from nl2net.incident.impact.updates import Change


@dataclass(frozen=True, slots=True)
class Relations:
    """``providers[a]`` are the providers of a, ``peers[a]`` its peers."""

    providers: Mapping[int, frozenset[int]]
    peers: Mapping[int, frozenset[int]]

    def of(self, one: int, two: int) -> str:
        """How ``two`` is related to ``one``: ``provider``, ``customer``, ``peer`` or ``""``."""
        if two in self.providers.get(one, frozenset()):
            return "provider"
        if one in self.providers.get(two, frozenset()):
            return "customer"
        return "peer" if two in self.peers.get(one, frozenset()) else ""


@dataclass(slots=True)
class AsGraph:
    """Undirected neighbours of each AS."""

    neighbours: dict[int, set[int]] = field(default_factory=dict)

    def add_link(self, one: int, two: int) -> None:
        """Add a link; a link of an AS to itself is none."""
        if one != two:
            self.neighbours.setdefault(one, set()).add(two)
            self.neighbours.setdefault(two, set()).add(one)

    @property
    def links(self) -> int:
        """Number of links."""
        return sum(map(len, self.neighbours.values())) // 2

    def busiest(self) -> tuple[int, int]:
        """The AS with the most neighbours (the lowest number on a tie) and how many it has."""
        found = min(self.neighbours, key=lambda asn: (-len(self.neighbours[asn]), asn))
        return found, len(self.neighbours[found])

    def components(self, without: frozenset[int] = frozenset()) -> list[set[int]]:
        """Connected parts, largest first, as if ``without`` were gone."""
        left = set(self.neighbours) - without
        parts = []
        while left:
            start = left.pop()
            part, queue = {start}, deque([start])
            while queue:
                for other in self.neighbours[queue.popleft()]:
                    if other in left:
                        left.discard(other)
                        part.add(other)
                        queue.append(other)
            parts.append(part)
        return sorted(parts, key=lambda part: (-len(part), min(part)))

    def cut_off_by(self, asns: Iterable[int]) -> tuple[int, ...]:
        """ASes of the largest part that are no longer in it once ``asns`` are gone, without these themselves.

        Raises
        ------
        UserError
            An AS is not in the graph.
        """
        gone = frozenset(asns)
        if unknown := gone - set(self.neighbours):
            raise UserError(
                f"AS{min(unknown)} is not in the graph", hint="Check the number, or the file it comes from."
            )
        whole = self.components()[0]
        rest = self.components(gone)
        kept = max(rest, key=lambda part: len(part & whole), default=set())
        return tuple(sorted(whole - gone - kept))

    def cut_off_without(self, links: Iterable[tuple[int, int]]) -> tuple[int, ...]:
        """ASes of the largest part that are no longer in it once links are gone.

        Examples
        --------
        >>> AsGraph({1: {2, 3}, 2: {1, 3}, 3: {1, 2, 4}, 4: {3}}).cut_off_without([(3, 4)])
        (4,)
        """
        gone = {frozenset(link) for link in links}
        rest = AsGraph({a: {b for b in found if frozenset((a, b)) not in gone} for a, found in self.neighbours.items()})
        whole = self.components()[0]
        kept = max(rest.components(), key=lambda part: len(part & whole), default=set())
        return tuple(sorted(whole - kept))

    def largest_cut(self) -> tuple[int, tuple[int, ...]]:
        """The AS whose removal cuts off the most others, and which."""
        whole = self.components()[0]
        best: tuple[int, tuple[int, ...]] = (min(whole), ())
        for asn in sorted(_articulation(self.neighbours, whole)):
            cut = self.cut_off_by([asn])
            if len(cut) > len(best[1]):
                best = (asn, cut)
        return best


def _articulation(neighbours: Mapping[int, set[int]], part: set[int]) -> set[int]:
    """Nodes whose removal splits the part (Hopcroft and Tarjan, without recursion)."""
    root = min(part)
    depth, low, parent = {root: 0}, {root: 0}, {root: root}
    found: set[int] = set()
    children = 0
    stack = [(root, iter(sorted(neighbours[root])))]
    while stack:
        node, rest = stack[-1]
        for other in rest:
            if other not in depth:
                parent[other] = node
                depth[other] = low[other] = len(stack)
                children += node == root
                stack.append((other, iter(sorted(neighbours[other]))))
                break
            if other != parent[node]:
                low[node] = min(low[node], depth[other])
        else:
            stack.pop()
            above = parent[node]
            if node != root:
                low[above] = min(low[above], low[node])
                if above != root and low[node] >= depth[above]:
                    found.add(above)
    return found | ({root} if children > 1 else set())


def graph_of_paths(changes: Iterable[Change]) -> AsGraph:
    """Links between neighbours in announced paths; prepending is removed, AS sets are skipped.

    Examples
    --------
    >>> from nl2net.incident.impact.updates import Change
    >>> graph = graph_of_paths([Change(0, "A", "p", 1, "192.0.2.0/24", (1, 2, 2, 3))])
    >>> len(graph.neighbours), graph.links
    (3, 2)
    """
    graph = AsGraph()
    for change in changes:
        for one, two in itertools.pairwise(change.path):
            graph.add_link(one, two)
        if len(change.path) == 1:
            graph.neighbours.setdefault(change.path[0], set())
    return graph


def parse_links(raw: bytes, *, name: str) -> AsGraph:
    """A CSV file of AS links, two columns of AS numbers first.

    Raises
    ------
    DataError
        A row holds no two AS numbers.

    Examples
    --------
    >>> parse_links(b"as_a,as_b\\n1,2\\n2,3\\n", name="links.csv").links
    2
    """
    graph = AsGraph()
    rows = csv.reader(io.StringIO(raw.decode("utf-8", "replace")))
    next(rows, None)
    for number, row in enumerate(rows, start=2):
        try:
            graph.add_link(int(row[0].removeprefix("AS")), int(row[1].removeprefix("AS")))
        except (ValueError, IndexError):
            raise DataError("no two AS numbers", path=name, line=number, hint="Write as_a,as_b.") from None
    return graph


def parse_relations(raw: bytes, *, name: str) -> Relations:
    """A relationship file: ``a|b|-1`` (a provides to b) or ``a|b|0`` (peers).

    Raises
    ------
    DataError
        A line is of another form.
    """
    providers: dict[int, set[int]] = {}
    peers: dict[int, set[int]] = {}
    for number, line in enumerate(raw.decode("utf-8", "replace").split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.strip().split("|")
        try:
            one, two, kind = int(parts[0]), int(parts[1]), int(parts[2])
        except (ValueError, IndexError):
            raise DataError("no relationship", path=name, line=number, hint="Write a|b|-1 or a|b|0.") from None
        if kind == -1:
            providers.setdefault(two, set()).add(one)
        else:
            peers.setdefault(one, set()).add(two)
            peers.setdefault(two, set()).add(one)
    return Relations({a: frozenset(b) for a, b in providers.items()}, {a: frozenset(b) for a, b in peers.items()})


def graph_of_relations(relations: Relations) -> AsGraph:
    """The undirected graph of a relationship file."""
    graph = AsGraph()
    for table in (relations.providers, relations.peers):
        for one, others in table.items():
            for two in others:
                graph.add_link(one, two)
    return graph


def leaks_in(path: Sequence[int], relations: Relations) -> list[tuple[int, int, int]]:
    """Places where a path breaks the valley-free rule, as (learned from, leaker, leaked to).

    A path is read from its origin: once an AS has passed a route down to a customer or across to a peer, the next
    may pass it
    to its customers only. Links of unknown relation break nothing.

    Examples
    --------
    >>> relations = Relations({3: frozenset({1, 2})}, {})
    >>> leaks_in([2, 3, 1, 9], relations)
    [(1, 3, 2)]
    """
    plain = [asn for asn, _ in itertools.groupby(reversed(path))]
    found = []
    for before, leaker, after in zip(plain, plain[1:], plain[2:], strict=False):
        learned, told = relations.of(leaker, before), relations.of(leaker, after)
        if learned in ("provider", "peer") and told in ("provider", "peer"):
            found.append((before, leaker, after))
    return found


def reachable_valley_free(start: int, relations: Relations, *, without: frozenset[int] = frozenset()) -> set[int]:
    """ASes that a route from ``start`` reaches when everyone exports by the valley-free rule.

    Notes
    -----
    Up over any number of providers, across at most one peer, then down only; each AS is seen in two states.
    """
    customers: dict[int, set[int]] = {}
    for asn, above in relations.providers.items():
        for provider in above:
            customers.setdefault(provider, set()).add(asn)
    seen: set[tuple[int, bool]] = {(start, True)}
    queue = deque(seen)
    while queue:
        asn, rising = queue.popleft()
        steps = [(customer, False) for customer in customers.get(asn, ())]
        if rising:
            steps += [(provider, True) for provider in relations.providers.get(asn, ())]
            steps += [(peer, False) for peer in relations.peers.get(asn, ())]
        for step in steps:
            if step[0] not in without and step not in seen:
                seen.add(step)
                queue.append(step)
    return {asn for asn, _ in seen} - {start}
