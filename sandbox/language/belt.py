"""Our own belt, before RestrictedPython sees a program: sizes, identifiers, statements that are not offered."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nl2net.model import Finding, Severity
from nl2net.sandbox.language.builtin_names import REFUSED
from nl2net.sandbox.language.rewriting import GuardName

LONGEST = 20_000
BRACKET_DEPTH = 80
UNARY_CHAIN = 80
NODES = 4_000
TREE_DEPTH = 80

STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.ClassDef: ("a class", "Write a function, and a dictionary or namedtuple for the data."),
    ast.Global: ("global", "Pass the value as an argument and return it."),
    ast.Nonlocal: ("nonlocal", "Keep the value in a dictionary or a list, or return it."),
    ast.AsyncFunctionDef: ("async def", "Write an ordinary def."),
    ast.Await: ("await", "Call the function directly."),
    ast.AsyncFor: ("async for", "Write an ordinary for."),
    ast.AsyncWith: ("async with", "Write an ordinary with."),
    ast.Match: ("match", "Write if and elif."),
    ast.TryStar: ("except*", "Write except."),
}
ATTRIBUTES_WRITTEN = frozenset({"columns", "index", "name", "names"})
GRAPH_DATA_METHODS = frozenset(
    {"add_node", "add_edge", "add_nodes_from", "add_edges_from", "update", "dict", "DataFrame", "Series", "assign"}
)


def refuse(rule: str, node: ast.AST | int | None, message: str, hint: str = "") -> Finding:
    """A finding that ends a program."""
    line = node if isinstance(node, int) or node is None else getattr(node, "lineno", None)
    column = getattr(node, "col_offset", None)
    return Finding(rule, message, Severity.REFUSE, line, column, hint)


def check_text(source: str) -> Finding | None:
    """Sizes, on the text, before the parser may see it."""
    if len(source.encode("utf-8", "replace")) > LONGEST:
        return refuse("size", None, "the program is longer than 20 kB", "Write a shorter program.")
    if "\0" in source:
        return refuse("size", None, "the program holds a NUL character", "Remove it.")
    try:
        source.encode("utf-8")
    except UnicodeEncodeError:
        return refuse("size", None, "the program holds text that cannot be encoded", "Remove it.")
    depth = chain = 0
    for line, text in enumerate(source.split("\n"), 1):
        for char in text:
            if char in "([{":
                depth += 1
            elif char in ")]}":
                depth = max(0, depth - 1)
            chain = chain + 1 if char in "-+~" or (chain and char == " ") else 0
            if depth > BRACKET_DEPTH:
                return refuse("size", line, "brackets are nested too deeply", "Split the expression into steps.")
            if chain > UNARY_CHAIN:
                return refuse("size", line, "a chain of signs is too long", "Write the number itself.")
    if _word_chain(source):
        return refuse("size", None, "a chain of not or lambda is too long", "Split the expression into steps.")
    return None


def _word_chain(source: str) -> bool:
    words = source.split()
    run = 0
    for word in words:
        run = run + 1 if word in ("not", "lambda", "lambda:", "await", "yield") else 0
        if run > UNARY_CHAIN:
            return True
    return False


def check_tree_size(tree: ast.AST) -> Finding | None:
    """Number of nodes and depth."""
    level: list[ast.AST] = [tree]
    count = depth = 0
    while level:
        depth += 1
        count += len(level)
        if count > NODES or depth > TREE_DEPTH:
            return refuse("size", None, "the program is too large", "Write a shorter program with simpler steps.")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return None


def identifiers(node: ast.AST) -> Iterator[str]:
    """Every text of a node that is a name: from all fields of all kinds, except the values of constants."""
    if isinstance(node, ast.Constant | GuardName):
        return
    for _, value in ast.iter_fields(node):
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (v for v in value if isinstance(v, str))


def check_names(tree: ast.AST) -> Iterator[Finding]:
    """Identifiers are ASCII and do not begin with an underscore, in any field of any node kind."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg | ast.FunctionDef) and isinstance(
            getattr(node, "type_comment", None), str
        ):
            continue
        for name in identifiers(node):
            for part in name.split("."):
                if part.startswith("_") and part != "_":
                    yield refuse("underscore", node, f"the name {part!r} begins with an underscore", _plain_hint(part))
                elif not part.isascii():
                    yield refuse("identifier", node, f"the name {part!r} is not ASCII", "Use the letters a to z.")


def _plain_hint(name: str) -> str:
    known = {
        "__name__": "Leave out the main block; answer() is called for you.",
        "__class__": "Use isinstance(value, list) or type(value).",
        "__import__": "Use an import statement.",
        "_asdict": "Read the fields: row.field.",
        "_replace": "Make a new tuple.",
        "__init__": "Write a function.",
    }
    return known.get(name, f"Use another name, such as {name.strip('_') or 'value'!r}.")


def check_statements(tree: ast.AST) -> Iterator[Finding]:
    """Statements and calls that are not offered, each with what to write instead."""
    for node in ast.walk(tree):
        kind = STATEMENTS.get(type(node))
        if kind:
            yield refuse("statement", node, f"{kind[0]} is not available here", kind[1])
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            yield refuse("write", node, "an attribute cannot be changed in place", "Use a variable of your own.")
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield from _check_attribute_write(node)
        elif isinstance(node, ast.Call):
            yield from _check_backend(node)


def _check_attribute_write(node: ast.Attribute) -> Iterator[Finding]:
    if isinstance(node.ctx, ast.Del):
        yield refuse("write", node, "an attribute cannot be deleted", "Delete a dictionary key instead.")
    elif node.attr not in ATTRIBUTES_WRITTEN:
        hint = f'Write df["{node.attr}"] = ... for a column, graph.nodes[n]["{node.attr}"] = ... for a node.'
        yield refuse("write", node, f"the attribute {node.attr!r} cannot be written", hint)


def _check_backend(node: ast.Call) -> Iterator[Finding]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in GRAPH_DATA_METHODS:
        return
    for keyword in node.keywords:
        if keyword.arg in ("backend", "backend_kwargs"):
            yield refuse("keyword", node, "backend= is not available here", "Leave out backend=.")


def check_builtin_names(tree: ast.AST) -> Iterator[Finding]:
    """Builtins that are not offered, where the program does not define the name itself."""
    own = set(assigned_names(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id not in REFUSED or node.id in own:
            continue
        if isinstance(node.ctx, ast.Load) and not _in_handler(tree, node):
            yield refuse("builtin", node, f"{node.id} is not available here", REFUSED[node.id].capitalize() + ".")


def _in_handler(tree: ast.AST, name: ast.Name) -> bool:
    """Handlers of base exceptions are narrowed, not refused."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None and name in ast.walk(node.type):
            return True
    return False


def assigned_names(tree: ast.AST) -> Iterator[str]:
    """Names that a program binds anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
