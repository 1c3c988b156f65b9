"""What the rules of the lint look at: the tree, parents, roles, schema, and facts about the question."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from nl2net.model import AttributeSchema, Finding, GraphSchema, Library, Severity
from nl2net.sandbox.language.belt import assigned_names
from nl2net.sandbox.language.linting.inference import Inference
from nl2net.sandbox.language.linting.roles import Role
from nl2net.sandbox.outcome import Facts


@dataclass(slots=True)
class Context:
    """One program under the lint."""

    source: str
    tree: ast.Module
    library: Library
    schema: GraphSchema
    facts: Facts
    inference: Inference
    parents: dict[int, ast.AST] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)  # local name -> dotted module
    assigned: frozenset[str] = frozenset()  # names that the program binds
    written: set[str] = field(default_factory=set)  # attribute names that the program itself makes

    def role(self, node: ast.AST) -> Role | None:
        """Role of an expression."""
        return self.inference.role(node)

    def kind(self, node: ast.AST) -> str:
        """Kind of the role, or an empty text."""
        role = self.inference.role(node)
        return role.kind if role is not None else ""

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node."""
        return self.parents.get(id(node))

    def calls(self) -> Iterator[ast.Call]:
        """All calls."""
        return (n for n in ast.walk(self.tree) if isinstance(n, ast.Call))

    def text(self, node: ast.AST) -> str:
        """Source of a node in one line."""
        return ast.unparse(node)

    @property
    def entry(self) -> ast.FunctionDef | None:
        """The function ``answer``."""
        found = [s for s in self.tree.body if isinstance(s, ast.FunctionDef) and s.name == "answer"]
        return found[-1] if found else None

    @property
    def graph_name(self) -> str:
        """Name of the first parameter."""
        return self.entry.args.args[0].arg if self.entry is not None and self.entry.args.args else "graph"

    def attributes(self, owner: str) -> tuple[AttributeSchema, ...]:
        """Attributes of nodes or edges."""
        return self.schema.attributes_of(owner)


Rule = Callable[[Context], Iterator[Finding]]


def repair(rule: str, node: ast.AST, message: str, hint: str) -> Finding:
    """A finding that a model should repair."""
    return _finding(rule, node, message, hint, Severity.REPAIR)


def caveat(rule: str, node: ast.AST, message: str, hint: str = "") -> Finding:
    """A finding that is shown with the answer."""
    return _finding(rule, node, message, hint, Severity.CAVEAT)


def _finding(rule: str, node: ast.AST, message: str, hint: str, severity: Severity) -> Finding:
    return Finding(rule, message, severity, getattr(node, "lineno", None), getattr(node, "col_offset", None), hint)


MODULES = {"nx": "networkx", "networkx": "networkx", "pd": "pandas", "np": "numpy"}


def build_context(source: str, library: Library, schema: GraphSchema, facts: Facts) -> Context:
    """Parse and prepare; the source has passed the validator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    inference = Inference(schema, library)
    inference.visit(tree)
    context = Context(source, tree, library, schema, facts, inference, modules=dict(MODULES))
    context.assigned = frozenset(assigned_names(tree))
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            context.parents[id(child)] = node
        if isinstance(node, ast.Import):
            for alias in node.names:
                context.modules[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        context.written.update(_written_names(node))
    return context


def _written_names(node: ast.AST) -> Iterator[str]:
    """Attribute names that a program gives to nodes, edges or columns."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield from _texts(node.slice)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        if isinstance(node, ast.Call):
            yield from (
                k.arg for k in node.keywords if k.arg and isinstance(node.func, ast.Name) and node.func.id == "dict"
            )
        elif isinstance(node, ast.Dict):
            for key in node.keys:
                yield from _texts(key) if key is not None else ()
        return
    name = node.func.attr
    if name in ("add_node", "add_edge", "add_nodes_from", "add_edges_from", "update", "assign", "agg", "rename"):
        yield from (k.arg for k in node.keywords if k.arg)
    if name in (
        "set_node_attributes",
        "set_edge_attributes",
        "setdefault",
        "insert",
        "reset_index",
        "add_weighted_edges_from",
    ):
        if name == "add_weighted_edges_from":
            yield "weight"
        for argument in [*node.args, *(k.value for k in node.keywords)]:
            yield from _texts(argument)


def _texts(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
