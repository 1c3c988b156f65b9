"""Names of the libraries: what exists here, what its arguments are called, what belongs to which object."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

import networkx as nx

from nl2net.model import Finding
from nl2net.sandbox.language.attributes import HINTS, allowed_names
from nl2net.sandbox.language.library import static_proxies
from nl2net.sandbox.language.linting.context import Context, Rule, repair
from nl2net.sandbox.language.proxies import INSTEAD, ModuleProxy, near_names

# Names that models still write, with the corrected call.
REMOVED = {
    "networkx.info": "print(graph.number_of_nodes(), graph.number_of_edges())",
    "networkx.from_numpy_matrix": "nx.from_numpy_array(matrix)",
    "networkx.to_numpy_matrix": "nx.to_numpy_array(graph)",
    "networkx.OrderedGraph": "nx.Graph()",
    "networkx.OrderedDiGraph": "nx.DiGraph()",
    "networkx.connected_component_subgraphs": "[graph.subgraph(c).copy() for c in nx.connected_components(graph)]",
    "networkx.strongly_connected_component_subgraphs": "nx.strongly_connected_components(graph)",
    "networkx.random_tree": "nx.random_labeled_tree(n, seed=1)",
    "networkx.k_shortest_paths": "list(itertools.islice(nx.shortest_simple_paths(graph, a, b), k))",
    "networkx.louvain_communities": "nx.community.louvain_communities(graph, seed=1)",
    "networkx.girvan_newman": "nx.community.girvan_newman(graph)",
    "networkx.asyn_fluidc": "nx.community.asyn_fluidc(graph, k, seed=1)",
    "networkx.greedy_modularity_communities": "nx.community.greedy_modularity_communities(graph)",
    "networkx.label_propagation_communities": "nx.community.label_propagation_communities(graph)",
    "networkx.modularity": "nx.community.modularity(graph, communities)",
    "networkx.max_clique": "nx.approximation.max_clique(graph)",
    "networkx.minimum_st_edge_cut": "nx.minimum_edge_cut(graph, s, t)",
    "networkx.minimum_st_node_cut": "nx.minimum_node_cut(graph, s, t)",
    "networkx.degree_sequence": "[d for n, d in graph.degree()]",
    "networkx.hits_numpy": "nx.hits(graph)",
    "networkx.pagerank_numpy": "nx.pagerank(graph)",
    "networkx.get_nodes": "graph.nodes",
    "networkx.connected_subgraphs": "nx.connected_components(graph)",
    "networkx.get_shortest_path": "nx.shortest_path(graph, source, target)",
    "networkx.shortest_paths": "nx.all_shortest_paths(graph, source, target)",
    "networkx.remove_node": "graph.remove_node(n)",
    "networkx.add_edge": "graph.add_edge(u, v)",
    "networkx.is_cyclic": "not nx.is_forest(graph)",
    "networkx.has_cycle": "not nx.is_forest(graph)",
    "pandas.Panel": "pd.DataFrame(...)",
    "pandas.np": "np",
    "numpy.float": "float",
    "numpy.int": "int",
    "numpy.object": "object",
    "numpy.str": "str",
    "numpy.product": "np.prod(values)",
    "numpy.in1d": "np.isin(values, others)",
    "numpy.trapz": "np.trapezoid(values)",
    "numpy.NaN": "np.nan",
    "numpy.Inf": "np.inf",
}
GRAPH_SLIPS = {
    "node": "graph.nodes[n]",
    "edge": "graph.edges[u, v]",
    "nodes_iter": "graph.nodes()",
    "edges_iter": "graph.edges()",
    "neighbors_iter": "graph.neighbors(n)",
    "degree_iter": "graph.degree()",
    "add_path": "nx.add_path(graph, nodes)",
    "add_cycle": "nx.add_cycle(graph, nodes)",
    "add_star": "nx.add_star(graph, nodes)",
    "selfloop_edges": "nx.selfloop_edges(graph)",
    "get_node_attributes": 'nx.get_node_attributes(graph, "x")',
    "get_edge_attributes": 'nx.get_edge_attributes(graph, "x")',
    "get_node_data": "graph.nodes[n]",
    "node_attr": "graph.nodes[n]",
    "vertices": "graph.nodes",
    "num_nodes": "graph.number_of_nodes()",
    "num_edges": "graph.number_of_edges()",
    "get_nodes": "graph.nodes",
    "get_edges": "graph.edges",
    "get_neighbors": "graph.neighbors(n)",
    "degrees": "graph.degree()",
    "adjacent": "graph.neighbors(n)",
    "edge_attributes": "graph.edges[u, v]",
}
PROPERTIES = frozenset({"name", "graph", "adj", "succ", "pred"})
FRAME_PROPERTIES = frozenset(
    {"shape", "columns", "index", "dtypes", "values", "T", "size", "ndim", "empty", "loc", "iloc"}
)
CALL_ME = frozenset({"number_of_nodes", "number_of_edges", "is_directed", "is_multigraph", "order"})
DICT_METHODS = frozenset(dir(dict))


def _dotted(context: Context, node: ast.expr) -> tuple[str, str] | None:
    """(dotted module name, last name) of an attribute chain that begins at a module."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not parts or not isinstance(node, ast.Name) or node.id not in context.modules:
        return None
    return context.modules[node.id], ".".join(reversed(parts))


