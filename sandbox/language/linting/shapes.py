"""Slips about shapes: what ``max`` compares, how many values a loop gets, what an index may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nl2net.model import Finding
from nl2net.sandbox.language.linting.context import Context, Rule, repair
from nl2net.sandbox.language.linting.roles import SIZED, Role


def extremes(context: Context) -> Iterator[Finding]:
    """``max(graph.degree())`` compares names, ``max(d)`` compares keys, ``sorted(d.items())`` sorts by key."""
    for call in context.calls():
        if not isinstance(call.func, ast.Name) or call.func.id not in ("max", "min", "sorted") or len(call.args) != 1:
            continue
        if any(k.arg == "key" for k in call.keywords):
            continue
        role, argument, name = context.role(call.args[0]), context.text(call.args[0]), call.func.id
        item = role.item() if role is not None else None
        cut = name != "sorted" or _is_cut(context, call) or _reversed(call)
        if role is None or not cut:
            continue
        if (
            role.kind == "dict"
            and len(role.parts) == 2
            and role.parts[1] is not None
            and role.parts[1].kind == "number"
        ):
            fix = f"Write {name}({argument}, key={argument}.get)."
            if not isinstance(call.args[0], ast.Name):
                fix = f"Write scores = {argument}, then {name}(scores, key=scores.get)."
            yield repair("compares-keys", call, f"{name} of a dictionary compares its keys, not its values", fix)
        elif item is not None and item.kind == "tuple" and _scored_pair(item):
            fix = f"Write {name}({argument}, key=lambda pair: pair[1])."
            if role.kind == "degrees" and name != "sorted":
                fix += f" The node alone is {name}({argument}, key=lambda pair: pair[1])[0]."
            yield repair("compares-names", call, f"{name} of (node, value) pairs compares the names first", fix)
        elif item is not None and item.kind == "tuple" and _ends_in_attributes(item):
            fix = f'Write {name}({argument}, key=lambda item: item[-1]["attribute"]).'
            yield repair("compares-names", call, f"{name} compares the names of nodes, not an attribute", fix)


def _ends_in_attributes(item: Role) -> bool:
    last = item.parts[-1] if item.parts else None
    return last is not None and last.kind in ("node_attrs", "edge_attrs")


def _scored_pair(item: Role) -> bool:
    last = item.parts[-1] if len(item.parts) == 2 else None
    return last is not None and last.kind == "number" and item.parts[0] is not None and item.parts[0].kind != "number"


def _is_cut(context: Context, call: ast.Call) -> bool:
    parent = context.parent(call)
    return isinstance(parent, ast.Subscript) and parent.value is call


def _reversed(call: ast.Call) -> bool:
    return any(
        k.arg == "reverse" and isinstance(k.value, ast.Constant) and k.value.value is True for k in call.keywords
    )


def unpacking(context: Context) -> Iterator[Finding]:
    """The number of targets of a loop against what the iterable gives."""
    for node in ast.walk(context.tree):
        if not isinstance(node, ast.For | ast.comprehension) or not isinstance(node.target, ast.Tuple):
            continue
        role = context.role(node.iter)
        item = role.item() if role is not None else None
        targets = node.target.elts
        if role is None or item is None or any(isinstance(t, ast.Starred) for t in targets):
            continue
        if item.kind == "tuple" and len(item.parts) != len(targets):
            yield _wrong_count(context, node, role, item)
        elif item.kind == "node" and len(targets) in (2, 3) and role.kind in ("nodes", "graph", "neighbors", "dict"):
            text = context.text(node.iter)
            fix = {
                "nodes": f"Write for n, d in {_bare(text)}(data=True).",
                "graph": f"Write for n, d in {text}.nodes(data=True).",
            }.get(role.kind, f"Write for key, value in {text}.items().")
            yield repair("unpack", node.iter, f"{text} gives one value at a time, not {len(targets)}", fix)


def _bare(text: str) -> str:
    return text.removesuffix("()")


def _wrong_count(context: Context, node: ast.For | ast.comprehension, role: Role, item: Role) -> Finding:
    text, count = context.text(node.iter), len(item.parts)
    assert isinstance(node.target, ast.Tuple)  # checked by the caller
    got = len(node.target.elts)
    names = {2: "u, v", 3: "u, v, d", 4: "u, v, key, d"}
    if role.kind == "edges" and got == 3 and not role.multi:
        fix = f"Write for u, v, d in {_bare(text)}(data=True)."
    elif role.kind == "edges" and role.multi and got == 2:
        fix = f"Write for u, v in {_bare(text)}()."
    elif item.parts[0] is not None and item.parts[0].kind == "node" and count == 2 and got == 1:
        fix = f"Write for n, d in {text}."
    elif item.parts[-1] is not None and item.parts[-1].kind == "edge_attrs" and count in names:
        fix = f"Write for {names[count]} in {text}."
    elif item.parts[-1] is not None and item.parts[-1].kind == "node_attrs":
        fix = f"Write for n, d in {text}."
    else:
        fix = f"Use {count} names in the loop over {text}."
    return repair("unpack", node.iter, f"{text} gives {count} values at a time, not {got}", fix)


def node_indexes(context: Context) -> Iterator[Finding]:
    """What stands in the brackets of ``graph.nodes[...]``, or in a call that takes a node."""
    graph = context.graph_name
    for node in ast.walk(context.tree):
        if isinstance(node, ast.Subscript):
            holder, index = context.role(node.value), node.slice
            if holder is None or isinstance(index, ast.Slice):
                if holder is not None and holder.kind in ("nodes", "edges", "degrees"):
                    text = context.text(node.value)
                    yield repair("view-index", node, "a view cannot be sliced", f"Write list({text})[...].")
                continue
            yield from _index_finding(context, node, holder, graph)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            takes = node.func.attr in ("neighbors", "degree", "has_node", "successors", "predecessors", "remove_node")
            role = context.role(node.args[0])
            if takes and context.kind(node.func.value) == "graph" and role is not None and role.kind == "tuple":
                yield repair(
                    "pair-as-node",
                    node,
                    f"{context.text(node.args[0])} is a tuple, not a node",
                    f"Take the node out of it: {context.text(node.args[0])}[0].",
                )


def _index_finding(context: Context, node: ast.Subscript, holder: Role, graph: str) -> Iterator[Finding]:
    index, text = node.slice, context.text(node.value)
    role = context.role(index)
    word = index.value if isinstance(index, ast.Constant) else None
    if holder.kind in ("nodes", "graph", "degrees") and role is not None and role.kind == "tuple":
        if not isinstance(index, ast.Tuple):
            fix = f"Take the node out of it: {text}[{context.text(index)}[0]]."
            yield repair("pair-as-node", node, f"{context.text(index)} is a tuple, not a node", fix)
    elif holder.kind in ("nodes", "graph") and isinstance(word, str) and _is_attribute(context, word):
        fix = f'Write nx.get_node_attributes({graph}, "{word}") or {graph}.nodes[n]["{word}"].'
        yield repair("attribute-as-node", node, f"{word!r} is an attribute, not a node", fix)
    elif holder.kind == "node" and isinstance(word, str):
        fix = f'Write {graph}.nodes[{text}]["{word}"].'
        yield repair("node-is-a-name", node, f"{text} is only the name of a node", fix)
    elif holder.kind == "tuple" and isinstance(word, str) and isinstance(node.value, ast.Name | ast.Subscript):
        fix = f'Write {graph}.edges[{text}]["{word}"], or loop over {graph}.edges(data=True).'
        yield repair("tuple-by-text", node, f"{text} is a tuple; {word!r} is no index of it", fix)
    elif holder.kind == "edge_dict" and isinstance(word, str) and not isinstance(context.parent(node), ast.Subscript):
        fix = f'Several links may join two nodes: for key, d in {text}.items(): d["{word}"].'
        yield repair("parallel-links", node, "in a multigraph this is a dictionary of links, not of attributes", fix)
    elif holder.kind == "generator":
        yield repair("generator-index", node, f"{text} gives values one by one", f"Write list({text})[...].")
    elif (holder.kind in ("edges",) and isinstance(word, int)) or (
        holder.kind == "nodes" and isinstance(word, int) and context.schema.id_shape not in ("", "integer", "number")
    ):
        yield repair("view-index", node, "a view has no positions", f"Write list({text})[{word}].")
    elif holder.kind == "list" and isinstance(word, str):
        fix = f"Write an index, or loop over {text}."
        yield repair("list-by-text", node, f"{text} is a list; {word!r} is no index of it", fix)


def _is_attribute(context: Context, word: str) -> bool:
    return any(a.public_name == word for a in context.schema.attributes)


def sizes(context: Context) -> Iterator[Finding]:
    """``len`` of an iterator, ``sum`` of pairs, comparison of a view with a number."""
    for node in ast.walk(context.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            role, text = context.role(node.args[0]), context.text(node.args[0])
            item = role.item() if role is not None else None
            if node.func.id == "len" and role is not None and role.kind == "generator":
                yield repair("generator-length", node, f"{text} has no length", f"Write len(list({text})).")
            elif node.func.id == "len" and role is not None and role.kind in ("number", "bool"):
                yield repair("length-of-number", node, f"{text} is already a number", f"Write {text}.")
            elif node.func.id == "sum" and item is not None and item.kind == "tuple":
                fix = f"Write sum(pair[-1] for pair in {text})."
                yield repair("sum-of-pairs", node, f"{text} gives tuples, which cannot be summed", fix)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _compared(context, node)


def _compared(context: Context, node: ast.Compare) -> Iterator[Finding]:
    left, right = context.role(node.left), context.role(node.comparators[0])
    if left is None or right is None or not isinstance(node.ops[0], ast.Gt | ast.Lt | ast.GtE | ast.LtE):
        return
    for one, other, part in ((left, right, node.left), (right, left, node.comparators[0])):
        if other.kind == "number" and one.kind in SIZED - {"frame", "text"} | {"node", "generator"}:
            if one.kind == "node" and "int" in context.schema.id_shape:
                continue
            text = context.text(part)
            fix = {
                "degrees": f"Write [n for n, d in {text} if d > ...].",
                "node": f"{text} is a name; write {context.graph_name}.degree({text}) or an attribute of it.",
            }.get(one.kind, f"Write len({text}) or compare its items.")
            yield repair("compare-shape", node, f"{text} is no number", fix)
            return


RULES: tuple[Rule, ...] = (extremes, unpacking, node_indexes, sizes)
