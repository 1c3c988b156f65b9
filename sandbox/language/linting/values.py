"""Text where a number is needed: an attribute whose values are text used as a weight, in sums, or in comparisons."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nl2net.model import AttributeSchema, Finding, GraphSchema, Library
from nl2net.sandbox.language.linting.context import Context, Rule, repair
from nl2net.sandbox.language.linting.names import WEIGHT_KEYWORDS, is_networkx, nearest_attributes

NUMERIC = frozenset({"integer", "number"})
AVERAGES = frozenset({"sum", "fsum", "mean", "fmean", "average", "median", "stdev", "pstdev"})
COLUMN_AVERAGES = frozenset({"sum", "mean", "median", "std", "var", "quantile", "cumsum"})
ORDERS = frozenset({"max", "min", "sorted", "sort", "nlargest", "nsmallest", "idxmax", "idxmin"})
ARITHMETIC = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow)
RULE = "text-as-number"


def numeric_sibling(schema: GraphSchema, text: AttributeSchema) -> str:
    """The numeric attribute that is meant in place of a text one; by role first, else by a longer or shorter name.

    Examples
    --------
    >>> from nl2net.model import GraphClass
    >>> speed = AttributeSchema("LinkSpeed", "LinkSpeed", "edge", "text", 9, 9, "many")
    >>> raw = AttributeSchema("LinkSpeedRaw", "LinkSpeedRaw", "edge", "number", 9, 9, "many", role="capacity")
    >>> schema = GraphSchema(GraphClass(directed=False, multi=False), nodes=9, edges=9, attributes=(speed, raw))
    >>> numeric_sibling(schema, speed)
    'LinkSpeedRaw'
    """
    numbers = [a for a in schema.attributes_of(text.owner) if a.type in NUMERIC]
    same = [a for a in numbers if text.role and a.role == text.role]
    plain = text.public_name.casefold().replace("_", "")
    for one in numbers:
        name = one.public_name.casefold().replace("_", "")
        if len(plain) >= 4 and len(name) >= 4 and (name.startswith(plain) or plain.startswith(name)):
            return one.public_name
    return (nearest_attributes(text.public_name, same) or [same[0].public_name])[0] if same else ""


def _text_attribute(context: Context, owner: str, name: str) -> AttributeSchema | None:
    found = context.schema.attribute(owner, name) if owner in ("node", "edge") else None
    return found if found is not None and found.type == "text" and name not in context.written else None


def text_weights(context: Context) -> Iterator[Finding]:
    """``weight="x"`` where the values of ``x`` are text."""
    for call in context.calls():
        if not isinstance(call.func, ast.Attribute) or call.func.attr.startswith(("from_", "add_", "set_", "relabel")):
            continue
        if not is_networkx(context, call.func.value) and context.kind(call.func.value) not in ("graph", "degrees"):
            continue
        for keyword in call.keywords:
            name = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if keyword.arg not in WEIGHT_KEYWORDS or type(name) is not str:
                continue
            found = _text_attribute(context, "edge", name)
            if found is not None:
                number = numeric_sibling(context.schema, found)
                fix = f'Write {keyword.arg}="{number}".' if number else _convert(found, "d")
                yield repair(RULE, keyword.value, f"the values of {name} are text, not numbers", fix)


def _instead(context: Context, found: AttributeSchema, holder: str) -> str:
    number = context.schema.attribute(found.owner, numeric_sibling(context.schema, found))
    if number is None:
        return ""
    if holder == "d" and number.count < number.total:
        return f'Use d.get("{number.public_name}") and skip None.'
    return f'Use {holder}["{number.public_name}"].'


def _convert(found: AttributeSchema, holder: str) -> str:
    return f'Convert the values first: float({holder}["{found.public_name}"]), skipping those that are no numbers.'


class _Reads:
    """Expressions that are a text attribute as it is: ``d["x"]``, ``d.get("x", 0)``, or a variable of that value."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.variables: dict[str, AttributeSchema | None] = {}
        for node in ast.walk(context.tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                # A variable with a second value may hold a number by then.
                self.variables[name] = None if name in self.variables else self._direct(node.value)

    def of(self, node: ast.AST | None) -> AttributeSchema | None:
        """The text attribute that an expression reads."""
        if isinstance(node, ast.Name):
            return self.variables.get(node.id)
        return self._direct(node)

    def _direct(self, node: ast.AST | None) -> AttributeSchema | None:
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            holder, key = node.value, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            holder, key = node.func.value, node.args[0] if node.args else None
        if not isinstance(key, ast.Constant) or type(key.value) is not str:
            return None
        role = self.context.role(holder)
        if role is None:
            return None
        owner = role.owner if role.kind in ("frame", "row") else role.kind.removesuffix("_attrs")
        return _text_attribute(self.context, owner, key.value)


def text_arithmetic(context: Context) -> Iterator[Finding]:
    """Sums, differences and comparisons with numbers over a text attribute; and orders, where a number was meant."""
    reads = _Reads(context)
    numbers = {
        t.id
        for node in ast.walk(context.tree)
        if isinstance(node, ast.Assign) and _is_number(node.value)
        for t in node.targets
        if isinstance(t, ast.Name)
    }
    for node in ast.walk(context.tree):
        found = _misused(reads, node, numbers)
        if found is not None:
            holder = "d" if context.library is Library.NETWORKX else f"{found.owner}s"
            fix = _instead(context, found, holder) or _convert(found, holder)
            yield repair(RULE, node, f"the values of {found.public_name} are text, not numbers", fix)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _misused(reads: _Reads, node: ast.AST, numbers: set[str]) -> AttributeSchema | None:
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        mixed = isinstance(node.op, ast.Add | ast.Mult) and any(map(_is_number, sides))
        if isinstance(node.op, ARITHMETIC) or (mixed and not isinstance(node.op, ast.Mult)):
            return reads.of(node.left) or reads.of(node.right)
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name) and node.target.id in numbers:
            return reads.of(node.value)
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
        if any(map(_is_number, parts)) and not any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            return next((found for part in parts if (found := reads.of(part)) is not None), None)
    elif isinstance(node, ast.Call):
        return _misused_in_call(reads, node)
    return None


def _misused_in_call(reads: _Reads, node: ast.Call) -> AttributeSchema | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Attribute) and reads.context.kind(node.func.value) == "column":
        column = reads.of(node.func.value)
        wanted = name in COLUMN_AVERAGES or (name in ORDERS and column is not None and _has_number(reads, column))
        return column if wanted else None
    if name in AVERAGES and node.args:
        first = node.args[0]
        return reads.of(first.elt) if isinstance(first, ast.GeneratorExp | ast.ListComp) else None
    if name in ORDERS:
        key = next((k.value for k in node.keywords if k.arg == "key"), None)
        found = reads.of(key.body) if isinstance(key, ast.Lambda) else None
        return found if found is not None and _has_number(reads, found) else None
    return None


def _has_number(reads: _Reads, found: AttributeSchema) -> bool:
    return bool(numeric_sibling(reads.context.schema, found))


RULES: tuple[Rule, ...] = (text_weights, text_arithmetic)
