"""Algorithms that do not suit this class of graph: direction, parallel links, several parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nl2net.model import Finding
from nl2net.sandbox.language.linting.context import Context, Rule, caveat, repair
from nl2net.sandbox.language.linting.roles import Role

NOT_MULTI = frozenset(
    [
        "stoer_wagner",
        "clustering",
        "core_number",
        "shortest_simple_paths",
        "k_edge_augmentation",
        "eigenvector_centrality",
        "max_weight_matching",
        "local_bridges",
        "maximum_flow",
        "maximum_flow_value",
        "minimum_cut",
        "minimum_cut_value",
        "k_core",
        "k_truss",
        "average_clustering",
        "closeness_vitality",
        "square_clustering",
        "katz_centrality",
        "onion_layers",
        "rich_club_coefficient",
        "gomory_hu_tree",
    ]
)
NOT_DIRECTED = frozenset(
    [
        "bridges",
        "has_bridges",
        "local_bridges",
        "articulation_points",
        "connected_components",
        "number_connected_components",
        "is_connected",
        "node_connected_component",
        "biconnected_components",
        "biconnected_component_edges",
        "is_biconnected",
        "minimum_spanning_tree",
        "maximum_spanning_tree",
        "minimum_spanning_edges",
        "core_number_undirected",
        "triangles_all",
        "stoer_wagner",
        "k_edge_components",
        "max_weight_matching",
        "is_forest_undirected",
        "cycle_basis",
        "chain_decomposition",
        "triangles",
        "find_cliques",
    ]
) - {"core_number_undirected", "triangles_all", "is_forest_undirected"}
NEEDS_DIRECTED = frozenset(
    [
        "strongly_connected_components",
        "number_strongly_connected_components",
        "weakly_connected_components",
        "number_weakly_connected_components",
        "is_strongly_connected",
        "is_weakly_connected",
        "topological_sort",
        "dag_longest_path",
        "dag_longest_path_length",
        "condensation",
        "transitive_reduction",
        "topological_generations",
    ]
)
NEEDS_CONNECTED = frozenset(
    ["diameter", "eccentricity", "center", "periphery", "radius", "average_shortest_path_length", "barycenter"]
)
PLAUSIBLE_IN_PARTS = frozenset({"closeness_centrality", "global_efficiency", "harmonic_centrality"})
IGNORES_PARALLEL = frozenset({"edge_connectivity", "edge_disjoint_paths", "minimum_edge_cut", "node_connectivity"})
COLLAPSE = (
    "simple = nx.Graph(); for u, v, d in {g}.edges(data=True): add d[capacity] to simple[u][v] "
    "(parallel links are summed), then nx.{f}(simple)"
)
WEAK = {
    "connected_components": "weakly_connected_components",
    "number_connected_components": "number_weakly_connected_components",
    "is_connected": "is_weakly_connected",
}


def _network_calls(context: Context) -> Iterator[tuple[ast.Call, str, Role]]:
    for call in context.calls():
        if isinstance(call.func, ast.Attribute) and call.args:
            role = context.role(call.args[0])
            if role is not None and role.kind == "graph":
                yield call, call.func.attr, role


def classes(context: Context) -> Iterator[Finding]:
    """Functions against direction and multiplicity."""
    for call, name, role in _network_calls(context):
        graph = context.text(call.args[0])
        if role.multi and name in NOT_MULTI:
            fix = COLLAPSE.format(g=graph, f=name)
            yield repair("not-for-multigraphs", call, f"{name} does not take parallel links", f"Build {fix}.")
        if role.directed and name in NOT_DIRECTED:
            instead = f"nx.{WEAK[name]}({graph})" if name in WEAK else f"nx.{name}({graph}.to_undirected())"
            yield repair("not-for-directed", call, f"{name} is for undirected graphs", f"Write {instead}.")
        if role.directed is False and name in NEEDS_DIRECTED:
            plain = name.replace("strongly_", "").replace("weakly_", "")
            fix = f"Write nx.{plain}({graph})." if plain != name else "This graph has no direction."
            yield repair("needs-directed", call, f"{name} is for directed graphs", fix)
        if role.multi and name == "all_simple_paths":
            yield caveat("parallel-paths", call, "one path for each combination of parallel links is listed")
        if role.multi and name in IGNORES_PARALLEL:
            yield caveat("parallel-ignored", call, f"{name} counts parallel links once")
        if role.multi and name == "density":
            yield caveat("density-multi", call, "density counts parallel links and may exceed 1")


def methods(context: Context) -> Iterator[Finding]:
    """Degree of a multigraph counts links; direction is lost where two directions differ."""
    for call in context.calls():
        if not isinstance(call.func, ast.Attribute):
            continue
        role = context.role(call.func.value)
        if role is None or role.kind != "graph":
            continue
        name = call.func.attr
        if name == "degree" and role.multi:
            yield caveat("degree-counts-links", call, "degree counts links, not neighbours")
        if name == "degree" and context.schema.self_loops:
            yield caveat("self-loops", call, "a self-loop adds 2 to the degree")
        if name == "to_undirected" and role.directed:
            yield caveat("direction-lost", call, "where two directions have other values, one side is kept")


_COUNTING = ("bridge", "connectivity", "cut", "degree", "edge", "flow", "size", "density", "components_of", "rank")


def _counts_links(context: Context) -> bool:
    """Whether a program reads link attributes, or calls something that parallel links change."""
    names = {attribute.public_name for attribute in context.attributes("edge")} | {"weight", "capacity"}
    words = {n.value for n in ast.walk(context.tree) if isinstance(n, ast.Constant) and type(n.value) is str}
    calls = {n.attr for n in ast.walk(context.tree) if isinstance(n, ast.Attribute)}
    return bool(words & names) or any(part in call for call in calls for part in _COUNTING)


def collapses(context: Context) -> Iterator[Finding]:
    """``nx.Graph(multigraph)`` and edge lists without a class drop parallel links."""
    for call, name, role in _network_calls(context):
        if name in ("Graph", "DiGraph") and role.multi:
            fix = "Sum the capacity of parallel links into one edge of nx.Graph() instead."
            # Where no link attribute is read, only the pairs matter, and nothing is lost.
            make = repair if _counts_links(context) else caveat
            yield make("parallel-dropped", call, f"nx.{name}(multigraph) keeps one of several parallel links", fix)
    for call in context.calls():
        named = isinstance(call.func, ast.Attribute) and call.func.attr == "from_pandas_edgelist"
        multi = context.schema.graph_class.multi
        if named and multi and not any(k.arg == "create_using" for k in call.keywords):
            fix = "Pass create_using=nx.MultiGraph, or sum parallel links first."
            yield repair("parallel-dropped", call, "without create_using parallel links vanish", fix)


def parts(context: Context) -> Iterator[Finding]:
    """Distances on a network of several parts."""
    for call, name, _ in _network_calls(context):
        whole = isinstance(call.args[0], ast.Name) and call.args[0].id == context.graph_name
        if context.schema.components < 2 or not whole:
            continue
        count = context.schema.components
        if name in NEEDS_CONNECTED:
            graph = context.text(call.args[0])
            fix = (
                f"Compute it for each part: for c in nx.connected_components({graph}): nx.{name}({graph}.subgraph(c))."
            )
            yield repair("disconnected", call, f"{name} needs a connected graph; this one has {count} parts", fix)
        if name in PLAUSIBLE_IN_PARTS:
            yield caveat("disconnected", call, f"the network has {count} parts; {name} compares across them")


RULES: tuple[Rule, ...] = (classes, methods, collapses, parts)
