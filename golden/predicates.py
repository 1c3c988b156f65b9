"""Checks of answers of which many are right: a valid solution with the optimal objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import networkx as nx

from nl2net.golden.cells import Tolerance, numbers_equal
from nl2net.golden.rows import as_rows

Check = Callable[[Any, Any, Mapping[str, Any]], str]
PREDICATES: dict[str, Check] = {}


def predicate(name: str) -> Callable[[Check], Check]:
    """Register a check: takes the answer, the graph and the parameters, returns the fault or an empty text."""

    def register(function: Check) -> Check:
        PREDICATES[name] = function
        return function

    return register


def _objective(found: float, parameters: Mapping[str, Any]) -> str:
    optimum = parameters["optimum"]
    if numbers_equal(float(found), float(optimum), Tolerance(1e-6, 1e-9)):
        return ""
    return f"the objective is {found}, the optimum {optimum}"


def _hosts(answer: Any, length: int = 1) -> list[str] | None:
    """A plain sequence of node ids, also from a table of one column or one row."""
    rows = as_rows(answer)
    if rows.width == length:
        return [str(row[0]) for row in rows.rows]
    if len(rows.rows) == 1:
        return [str(cell) for cell in rows.rows[0]]
    return None


@predicate("path")
def check_path(answer: Any, graph: Any, parameters: Mapping[str, Any]) -> str:
    """A path of the graph between the wanted ends whose hops, or summed weights, are minimal.

    Parameters are ``source``, ``target``, ``optimum`` and, for weighted paths, ``weight``.
    """
    path = _hosts(answer)
    if not path or path[0] != parameters["source"] or path[-1] != parameters["target"]:
        reverse = list(reversed(path or []))
        if (
            graph.is_directed()
            or not reverse
            or reverse[0] != parameters["source"]
            or reverse[-1] != parameters["target"]
        ):
            return "the path does not join the two hosts"
    assert path is not None
    total = 0
    for u, v in pairwise(path):
        if not graph.has_edge(u, v):
            return f"there is no link {u} - {v}"
        total += graph.edges[u, v][parameters["weight"]] if parameters.get("weight") else 1
    return _objective(total, parameters)


@predicate("spanning_tree")
def check_spanning_tree(answer: Any, graph: Any, parameters: Mapping[str, Any]) -> str:
    """Links without a cycle that join all that the graph joins, with the least total weight."""
    if hasattr(answer, "edges") and hasattr(answer, "is_directed"):
        pairs = [(u, v) for u, v in answer.edges()]
    else:
        rows = as_rows(answer)
        if rows.width < 2:
            return "not a list of links"
        pairs = [(str(row[0]), str(row[1])) for row in rows.rows]
    tree: Any = nx.Graph()
    tree.add_nodes_from(graph)
    for u, v in pairs:
        if not graph.has_edge(u, v):
            return f"there is no link {u} - {v}"
        tree.add_edge(u, v)
    if len(pairs) != tree.number_of_edges() or tree.number_of_edges() != len(tree) - nx.number_connected_components(
        tree
    ):
        return "the links hold a cycle or a repetition"
    if nx.number_connected_components(tree) != nx.number_connected_components(graph):
        return "the links do not join all hosts that are joined in the graph"
    return _objective(sum(graph.edges[u, v][parameters["weight"]] for u, v in tree.edges()), parameters)


@predicate("colouring")
def check_colouring(answer: Any, graph: Any, parameters: Mapping[str, Any]) -> str:
    """Every host has one colour, linked hosts differ, and no more than ``colours`` are used."""
    classes = classes_of(answer, frozenset(map(str, graph)))
    if classes is None:
        return "not an assignment of hosts to colours"
    colour = {host: number for number, members in enumerate(classes) for host in members}
    if set(colour) != {str(n) for n in graph} or sum(map(len, classes)) != len(colour):
        return "not every host has exactly one colour"
    clash = next(((u, v) for u, v in graph.edges() if u != v and colour[str(u)] == colour[str(v)]), None)
    if clash:
        return f"{clash[0]} and {clash[1]} are linked and have the same colour"
    return f"{len(classes)} colours, {parameters['colours']} allowed" if len(classes) > parameters["colours"] else ""


def classes_of(answer: Any, items: frozenset[str] = frozenset()) -> list[frozenset[str]] | None:
    """Classes of a partition, given as a mapping, a two-column table or a list of groups; ``None`` if it is neither.

    ``items`` are all that there is to part; they tell groups of two from pairs of item and label.

    Examples
    --------
    >>> classes_of({"a": 1, "b": 2, "c": 1}) == classes_of([["a", "c"], ["b"]])
    True
    """
    if isinstance(answer, (list, tuple)) and answer and all(isinstance(group, (set, frozenset)) for group in answer):
        return sorted((frozenset(map(str, group)) for group in answer), key=sorted)
    rows = as_rows(answer)
    lists = [row for row in rows.rows if len(row) == 2 and isinstance(row[1], list)]
    if rows.rows and len(lists) == len(rows.rows):
        return sorted((frozenset(map(str, row[1])) for row in lists), key=sorted)
    groups: dict[str, set[str]] = {}
    cells = [str(cell) for row in rows.rows for cell in row]
    if rows.rows and len(cells) == len(items) and set(cells) == items:
        groups = {str(number): set(map(str, row)) for number, row in enumerate(rows.rows)}
    elif rows.width == 2 and len({row[0] for row in rows.rows}) == len(rows.rows):
        for host, label in rows.rows:
            groups.setdefault(repr(float(label)) if isinstance(label, int) else repr(label), set()).add(str(host))
    elif isinstance(answer, (list, tuple)) and all(isinstance(group, (list, tuple)) for group in answer):
        groups = {str(number): set(map(str, group)) for number, group in enumerate(answer)}
    else:
        return None
    return sorted((frozenset(group) for group in groups.values()), key=sorted)
