"""From the tree of a program to the tree that runs: harmless habits made to work, every hook put in.

Two passes. The first removes what needs no power (annotations, a main block, ``type(x).__name__``); the belt then
judges what is left. The second is RestrictedPython's transformer with our hooks: attribute reads, writes, imports and
calls with ``**`` become guarded calls. Iteration, unpacking, item reads and in-place operators stay native: nothing is
guarded there, and a hook that does nothing would only cost time.
"""

from __future__ import annotations

import ast
from typing import Any

from RestrictedPython.transformer import RestrictingNodeTransformer

BASE_EXCEPTIONS = frozenset({"BaseException"})
NEVER_RAISED = frozenset({"KeyboardInterrupt", "SystemExit", "GeneratorExit"})
READ, WRITE, WRITE_ATTRIBUTE, APPLY = "_getattr_", "_write_", "_write_attribute_", "_apply_"
IMPORT, IMPORT_FROM, CUT, TYPE_NAME = "_import_", "_import_from_", "_cut_", "_type_name_"


class GuardName(ast.Name):
    """A name of ours in the tree. The belt passes it by; the parser never makes one."""


def guard_call(name: str, arguments: list[ast.expr], place: ast.AST) -> ast.Call:
    """A call of a guard, at the place of the node that it replaces."""
    call = ast.Call(func=GuardName(name, ast.Load()), args=arguments, keywords=[])
    for node in (call, call.func):
        ast.copy_location(node, place)
    for argument in arguments:
        if not hasattr(argument, "lineno"):
            ast.copy_location(argument, place)
    return call


class Preparation(ast.NodeTransformer):
    """First pass: what needs no power."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [s for s in node.body if not _is_main_block(s) and not _is_future(s)]
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        assign = ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno)
        return self.generic_visit(ast.copy_location(assign, node))

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "__name__" and isinstance(node.ctx, ast.Load):
            value = _typed_value(node.value)
            if value is not None:
                return guard_call(TYPE_NAME, [self.visit(value)], node)
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.type is None:
            node.type = ast.Name("Exception", ast.Load(), lineno=node.lineno, col_offset=node.col_offset)
            ast.fix_missing_locations(node)
        else:
            node.type = _narrowed(node.type)
        return self.generic_visit(node)


def _is_main_block(statement: ast.stmt) -> bool:
    test = statement.test if isinstance(statement, ast.If) else None
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__" and statement.level == 0


def _typed_value(node: ast.expr) -> ast.expr | None:
    """``x`` of ``type(x)`` or ``x.__class__``."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return node.value
    is_type = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
    if is_type and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        return None if isinstance(node.args[0], ast.Starred) else node.args[0]
    return None


def _narrowed(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name) and node.id in BASE_EXCEPTIONS:
        return ast.copy_location(ast.Name("Exception", ast.Load()), node)
    if isinstance(node, ast.Name) and node.id in NEVER_RAISED:
        return ast.copy_location(ast.Tuple([], ast.Load()), node)
    if isinstance(node, ast.Tuple):
        node.elts = [_narrowed(e) for e in node.elts]
    return node


class GuardTransformer(RestrictingNodeTransformer):
    """Second pass: RestrictedPython's refusals with our hooks."""

    def __init__(self, ranked: frozenset[str]) -> None:
        super().__init__()
        self.ranked = ranked  # variables that hold the result of sorted()

    def check_name(self, *args: Any, **kwargs: Any) -> None:
        """The belt has judged every identifier; the names left with an underscore are ours."""

    def keep(self, node: Any) -> Any:
        """Visit the contents and keep the node."""
        return self.node_contents_visit(node)

    visit_GuardName = visit_Name = keep
    visit_Assign = visit_With = guard_iter = keep
    visit_FunctionDef = visit_Lambda = visit_Module = visit_ExceptHandler = keep

    def visit_TemplateStr(self, node: ast.AST) -> None:
        self.not_allowed(node)

    visit_Interpolation = visit_TypeAlias = visit_TemplateStr

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node = self.keep(node)
        if isinstance(node.ctx, ast.Load):
            return guard_call(READ, [node.value, ast.Constant(node.attr)], node)
        node.value = guard_call(WRITE_ATTRIBUTE, [node.value], node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node = self.keep(node)
        if not isinstance(node.ctx, ast.Load):
            node.value = guard_call(WRITE, [node.value], node.value)
        elif self._is_cut(node) and isinstance(node.slice, ast.Slice) and node.slice.upper is not None:
            return guard_call(CUT, [node.value, node.slice.upper], node)
        return node

    def _is_cut(self, node: ast.Subscript) -> bool:
        part = node.slice
        if not isinstance(part, ast.Slice) or part.step is not None or part.lower is not None:
            return False
        value = node.value
        if isinstance(value, ast.Call):
            return isinstance(value.func, ast.Name) and value.func.id == "sorted"
        return isinstance(value, ast.Name) and value.id in self.ranked

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """``a[k] += v`` evaluates ``a`` and ``k`` once, as in plain Python; the target went through the write guard."""
        result: ast.AST = self.keep(node)
        return result

    def visit_Call(self, node: ast.Call) -> ast.AST:
        starred = any(keyword.arg is None for keyword in node.keywords)
        node = self.keep(node)
        if starred:
            node.args.insert(0, node.func)
            node.func = ast.copy_location(GuardName(APPLY, ast.Load()), node)
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for alias in node.names:
            # `import a.b` binds a, `import a.b as c` binds a.b; the guard checks the whole name in both cases.
            value = guard_call(IMPORT, [ast.Constant(alias.name), ast.Constant(alias.asname is not None)], node)
            made.append(_bound(alias.asname or alias.name.split(".")[0], value, node))
        return made

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = ast.Constant(node.module or "")
        made: list[ast.stmt] = []
        for alias in node.names:
            value = guard_call(IMPORT_FROM, [module, ast.Constant(alias.name)], node)
            made.append(_bound(alias.asname or alias.name, value, node))
        return made


def _bound(name: str, value: ast.expr, place: ast.AST) -> ast.Assign:
    target = ast.copy_location(ast.Name(name, ast.Store()), place)
    return ast.copy_location(ast.Assign(targets=[target], value=value), place)


def ranked_names(tree: ast.AST) -> frozenset[str]:
    """Variables that are assigned the result of ``sorted(...)``."""
    return frozenset(
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "sorted"
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def prepare(tree: ast.Module) -> ast.Module:
    """First pass over a fresh tree."""
    prepared = Preparation().visit(tree)
    assert isinstance(prepared, ast.Module)  # a Module is visited into a Module
    return prepared


def guard(tree: ast.Module) -> tuple[ast.Module, tuple[str, ...]]:
    """Second pass; the tree with its hooks, and what RestrictedPython refuses."""
    transformer = GuardTransformer(ranked_names(tree))
    guarded = transformer.visit(tree)
    ast.fix_missing_locations(guarded)
    return guarded, tuple(transformer.errors)