def _resolve(module: str, path: str) -> tuple[Any, str, ModuleProxy | None]:
    """Follow a path through the proxies: the value, or the first missing name and the proxy that lacks it."""
    value: Any = static_proxies().get(module)
    for part in path.split("."):
        if not isinstance(value, ModuleProxy):
            return value, "", None
        if part not in value.proxy_table:
            return None, part, value
        value = value.proxy_table[part]
    return value, "", None


def module_names(context: Context) -> Iterator[Finding]:
    """Every ``nx.``, ``pd.`` and ``np.`` name, on the installed version."""
    for node in ast.walk(context.tree):
        if not isinstance(node, ast.Attribute) or isinstance(context.parent(node), ast.Attribute):
            continue
        found = _dotted(context, node)
        if found is None or found[0] not in static_proxies():
            continue
        _, missing, proxy = _resolve(*found)
        if proxy is None:
            continue
        full = f"{proxy.proxy_name}.{missing}"
        known = REMOVED.get(full) or INSTEAD.get(missing, "")
        near = near_names(missing, proxy.proxy_table)
        short = {"networkx": "nx", "pandas": "pd", "numpy": "np"}.get(proxy.proxy_name, proxy.proxy_name)
        fix = f"Write {known}." if full in REMOVED else known
        fix = fix or (
            f"Use {' or '.join(f'{short}.{n}' for n in near)}." if near else f"{short}.{missing} does not exist."
        )
        yield repair("unknown-name", node, f"{full} is not available here", fix)


@cache
def _signature(name: str, space: str) -> inspect.Signature | None:
    owner: Any = nx
    for part in space.split(".")[1:]:
        owner = getattr(owner, part, None)
    function = getattr(owner, name, None)
    if function is None or isinstance(function, type):
        return None
    try:
        return inspect.signature(getattr(function, "orig_func", function))
    except (TypeError, ValueError):
        return None


def keyword_arguments(context: Context) -> Iterator[Finding]:
    """Keywords and number of arguments of networkx functions, by the signature of the wrapped original."""
    for call in context.calls():
        found = _dotted(context, call.func) if isinstance(call.func, ast.Attribute) else None
        if found is None or not found[0].startswith("networkx"):
            continue
        space, _, name = f"{found[0]}.{found[1]}".rpartition(".")
        signature = _signature(name, space)
        if signature is not None:
            yield from _check_call(call, name, signature)


def _check_call(call: ast.Call, name: str, signature: inspect.Signature) -> Iterator[Finding]:
    parameters = signature.parameters
    kinds = {p.kind for p in parameters.values()}
    shown = f"nx.{name}{_short(signature)}"
    for keyword in call.keywords:
        if keyword.arg and keyword.arg not in parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
            near = near_names(keyword.arg, parameters)
            word = f"Use {near[0]}=; the call is {shown}." if near else f"The call is {shown}."
            yield repair("keyword-argument", call, f"{name} has no argument {keyword.arg!r}", word)
            return
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return
    try:
        signature.bind(*call.args, **{k.arg: k for k in call.keywords if k.arg})
    except TypeError as error:
        yield repair("arguments", call, f"{name}: {error}", f"The call is {shown}.")


