"""Names of the data: attributes against the schema, owners, kinds, placeholders."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator

from nl2net.model import AttributeSchema, Finding
from nl2net.sandbox.language.linting.context import Context, Rule, caveat, repair

ROLE_WORDS = {
    "capacity": ("capacity", "bandwidth", "bw", "speed", "rate", "throughput"),
    "traffic": ("bytes", "traffic", "packets", "volume", "load", "usage", "utilization"),
    "distance": ("distance", "length", "km", "miles"),
    "cost": ("cost", "metric", "weight", "price"),
    "latency": ("latency", "delay", "rtt", "ms"),
    "name": ("name", "label", "hostname", "id", "title"),
    "kind": ("kind", "type", "role", "class", "category"),
    "address": ("ip", "address", "addr", "ipv4", "ip_address"),
    "prefix": ("prefix", "subnet", "network", "cidr"),
    "site": ("site", "city", "location", "country", "region", "pop", "place"),
}
WEIGHT_KEYWORDS = frozenset({"weight", "distance", "capacity"})
PLACEHOLDER = re.compile(
    r"(?<![A-Za-z0-9_])((?:NODE|PREFIX|ADDRESS|IP|EDGE|LINK|SITE|NAME|VALUE|TEXT)_\d+)(?![A-Za-z0-9_])"
)
NO_ENTITY = "The question names no entity: compute the answer over the whole network, without such a name."
# Functions whose weight attribute is "weight" (or "capacity") unless the program says otherwise.
DEFAULT_WEIGHT = {
    "dijkstra_path": "weight",
    "dijkstra_path_length": "weight",
    "single_source_dijkstra": "weight",
    "single_source_dijkstra_path_length": "weight",
    "all_pairs_dijkstra_path_length": "weight",
    "bellman_ford_path": "weight",
    "minimum_spanning_tree": "weight",
    "maximum_spanning_tree": "weight",
    "minimum_spanning_edges": "weight",
    "maximum_flow": "capacity",
    "maximum_flow_value": "capacity",
    "minimum_cut": "capacity",
    "minimum_cut_value": "capacity",
}


def nearest_attributes(word: str, candidates: Iterable[AttributeSchema]) -> list[str]:
    """Up to three attributes that are near by spelling or by role, best first."""
    folded = word.casefold().replace("_", "")
    scored = []
    for attribute in candidates:
        name = attribute.public_name
        plain = name.casefold().replace("_", "")
        score = difflib.SequenceMatcher(None, folded, plain).ratio()
        if folded and (folded in plain or plain in folded):
            score += 0.4
        if any(folded == w.replace("_", "") or w in folded.split() for w in ROLE_WORDS.get(attribute.role, ())):
            score += 0.8
        scored.append((score, name))
    return [name for score, name in sorted(scored, key=lambda s: (-s[0], s[1])) if score >= 0.3][:3]


def _judge(context: Context, node: ast.AST, name: str, owner: str, how: str) -> Iterator[Finding]:
    """One use of an attribute name; ``how`` is a template of the corrected expression."""
    if name in context.written or not context.attributes("node") + context.attributes("edge"):
        return
    found = context.schema.attribute(owner, name)
    if found is not None:
        if how.endswith("WEIGHT") and found.count < found.total:
            text = f"{name} is present on {found.count} of {found.total} {owner}s; the others count as 1"
            yield caveat("weight-coverage", node, text, f"Use only {owner}s that have {name!r}.")
        return
    other = "edge" if owner == "node" else "node"
    near = nearest_attributes(name, context.attributes(owner))
    known = ", ".join(repr(a.public_name) for a in context.attributes(owner)[:8])
    if context.schema.attribute(other, name) is not None:
        right = {
            "edge": f'{name!r} is an edge attribute: for u, v, d in {context.graph_name}.edges(data=True): d["{name}"]',
            "node": f'{name!r} is a node attribute: {context.graph_name}.nodes[n]["{name}"]',
        }[other]
        yield repair("wrong-owner", node, f"{name!r} belongs to {other}s, not to {owner}s", right + ".")
    elif near:
        fix = f"Use {' or '.join(map(repr, near))} instead of {name!r}."
        yield repair("unknown-attribute", node, f"no {owner} attribute {name!r}; nearest: {', '.join(near)}", fix)
    else:
        fix = f"{owner.capitalize()} attributes are: {known}. If none fits: cannot_answer(reason)."
        yield repair("unknown-attribute", node, f"no {owner} attribute {name!r}", fix)


def attribute_reads(context: Context) -> Iterator[Finding]:
    """``d["x"]`` and ``d.get("x")`` where ``d`` holds the attributes of a node or an edge."""
    for node in ast.walk(context.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            name, holder = node.slice, node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "get"
            and node.args
        ):
            name, holder = node.args[0], node.func.value
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            name, holder = node.left, node.comparators[0]
        else:
            continue
        kind = context.kind(holder)
        if kind in ("node_attrs", "edge_attrs") and isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield from _judge(context, node, name.value, kind.removesuffix("_attrs"), "d[...]")
            if isinstance(node, ast.Call) and len(node.args) == 2:
                yield from _default_zero(context, node, name.value, kind.removesuffix("_attrs"))


def _default_zero(context: Context, node: ast.Call, name: str, owner: str) -> Iterator[Finding]:
    found = context.schema.attribute(owner, name)
    default = node.args[1]
    is_zero = isinstance(default, ast.Constant) and default.value == 0 and default.value is not False
    if found is not None and is_zero and found.count < found.total:
        yield caveat(
            "missing-as-zero", node, f"{name} is present on {found.count} of {found.total} {owner}s; 0 elsewhere"
        )


def _constant(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def attribute_arguments(context: Context) -> Iterator[Finding]:
    """``weight="x"``, ``data="x"``, ``get_node_attributes(graph, "x")`` and their kin."""
    for call in context.calls():
        if not isinstance(call.func, ast.Attribute):
            continue
        name = call.func.attr
        keywords = {k.arg: k.value for k in call.keywords if k.arg}
        holder = context.kind(call.func.value)
        for keyword in WEIGHT_KEYWORDS & keywords.keys():
            text = _constant(keywords[keyword])
            reads = is_networkx(context, call.func.value) or holder in ("graph", "degrees")
            if text is not None and reads and not name.startswith(("from_", "add_", "set_", "relabel")):
                yield from _judge(context, keywords[keyword], text, "edge", "WEIGHT")
        if "data" in keywords and _constant(keywords["data"]) and name in ("nodes", "edges", "in_edges", "out_edges"):
            owner = "node" if name == "nodes" else "edge"
            yield from _judge(context, call, _constant(keywords["data"]) or "", owner, "data")
        if name in ("get_node_attributes", "get_edge_attributes"):
            text = _constant(call.args[1]) if len(call.args) > 1 else _constant(keywords.get("name"))
            if text:
                yield from _judge(context, call, text, name.split("_")[1], "get")
        if name in DEFAULT_WEIGHT and is_networkx(context, call.func.value):
            yield from _default_weight(context, call, keywords)


def is_networkx(context: Context, node: ast.expr) -> bool:
    """Whether an expression is networkx or one of its parts."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and context.modules.get(node.id, "").startswith("networkx")


