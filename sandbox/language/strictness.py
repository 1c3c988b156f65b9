"""Graph calls that ignore unknown names in silence are made to say so.

networkx skips names that are not in the graph in ``remove_nodes_from``, ``remove_edges_from``, ``subgraph`` and
``set_node_attributes``, and ``add_edge`` makes a new node of a slip. A name counts as unknown when the graph descends
from the question's graph, does not hold it now, and the question's graph never held it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx

from nl2net.sandbox.language.remarks import note_part
from nl2net.sandbox.language.state import current

# Names in a program that make it worth while to remember the node names before it starts.
STRICT_NAMES = frozenset(
    [
        "remove_nodes_from",
        "remove_edges_from",
        "subgraph",
        "induced_subgraph",
        "set_node_attributes",
        "set_edge_attributes",
        "add_edge",
        "add_edges_from",
        "add_weighted_edges_from",
    ]
)


def is_derived(graph: nx.Graph[Any]) -> bool:
    """Whether a graph holds names of the question's graph (told by its first node)."""
    known = current().known
    if not known:
        return False
    if any(graph is given for given in current().graphs):
        return True
    return next(iter(graph), None) in known


def unknown_node(graph: nx.Graph[Any], node: Any) -> bool:
    """Whether a node is in neither this graph nor the question's graph."""
    try:
        return node not in graph and node not in current().known
    except TypeError:
        return False


def require_nodes(graph: nx.Graph[Any], nodes: Iterable[Any], call: str) -> None:
    """Raise when a call names a node that never was in the graph.

    Raises
    ------
    networkx.NetworkXError
        As networkx does elsewhere for unknown nodes.
    """
    if is_derived(graph):
        for node in nodes:
            if unknown_node(graph, node):
                raise nx.NetworkXError(f"{call}: the node {node!r} is not in the graph")


def _bind_remove_nodes(graph: Any) -> Callable[..., None]:
    def remove_nodes_from(nodes: Iterable[Any]) -> None:
        if not isinstance(nodes, str):
            nodes = list(nodes) if nodes is not graph else nodes
            require_nodes(graph, nodes, "remove_nodes_from")
        graph.remove_nodes_from(nodes)

    return remove_nodes_from


def _bind_remove_edges(graph: Any) -> Callable[..., None]:
    def remove_edges_from(ebunch: Iterable[Any]) -> None:
        edges = list(ebunch)
        for edge in edges if is_derived(graph) else ():
            require_nodes(graph, edge[:2], "remove_edges_from")
            known = any(given.has_edge(*edge[:2]) for given in current().graphs)
            if not known and not graph.has_edge(*edge[:2]):
                current().note(
                    f"remove_edges_from: there is no edge {edge[0]!r} - {edge[1]!r}; nothing was removed for it"
                )
        graph.remove_edges_from(edges)

    return remove_edges_from


def _bind_subgraph(graph: Any) -> Callable[..., Any]:
    def subgraph(nodes: Any) -> Any:
        if current().parts and isinstance(nodes, set):
            note_part(graph, nodes)
        return graph.subgraph(_checked_bunch(graph, nodes, "subgraph"))

    return subgraph


def _checked_bunch(graph: Any, nodes: Any, call: str) -> Any:
    """A node, or nodes, that a subgraph is asked for; iterators are kept in a list."""
    try:
        if nodes is None or nodes in graph:
            return nodes
    except TypeError:
        pass
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        require_nodes(graph, [nodes], call)
        return nodes
    kept = nodes if isinstance(nodes, set | frozenset | list | tuple | dict) else list(nodes)
    require_nodes(graph, kept, call)
    return kept


def _note_new_ends(graph: Any, ends: Iterable[Any]) -> None:
    for node in ends:
        if unknown_node(graph, node):
            current().note(f"add_edge created the node {node!r}, which was not in the network")


def _bind_add_edge(graph: Any) -> Any:
    if not is_derived(graph):
        return graph.add_edge

    def add_edge(u_of_edge: Any, v_of_edge: Any, *args: Any, **attributes: Any) -> Any:
        _note_new_ends(graph, (u_of_edge, v_of_edge))
        return graph.add_edge(u_of_edge, v_of_edge, *args, **attributes)

    return add_edge


def _bind_add_edges(graph: Any) -> Any:
    if not is_derived(graph):
        return graph.add_edges_from

    def add_edges_from(ebunch_to_add: Iterable[Any], **attributes: Any) -> Any:
        edges = list(ebunch_to_add)
        for edge in edges:
            _note_new_ends(graph, edge[:2])
        return graph.add_edges_from(edges, **attributes)

    return add_edges_from


def strict_methods() -> dict[tuple[type, str], Callable[[Any], Any]]:
    """Wrapped graph methods by (class, name)."""
    return {
        (nx.Graph, "remove_nodes_from"): _bind_remove_nodes,
        (nx.Graph, "remove_edges_from"): _bind_remove_edges,
        (nx.Graph, "subgraph"): _bind_subgraph,
        (nx.Graph, "add_edge"): _bind_add_edge,
        (nx.Graph, "add_edges_from"): _bind_add_edges,
    }
