"""What a program does with the question: returns, changes, seeds, size, order and direction of edges."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nl2net.model import Finding, Library
from nl2net.sandbox.language.linting.context import Context, Rule, caveat, repair

ADDRESS_PART = re.compile(r"\A\d{1,3}(\.\d{1,3}){1,3}\.?\Z")
WRITERS = frozenset(
    [
        "add_node",
        "add_edge",
        "add_nodes_from",
        "add_edges_from",
        "remove_node",
        "remove_edge",
        "remove_nodes_from",
        "remove_edges_from",
        "clear",
        "add_weighted_edges_from",
    ]
)
SEEDED = frozenset(
    [
        "louvain_communities",
        "asyn_lpa_communities",
        "asyn_fluidc",
        "spring_layout",
        "random_layout",
        "maximal_independent_set",
        "kernighan_lin_bisection",
        "approximate_current_flow_betweenness_centrality",
        "simulated_annealing_tsp",
        "threshold_accepting_tsp",
        "gnp_random_graph",
        "erdos_renyi_graph",
        "barabasi_albert_graph",
        "double_edge_swap",
        "watts_strogatz_graph",
        "random_regular_graph",
    ]
)
LARGE = 2_000
EXPECTED = {
    "number": frozenset({"list", "dict", "generator", "tuple", "nodes", "edges", "degrees", "graph", "node_attrs"}),
    "list": frozenset({"number", "bool", "graph"}),
    "text": frozenset({"number", "list", "dict", "generator", "graph", "nodes", "edges", "degrees"}),
    "table": frozenset({"number", "bool", "text", "graph"}),
    "graph": frozenset({"number", "bool", "text", "list", "dict", "generator", "nodes", "edges", "degrees"}),
}
MEANT = {
    "number": "Return one number, for example len(result) or sum(values).",
    "list": "Return a list: return sorted(result).",
    "text": "Return one text, for example the name of the node.",
    "table": "Return a list of dictionaries or a DataFrame.",
    "graph": "Return the graph itself: return graph.",
}


def _returns(context: Context) -> list[ast.Return]:
    entry = context.entry
    if entry is None:
        return []
    found: list[ast.Return] = []
    stack: list[ast.AST] = list(entry.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Return):
            found.append(node)
        stack.extend(ast.iter_child_nodes(node))
    return sorted(found, key=lambda r: r.lineno)


def _ends(statements: list[ast.stmt]) -> bool:
    """Whether every way through the statements returns or raises."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return True
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.With):
        return _ends(last.body)
    if isinstance(last, ast.Try):
        body = _ends(last.body) or (bool(last.orelse) and _ends(last.orelse))
        return (body and all(_ends(h.body) for h in last.handlers)) or _ends(last.finalbody)
    if isinstance(last, ast.While):
        return isinstance(last.test, ast.Constant) and bool(last.test.value)
    return isinstance(last, ast.Expr) and _is_signal(last.value)


def _is_signal(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("cannot_answer", "ask_user")
    )


def returns(context: Context) -> Iterator[Finding]:
    """No return, a way without a return, a constant, printing in place of returning."""
    entry = context.entry
    if entry is None:
        return
    found = [r for r in _returns(context) if r.value is not None]
    prints = any(isinstance(n, ast.Name) and n.id == "print" for n in ast.walk(entry))
    if not found:
        if any(_is_signal(n) for n in ast.walk(entry) if isinstance(n, ast.expr)):
            return
        fix = "Return the value instead of printing it." if prints else "End answer() with: return result."
        yield repair("no-return", entry, "answer() returns nothing", fix)
        return
    if not _ends(entry.body):
        yield repair(
            "missing-return", entry.body[-1], "one way through answer() returns nothing", "Return a value at the end."
        )
    for node in found:
        yield from _constant_return(context, node, alone=len(found) == 1)
        yield from _return_type(context, node)


def _constant_return(context: Context, node: ast.Return, *, alone: bool) -> Iterator[Finding]:
    entry = context.entry
    assert entry is not None and node.value is not None  # checked by the caller
    uses = {n.id for n in ast.walk(entry) if isinstance(n, ast.Name)}
    names = {a.arg for a in entry.args.args}
    works = any(isinstance(n, ast.For | ast.While) for n in ast.walk(entry))
    constant = isinstance(node.value, ast.Constant) and node.value.value is not None
    if alone and constant and not names & uses and not works and not context.facts.is_change:
        yield repair(
            "constant-return", node, "the answer does not depend on the data", "Compute it from the arguments."
        )


def _return_type(context: Context, node: ast.Return) -> Iterator[Finding]:
    assert node.value is not None  # checked by the caller
    wanted = context.facts.expected
    kind = context.kind(node.value)
    if isinstance(node.value, ast.Constant) and node.value.value is None:
        return
    if kind in EXPECTED.get(wanted, frozenset()):
        text = f"the question asks for a {wanted}; this is a {kind}"
        yield repair("return-type", node, text, MEANT[wanted])
    elif kind == "generator":
        text = context.text(node.value)
        yield repair("return-generator", node, f"{text} gives values one by one", f"Write return list({text}).")