def _default_weight(context: Context, call: ast.Call, keywords: dict[str, ast.expr]) -> Iterator[Finding]:
    assert isinstance(call.func, ast.Attribute)  # checked by the caller
    wanted = DEFAULT_WEIGHT[call.func.attr]
    given = wanted in keywords or len(call.args) > (3 if "path" in call.func.attr or wanted == "capacity" else 1)
    known = context.schema.attribute("edge", wanted) is not None or wanted in context.written
    numbers = [a for a in context.attributes("edge") if a.type in ("integer", "number")]
    if given or known or not numbers or context.kind(call.args[0] if call.args else call) != "graph":
        return
    near = nearest_attributes(wanted, numbers) or [numbers[0].public_name]
    fix = f'Write {wanted}="{near[0]}" in {call.func.attr}(...).'
    word = "every link is unlimited" if wanted == "capacity" else "every link counts as 1"
    yield repair("default-weight", call, f"edges have no {wanted!r}: without {wanted}= {word}", fix)


def kind_literals(context: Context) -> Iterator[Finding]:
    """Literals compared with the kind of a node or edge, or with a shared enumeration."""
    for node in ast.walk(context.tree):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        left, right = node.left, node.comparators[0]
        for reading, other in ((left, right), (right, left)):
            owner, attribute = _read_attribute(context, reading)
            for text in _literals(other) if attribute is not None else ():
                yield from _judge_kind(context, node, owner, attribute, text)


def _literals(node: ast.expr) -> Iterator[str]:
    for part in node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else [node]:
        text = _constant(part)
        if text is not None:
            yield text


def _read_attribute(context: Context, node: ast.expr) -> tuple[str, AttributeSchema | None]:
    if isinstance(node, ast.Subscript):
        holder, name = node.value, _constant(node.slice)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        holder, name = node.func.value, _constant(node.args[0])
    else:
        return "", None
    role = context.role(holder)
    if role is None or name is None:
        return "", None
    owner = role.owner if role.kind in ("frame", "row") else role.kind.removesuffix("_attrs")
    return owner, context.schema.attribute(owner, name) if owner in ("node", "edge") else None


def _judge_kind(
    context: Context, node: ast.AST, owner: str, attribute: AttributeSchema | None, text: str
) -> Iterator[Finding]:
    if attribute is None or PLACEHOLDER.search(text):
        return
    kinds = context.schema.node_kinds if owner == "node" else context.schema.edge_kinds
    known = [str(v) for v in attribute.values] or (list(kinds) if attribute.role == "kind" else [])
    if not known or text in known:
        return
    near = difflib.get_close_matches(text, known, n=3, cutoff=0.4) or known[:5]
    fix = f"{attribute.public_name} is one of {', '.join(map(repr, near))}."
    yield repair("unknown-kind", node, f"no {owner} has {attribute.public_name} {text!r}", fix)


def _is_own(context: Context, node: ast.AST, word: str) -> bool:
    """A name that the program itself assigns, or a text that the schema shares."""
    shared = {str(value) for attribute in context.schema.attributes for value in attribute.values}
    shared.update(context.schema.node_kinds, context.schema.edge_kinds)
    return word in shared or (isinstance(node, ast.Name) and word in context.assigned)


def placeholders(context: Context) -> Iterator[Finding]:
    """Placeholders that the question does not have, and entities of the question that nobody uses."""
    given = set(context.facts.placeholders)
    used = set()
    for node in ast.walk(context.tree):
        text = node.id if isinstance(node, ast.Name) else _constant(node) if isinstance(node, ast.expr) else None
        for found in PLACEHOLDER.findall(text or ""):
            used.add(found)
            if found not in given and not _is_own(context, node, found):
                fix = f"Use {' or '.join(sorted(given))}." if given else NO_ENTITY
                yield repair("unknown-placeholder", node, f"the question has no {found}", fix)
    for word in sorted(given):
        if word not in used and not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", context.source):
            fix = f'The question names "{word}"; the program must use it.'
            yield repair(
                "entity-unused",
                context.tree.body[0] if context.tree.body else context.tree,
                f"{word} is never used",
                fix,
            )


RULES: tuple[Rule, ...] = (attribute_reads, attribute_arguments, kind_literals, placeholders)
