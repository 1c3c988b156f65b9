"""A large network in one view: regions around its busiest nodes, found in a moment even for millions of links."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from nl2net.display import clean_line
from nl2net.tui.scenes import Mark, Scene, places_of

_REGIONS = 24
_TOP = 8


def region_scene(graph: Any, *, name: str = "") -> Scene:
    """Regions as marks, links between regions as lines, the busiest nodes as notes.

    Parameters
    ----------
    graph : networkx graph
        Any class; direction and parallel links do not matter here.
    name : str
        Of the graph.

    Notes
    -----
    A region is every node that is nearest, in hops, to one of the busiest nodes; of neighbours only the busier one
    becomes a centre. This is no community detection, which takes minutes where this takes a fraction of a second.
    Nodes that no centre reaches are one region of their own.
    """
    nodes = list(graph)
    matrix = _matrix(graph, nodes)
    degree = np.asarray(matrix.sum(axis=1)).ravel().astype(np.int64)
    order = np.argsort(-degree, kind="stable")
    centres = _centres(matrix, order, degree)
    region = _nearest(matrix, centres) if centres else np.zeros(len(nodes), dtype=np.int64)
    sizes = np.bincount(region, minlength=len(centres) + 1)
    labels = [f"{_name(graph, nodes[c])} ({sizes[at]:,})" for at, c in enumerate(centres)]
    labels.append(f"apart ({sizes[-1]:,})")
    between = _between(matrix, region, len(sizes))
    summary = _summary(between, sizes)
    places, _ = places_of(summary)
    kept = list(summary)
    number = {at: place for place, at in enumerate(kept)}
    largest = max(sizes.max(), 1)
    marks = tuple(
        Mark(*places[at], labels[at], "group", 1 + round(3 * (sizes[at] / largest) ** 0.5), float(sizes[at]))
        for at in kept
    )
    lines = tuple((number[a], number[b], "link") for a, b in summary.edges())
    busiest = [f"{degree[at]:>8,}  {_name(graph, nodes[at])}" for at in order[:_TOP]]
    title = f"{name}: {len(nodes):,} nodes, {graph.number_of_edges():,} links; regions around the busiest nodes"
    return Scene(clean_line(title), marks, lines, ("busiest nodes, by links", *busiest))


def _name(graph: Any, node: Any) -> str:
    return clean_line(str(graph.nodes[node].get("name", node)), width=22)


def _matrix(graph: Any, nodes: list[Any]) -> Any:
    """Symmetric adjacency with ones."""
    number = {node: at for at, node in enumerate(nodes)}
    ends = np.fromiter(
        (number[end] for u, v in graph.edges() if u != v for end in (u, v)), dtype=np.int64
    ).reshape(-1, 2)  # fmt: skip
    ones = np.ones(len(ends), dtype=np.int32)
    matrix = sparse.coo_matrix((ones, (ends[:, 0], ends[:, 1])), shape=(len(nodes), len(nodes))).tocsr()
    matrix = matrix + matrix.T
    matrix.data[:] = 1
    return matrix


def _centres(matrix: Any, order: Any, degree: Any) -> list[int]:
    """The busiest nodes, none of them beside another."""
    found: list[int] = []
    blocked = np.zeros(matrix.shape[0], dtype=bool)
    for at in order[:5000]:
        if not degree[at]:
            break  # nodes without links are no region
        if not blocked[at]:
            found.append(int(at))
            blocked[matrix.indices[matrix.indptr[at] : matrix.indptr[at + 1]]] = True
        if len(found) == _REGIONS:
            break
    return found


def _nearest(matrix: Any, centres: list[int]) -> Any:
    """Number of the nearest centre per node; ``len(centres)`` where none reaches."""
    _, _, source = csgraph.dijkstra(
        matrix, directed=False, indices=centres, unweighted=True, min_only=True, return_predecessors=True
    )
    region = np.full(matrix.shape[0], len(centres), dtype=np.int64)
    place = {centre: at for at, centre in enumerate(centres)}
    reached = source >= 0
    region[reached] = np.array([place[int(centre)] for centre in source[reached]], dtype=np.int64)
    return region


def _between(matrix: Any, region: Any, count: int) -> Any:
    coo = matrix.tocoo()
    pairs = region[coo.row] * count + region[coo.col]
    return np.bincount(pairs, minlength=count * count).reshape(count, count)


def _summary(between: Any, sizes: Any) -> Any:
    """The strongest ties of each region, so that the picture is no ball of wool."""
    import networkx as nx

    summary: Any = nx.Graph()
    summary.add_nodes_from(at for at in range(len(sizes)) if sizes[at])
    for at in summary:
        row = between[at].copy()
        row[at] = 0
        for other in np.argsort(-row)[:3]:
            if row[other]:
                summary.add_edge(int(at), int(other))
    return summary
