"""What does an expression of a program hold? A simple notion: node, edge, attributes of either, view, number ..."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Role:
    """Kind of a value. ``parts``: items of a tuple, the item of an iterable, key and value of a dictionary.

    Kinds: ``graph nodes edges degrees node node_attrs edge_attrs edge_dict neighbors tuple list generator dict number
    text bool frame column row``. ``directed`` and ``multi`` describe graphs and views; ``owner`` (``node`` or
    ``edge``) describes frames, columns and rows.
    """

    kind: str
    parts: tuple[Role | None, ...] = ()
    directed: bool | None = None
    multi: bool | None = None
    owner: str = ""

    def item(self) -> Role | None:
        """Role of what iteration gives."""
        if self.kind in ("list", "generator"):
            return self.parts[0] if self.parts else None
        if self.kind == "dict":
            return self.parts[0]
        if self.kind in ("nodes", "graph", "neighbors"):
            return NODE
        if self.kind == "edges":
            return tuple_of(NODE, NODE, None) if self.multi else EDGE
        if self.kind == "degrees":
            return tuple_of(NODE, NUMBER)
        return TEXT if self.kind == "text" else None


NODE, NUMBER, TEXT, BOOL = Role("node"), Role("number"), Role("text"), Role("bool")
NODE_ATTRS, EDGE_ATTRS = Role("node_attrs"), Role("edge_attrs")
NEIGHBORS = Role("neighbors")
EDGE_DICT = Role("edge_dict")


def tuple_of(*parts: Role | None) -> Role:
    """A tuple with these items."""
    return Role("tuple", parts)


def list_of(item: Role | None) -> Role:
    """A list, set or other sized collection of items."""
    return Role("list", (item,))


def generator_of(item: Role | None) -> Role:
    """An iterator: no length, no index."""
    return Role("generator", (item,))


def dict_of(key: Role | None, value: Role | None) -> Role:
    """A dictionary."""
    return Role("dict", (key, value))


EDGE = tuple_of(NODE, NODE)
SIZED = frozenset({"list", "dict", "nodes", "edges", "degrees", "graph", "neighbors", "tuple", "text", "frame"})
NODE_SCORES = frozenset(
    [
        "pagerank",
        "betweenness_centrality",
        "closeness_centrality",
        "degree_centrality",
        "eigenvector_centrality",
        "katz_centrality",
        "in_degree_centrality",
        "out_degree_centrality",
        "load_centrality",
        "harmonic_centrality",
        "clustering",
        "core_number",
        "eccentricity",
        "triangles",
        "square_clustering",
        "average_neighbor_degree",
        "information_centrality",
        "subgraph_centrality",
        "greedy_color",
        "single_source_shortest_path_length",
        "single_source_dijkstra_path_length",
        "get_node_attributes",
        "node_connected_component_size",
        "constraint",
        "effective_size",
    ]
)
EDGE_SCORES = frozenset(
    {"edge_betweenness_centrality", "get_edge_attributes", "edge_current_flow_betweenness_centrality"}
)
NODE_SETS = frozenset(
    [
        "connected_components",
        "strongly_connected_components",
        "weakly_connected_components",
        "biconnected_components",
        "find_cliques",
        "all_simple_paths",
        "shortest_simple_paths",
        "all_shortest_paths",
        "simple_cycles",
    ]
)
NODE_LISTS = frozenset(
    [
        "shortest_path",
        "dijkstra_path",
        "bellman_ford_path",
        "astar_path",
        "bidirectional_shortest_path",
        "center",
        "periphery",
        "node_connected_component",
        "descendants",
        "ancestors",
        "dag_longest_path",
        "minimum_node_cut",
        "maximal_independent_set",
    ]
)
NODE_GENERATORS = frozenset({"articulation_points", "topological_sort", "dfs_preorder_nodes", "dfs_postorder_nodes"})
EDGE_GENERATORS = frozenset({"bridges", "local_bridges", "bfs_edges", "dfs_edges", "non_edges"})
NUMBERS = frozenset(
    [
        "density",
        "shortest_path_length",
        "dijkstra_path_length",
        "number_connected_components",
        "diameter",
        "radius",
        "average_shortest_path_length",
        "average_clustering",
        "transitivity",
        "node_connectivity",
        "edge_connectivity",
        "number_of_nodes",
        "number_of_edges",
        "number_strongly_connected_components",
        "number_weakly_connected_components",
        "maximum_flow_value",
        "global_efficiency",
        "degree_assortativity_coefficient",
        "minimum_cut_value",
        "bellman_ford_path_length",
        "number_of_isolates",
        "number_of_selfloops",
        "astar_path_length",
    ]
)
BOOLS = frozenset(
    [
        "is_connected",
        "has_path",
        "is_directed",
        "is_tree",
        "is_strongly_connected",
        "is_weakly_connected",
        "has_bridges",
        "is_bipartite",
        "is_directed_acyclic_graph",
        "is_planar",
        "is_eulerian",
        "is_isomorphic",
    ]
)
GRAPH_CLASSES = {
    "Graph": (False, False),
    "DiGraph": (True, False),
    "MultiGraph": (False, True),
    "MultiDiGraph": (True, True),
}
SAME_FRAME = frozenset(
    [
        "copy",
        "sort_values",
        "sort_index",
        "head",
        "tail",
        "query",
        "dropna",
        "drop_duplicates",
        "reset_index",
        "fillna",
        "nlargest",
        "nsmallest",
        "sample",
        "astype",
        "assign",
        "filter",
        "set_index",
        "rename",
    ]
)
