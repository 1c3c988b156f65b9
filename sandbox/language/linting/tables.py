"""pandas: columns against the schema, names that are gone, silent traps."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nl2net.model import Finding, Library
from nl2net.sandbox.language.linting.context import Context, Rule, caveat, repair
from nl2net.sandbox.language.linting.names import nearest_attributes

GONE = {
    "append": "pd.concat([df, other])",
    "applymap": "df.map(function)",
    "iteritems": "df.items()",
    "swapaxes": "df.T",
    "ix": "df.loc[...]",
    "as_matrix": "df.to_numpy()",
    "get_value": "df.at[row, column]",
    "mad": "(df - df.mean()).abs().mean()",
    "lookup": "df.loc[...]",
    "sort": "df.sort_values(column)",
    "to_list_of_dicts": 'df.to_dict("records")',
}
STRUCTURE = {"node": frozenset({"id", "node", "index", "name"}), "edge": frozenset({"source", "target", "key"})}
COLUMN_TAKERS = frozenset(
    {"groupby", "sort_values", "nlargest", "nsmallest", "drop_duplicates", "set_index", "value_counts"}
)


def _columns(context: Context, owner: str) -> set[str]:
    own = {a.public_name for a in context.attributes(owner)}
    return own | ({"source", "target", "key"} if owner == "edge" else set()) | context.written


def columns(context: Context) -> Iterator[Finding]:
    """``nodes["x"]`` and column names in calls, against the schema."""
    for node in ast.walk(context.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield from _judge_columns(context, node, node.value, node.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COLUMN_TAKERS:
            place = 1 if node.func.attr in ("nlargest", "nsmallest") else 0
            chosen = [k.value for k in node.keywords if k.arg in ("by", "subset", "columns")]
            for argument in [*node.args[place : place + 1], *chosen]:
                yield from _judge_columns(context, node, node.func.value, argument)


def _judge_columns(context: Context, node: ast.AST, holder: ast.expr, names: ast.expr) -> Iterator[Finding]:
    role = context.role(holder)
    if role is None or role.kind != "frame" or role.owner not in ("node", "edge"):
        return
    if not context.attributes("node") and not context.attributes("edge"):
        return
    known = _columns(context, role.owner)
    elements = names.elts if isinstance(names, ast.List) else [names]
    for element in elements:
        name = element.value if isinstance(element, ast.Constant) and isinstance(element.value, str) else None
        if name is None or name in known or _named_later(context, name):
            continue
        yield _unknown_column(context, node, holder, name, role.owner)


def _named_later(context: Context, name: str) -> bool:
    """Columns that the program makes by itself (``reset_index(name=...)``, ``rename``, ``columns=``)."""
    for call in context.calls():
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr
            in (
                "rename",
                "reset_index",
                "DataFrame",
                "set_axis",
            )
            and any(isinstance(p, ast.Constant) and p.value == name for p in ast.walk(call))
        ):
            return True
    return name == "index"


def _unknown_column(context: Context, node: ast.AST, holder: ast.expr, name: str, owner: str) -> Finding:
    text = context.text(holder)
    other = "edge" if owner == "node" else "node"
    if owner == "node" and name in STRUCTURE["node"]:
        return repair(
            "unknown-column", node, f"{text} has no column {name!r}: nodes are the index", f"Write {text}.index."
        )
    if context.schema.attribute(other, name) is not None:
        frame = {"node": "nodes", "edge": "edges"}[other]
        return repair("wrong-owner", node, f"{name!r} is a column of {frame}", f'Write {frame}["{name}"].')
    near = nearest_attributes(name, context.attributes(owner))
    fix = (
        f"Use {' or '.join(map(repr, near))}."
        if near
        else f"Columns are {', '.join(sorted(_columns(context, owner))[:8])}."
    )
    return repair("unknown-column", node, f"{text} has no column {name!r}", fix)


def gone_methods(context: Context) -> Iterator[Finding]:
    """Methods that pandas no longer has."""
    for node in ast.walk(context.tree):
        if isinstance(node, ast.Attribute) and node.attr in GONE and context.kind(node.value) in ("frame", "column"):
            fix = f"Write {GONE[node.attr].replace('df', context.text(node.value))}."
            yield repair("removed-method", node, f"pandas has no .{node.attr} any more", fix)


def chained_assignment(context: Context) -> Iterator[Finding]:
    """``df["a"][0] = 1`` changes a copy."""
    for node in ast.walk(context.tree):
        outer = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if outer and isinstance(node, ast.Subscript) and context.kind(node.value) in ("column", "frame"):
            inner = node.value
            if isinstance(inner, ast.Subscript) and not isinstance(inner.value, ast.Attribute):
                frame, column, row = map(context.text, (inner.value, inner.slice, node.slice))
                fix = f"Write {frame}.loc[{row}, {column}] = ..."
                yield repair("chained-assignment", node, "this assigns to a copy and has no effect", fix)


def one_sided(context: Context) -> Iterator[Finding]:
    """Grouping the links of an undirected network by one end counts about half of them."""
    if context.schema.graph_class.directed:
        return
    for call in context.calls():
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("groupby", "value_counts", "merge"):
            names = {
                p.value
                for a in [*call.args, *(k.value for k in call.keywords)]
                for p in ast.walk(a)
                if isinstance(p, ast.Constant)
            }
            receiver = context.role(call.func.value)
            column = call.func.value
            if (
                call.func.attr == "value_counts"
                and isinstance(column, ast.Subscript)
                and isinstance(column.slice, ast.Constant)
            ):
                names.add(column.slice.value)
                receiver = context.role(column.value)
            sides = {name for name in ("source", "target") if name in names}
            if receiver is not None and receiver.owner == "edge" and len(sides) == 1:
                make = repair if context.library is Library.PANDAS and call.func.attr != "merge" else caveat
                fix = (
                    'Links have no direction: use ends(edges), which has both sides of each link, and group by "node".'
                )
                yield make("one-sided", call, f"only links with the node as {sides.pop()} are counted", fix)


def missing_keys(context: Context) -> Iterator[Finding]:
    """Rows without the key are dropped, values that are missing are skipped."""
    for call in context.calls():
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("groupby", "value_counts"):
            continue
        role = context.role(call.func.value)
        for argument in call.args[:1]:
            if role is not None and isinstance(argument, ast.Constant) and role.owner:
                found = context.schema.attribute(role.owner, str(argument.value))
                if found is not None and found.count < found.total:
                    text = f"{found.public_name} is present on {found.count} of {found.total}; the rest is left out"
                    yield caveat("missing-keys", call, text, "Pass dropna=False.")


def conditions(context: Context) -> Iterator[Finding]:
    """``and`` between columns, and rows of ``iterrows`` with one name."""
    for node in ast.walk(context.tree):
        if isinstance(node, ast.BoolOp):
            masks = [v for v in node.values if isinstance(v, ast.Compare) and context.kind(v.left) == "column"]
            if len(masks) == len(node.values):
                sign = "&" if isinstance(node.op, ast.And) else "|"
                fix = f"Write {f' {sign} '.join(f'({context.text(v)})' for v in node.values)}."
                yield repair("boolean-columns", node, "and/or do not work on columns", fix)
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Call):
            called = node.iter.func
            if isinstance(called, ast.Attribute) and called.attr == "iterrows" and isinstance(node.target, ast.Name):
                text = context.text(node.iter)
                yield repair("unpack", node.iter, f"{text} gives pairs", f"Write for index, row in {text}.")


def patterns(context: Context) -> Iterator[Finding]:
    """A dot in ``str.contains`` matches any character."""
    for call in context.calls():
        if isinstance(call.func, ast.Attribute) and call.func.attr == "contains" and call.args:
            first = call.args[0]
            text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
            plain = not any(k.arg == "regex" for k in call.keywords)
            if "." in text and plain and not re.search(r"[\\\[\]^$*+?()|]", text):
                yield caveat("pattern", call, "a dot matches any character here", "Pass regex=False.")


RULES: tuple[Rule, ...] = (
    columns,
    gone_methods,
    chained_assignment,
    one_sided,
    missing_keys,
    conditions,
    patterns,
)