def changes(context: Context) -> Iterator[Finding]:
    """A change that nobody hands back."""
    found = [r for r in _returns(context) if r.value is not None]
    if not context.facts.is_change or not found or context.library is not Library.NETWORKX:
        return
    if not any(context.kind(r.value) == "graph" for r in found if r.value is not None):
        writes = any(isinstance(c.func, ast.Attribute) and c.func.attr in WRITERS for c in context.calls())
        word = "is changed but not returned" if writes else "is not returned"
        fix = f"End with: return {context.graph_name}."
        yield repair("change-not-returned", found[-1], f"the question asks for a change; the graph {word}", fix)


def replaced_input(context: Context) -> Iterator[Finding]:
    """Sample data in place of the network."""
    for node in ast.walk(context.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and not node.value.args:
            names = [t.id for t in node.targets if isinstance(t, ast.Name)]
            fresh = isinstance(node.value.func, ast.Attribute) and node.value.func.attr in (
                "Graph", "DiGraph", "MultiGraph", "MultiDiGraph", "karate_club_graph",
            )  # fmt: skip
            if context.graph_name in names and fresh:
                fix = f"Leave out this line: {context.graph_name} is already loaded."
                yield repair("input-replaced", node, "the network is replaced by an empty one", fix)


def large_loops(context: Context) -> Iterator[Finding]:
    """All pairs of nodes on a large network."""
    if context.schema.nodes <= LARGE:
        return
    pairs = context.schema.nodes**2 // 2
    for node in ast.walk(context.tree):
        if isinstance(node, ast.For) and _over_nodes(context, node.iter):
            for inner in ast.walk(node):
                if isinstance(inner, ast.For) and inner is not node and _over_nodes(context, inner.iter):
                    text = f"about {pairs:,} pairs of nodes are visited"
                    yield repair("all-pairs", inner, text, "Loop over the edges, or over the neighbors of a node.")
                    break
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if name in ("combinations", "permutations") and node.args and _over_nodes(context, node.args[0]):
                yield repair("all-pairs", node, f"about {pairs:,} pairs of nodes are visited", "Loop over the edges.")
            elif name.startswith("all_pairs_"):
                text = f"{name} computes about {pairs:,} pairs"
                yield repair("all-pairs", node, text, "Use single_source_... from the nodes that matter.")


def _over_nodes(context: Context, node: ast.expr) -> bool:
    role = context.role(node)
    if role is None:
        return False
    return role.kind in ("nodes", "graph") or (
        role.kind == "list" and role.parts[:1] == (role.item(),) and _is_node_list(context, node)
    )


def _is_node_list(context: Context, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and bool(node.args) and context.kind(node.args[0]) in ("nodes", "graph")


def seeds(context: Context) -> Iterator[Finding]:
    """Random algorithms without a seed."""
    for call in context.calls():
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name in SEEDED and not any(k.arg == "seed" for k in call.keywords):
            yield caveat("seed-missing", call, f"{name} is random; the seed of the run is used", "Pass seed=1.")


def edge_direction(context: Context) -> Iterator[Finding]:
    """The order of the ends of an undirected edge read as sender and receiver."""
    if context.schema.graph_class.directed or not context.facts.asks_direction:
        return
    for node in ast.walk(context.tree):
        if isinstance(node, ast.For | ast.comprehension):
            role = context.role(node.iter)
            item = role.item() if role is not None else None
            ends = item is not None and item.kind == "tuple" and len(item.parts) >= 2
            if (
                role is not None
                and item is not None
                and ends
                and all(p is not None and p.kind == "node" for p in item.parts[:2])
            ):
                fix = "The links have no direction: treat both ends alike, or cannot_answer(reason)."
                yield repair("edge-direction", node.iter, "the order of the two ends means nothing here", fix)


def addresses(context: Context) -> Iterator[Finding]:
    """Address prefixes as text, addresses sorted as text."""
    for call in context.calls():
        if not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        first = call.args[0]
        text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        placeholder = bool(re.fullmatch(r"PREFIX_\d+", text))
        if call.func.attr in ("startswith", "contains", "match") and (ADDRESS_PART.match(text) or placeholder):
            if text.count(".") == 3 and text.endswith(".") and call.func.attr == "startswith":
                continue
            fix = "Write ipaddress.ip_address(value) in ipaddress.ip_network(prefix)."
            message = f"{text!r} as text also matches other addresses"
            yield repair("address-as-text", call, message, fix)


def address_order(context: Context) -> Iterator[Finding]:
    """``sorted``, ``max`` and ``min`` of addresses and numbered names compare text."""
    shaped = {a.public_name for a in context.schema.attributes if a.role in ("address", "prefix")}
    for call in context.calls():
        if not isinstance(call.func, ast.Name) or call.func.id not in ("sorted", "max", "min") or not call.args:
            continue
        keyed = next((k.value for k in call.keywords if k.arg == "key"), None)
        looked = keyed if isinstance(keyed, ast.Lambda) else call.args[0] if keyed is None else None
        if looked is None:
            continue
        body = looked.body if isinstance(looked, ast.Lambda) else getattr(looked, "elt", None)
        name = body.slice.value if isinstance(body, ast.Subscript) and isinstance(body.slice, ast.Constant) else None
        if name in shaped:
            fix = "Sort with key=natural_key, or key=ipaddress.ip_address."
            yield caveat("text-order", call, f"{name} is ordered as text", fix)


RULES: tuple[Rule, ...] = (
    returns,
    changes,
    replaced_input,
    large_loops,
    seeds,
    edge_direction,
    addresses,
    address_order,
)