def _short(signature: inspect.Signature) -> str:
    parts = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name.startswith("backend"):
            continue
        empty = parameter.default is inspect.Parameter.empty
        parts.append(parameter.name if empty else f"{parameter.name}={parameter.default!r}")
    return "(" + ", ".join(parts) + ")"


def members(context: Context) -> Iterator[Finding]:
    """Attributes on the wrong object: of a graph, a view, a node, a dictionary of attributes, a table."""
    for node in ast.walk(context.tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        role = context.role(node.value)
        if role is None:
            continue
        if role.kind == "graph":
            yield from _graph_member(context, node, bool(role.directed))
        elif role.kind in ("node_attrs", "edge_attrs", "dict") and node.attr not in DICT_METHODS:
            if role.kind != "dict" and node.attr not in ("most_common",):
                fix = f'Write {context.text(node.value)}["{node.attr}"].'
                yield repair("attribute-access", node, f"attributes are read by key, not as .{node.attr}", fix)
        elif role.kind == "node":
            yield from _node_member(context, node)
        elif role.kind == "degrees" and node.attr in ("items", "values", "keys", "get"):
            fix = f"Write dict({context.text(node.value)}).{node.attr}(...)."
            yield repair("view-method", node, f"a degree view has no .{node.attr}", fix)
        elif role.kind in ("nodes", "edges") and node.attr == "values" and role.kind == "edges":
            yield repair(
                "view-method", node, "use the data of the edges", f"Write {context.graph_name}.edges(data=True)."
            )
        elif role.kind == "frame" and node.attr.startswith("to_") and node.attr in HINTS:
            yield repair(
                "frame-method", node, f".{node.attr} is not available here", HINTS[node.attr].capitalize() + "."
            )


def _graph_member(context: Context, node: ast.Attribute, directed: bool) -> Iterator[Finding]:
    name, graph = node.attr, context.text(node.value)
    members_here = allowed_names(nx.MultiDiGraph if directed else nx.MultiGraph)
    parent = context.parent(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    if name in members_here:
        if called and name in PROPERTIES:
            yield repair("call-of-property", node, f"{graph}.{name} is not called", f"Write {graph}.{name}.")
        elif not called and name in CALL_ME and not isinstance(parent, ast.keyword | ast.Call):
            yield repair("missing-call", node, f"{graph}.{name} must be called", f"Write {graph}.{name}().")
        return
    if name in GRAPH_SLIPS:
        fix = f"Write {GRAPH_SLIPS[name].replace('graph', graph)}."
    elif name in allowed_names(nx.DiGraph):
        fix = f"This graph is undirected: write {graph}.neighbors(n) or {graph}.degree(n)."
    elif name in static_proxies()["networkx"].proxy_table:
        fix = f"Write nx.{name}({graph}, ...)."
    elif (key := f"networkx.{name}") in REMOVED:
        fix = f"Write {REMOVED[key]}."
    else:
        near = near_names(name, members_here)
        fix = f"Use {' or '.join(f'{graph}.{n}' for n in near)}." if near else f"A graph has no {name}."
    yield repair("graph-method", node, f"a graph has no attribute {name!r}", fix)


def _node_member(context: Context, node: ast.Attribute) -> Iterator[Finding]:
    text, graph = context.text(node.value), context.graph_name
    if node.attr in dir(str) or node.attr in dir(int):
        return
    fixes = {
        "degree": f"{graph}.degree({text})",
        "neighbors": f"{graph}.neighbors({text})",
        "data": f"{graph}.nodes[{text}]",
        "attributes": f"{graph}.nodes[{text}]",
    }
    fix = fixes.get(node.attr, f'{graph}.nodes[{text}]["{node.attr}"]')
    yield repair("node-is-a-name", node, f"{text} is only the name of a node", f"Write {fix}.")


def frame_calls(context: Context) -> Iterator[Finding]:
    """Properties of tables that are called."""
    for call in context.calls():
        named = isinstance(call.func, ast.Attribute) and call.func.attr in FRAME_PROPERTIES
        if named and isinstance(call.func, ast.Attribute) and context.kind(call.func.value) == "frame":
            text = context.text(call.func)
            yield repair("call-of-property", call, f"{text} is not called", f"Write {text}.")


RULES: tuple[Rule, ...] = (module_names, keyword_arguments, members, frame_calls)
