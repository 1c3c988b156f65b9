"""Walk a program in order and note the role of every expression."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from nl2net.model import GraphSchema, Library
from nl2net.sandbox.language.linting import roles as r
from nl2net.sandbox.language.linting.roles import Role, dict_of, generator_of, list_of, tuple_of

Scope = dict[str, Role | None]
SAME_ITEMS = frozenset({"list", "sorted", "set", "tuple", "frozenset"})


class Inference(ast.NodeVisitor):
    """Roles by node; flow follows the source order, each comprehension and lambda has a scope of its own."""

    def __init__(self, schema: GraphSchema, library: Library) -> None:
        self.roles: dict[int, Role] = {}
        self.schema = schema
        self.library = library
        self.scopes: list[Scope] = [{}]

    def role(self, node: ast.AST) -> Role | None:
        """Role that was noted for an expression."""
        return self.roles.get(id(node))

    def _bind(self, target: ast.AST, role: Role | None) -> None:
        if isinstance(target, ast.Name):
            self.scopes[-1][target.id] = role
            if role is not None:
                self.roles[id(target)] = role
        elif isinstance(target, ast.Tuple | ast.List):
            starred = any(isinstance(e, ast.Starred) for e in target.elts)
            fits = role is not None and role.kind == "tuple" and len(role.parts) == len(target.elts) and not starred
            for place, element in enumerate(target.elts):
                inner = element.value if isinstance(element, ast.Starred) else element
                self._bind(inner, role.parts[place] if fits and role is not None else None)
        else:
            self.visit(target)

    def _eval(self, node: ast.expr | None) -> Role | None:
        if node is None:
            return None
        self.visit(node)
        role = self._role_of(node)
        if role is not None:
            self.roles[id(node)] = role
        return role

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        scope: Scope = {a.arg: None for a in node.args.args}
        names = [a.arg for a in node.args.args]
        if node.name == "answer" and names:
            if self.library is Library.NETWORKX:
                shape = self.schema.graph_class
                scope[names[0]] = Role("graph", directed=shape.directed, multi=shape.multi)
            elif len(names) > 1:
                scope[names[0]], scope[names[1]] = Role("frame", owner="node"), Role("frame", owner="edge")
        self.scopes.append({**self.scopes[-1], **scope})
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        role = self._eval(node.value)
        for target in node.targets:
            self._bind(target, role)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._bind(node.target, self._eval(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._eval(node.value)
        self.visit(node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._bind(node.target, self._eval(node.value))

    def visit_For(self, node: ast.For) -> None:
        role = self._eval(node.iter)
        self._bind(node.target, role.item() if role else None)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._lambda(node, None)

    def _lambda(self, node: ast.Lambda, item: Role | None) -> Role | None:
        names = [a.arg for a in node.args.args]
        self.scopes.append({**self.scopes[-1], **dict.fromkeys(names)})
        if len(names) == 1:
            self.scopes[-1][names[0]] = item
        role = self._eval(node.body)
        self.scopes.pop()
        return role

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        self.scopes.append(dict(self.scopes[-1]))
        for part in node.generators:
            role = self._eval(part.iter)
            self._bind(part.target, role.item() if role else None)
            for test in part.ifs:
                self._eval(test)
        if isinstance(node, ast.DictComp):
            self.roles[id(node)] = dict_of(self._eval(node.key), self._eval(node.value))
        else:
            make = generator_of if isinstance(node, ast.GeneratorExp) else list_of
            self.roles[id(node)] = make(self._eval(node.elt))
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    def visit_Call(self, node: ast.Call) -> None:
        self._eval(node.func) if isinstance(node.func, ast.Attribute) else None
        first: Role | None = None
        rest = list(node.args)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("map", "filter") and len(rest) == 2 and isinstance(rest[0], ast.Lambda):
            first = self._eval(rest[1])
            self._lambda(rest[0], first.item() if first else None)
            return
        for place, argument in enumerate(rest):
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            role = self._eval(inner)
            first = role if place == 0 else first
        receiver = self.role(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sort":
            first = receiver
        for keyword in node.keywords:
            if keyword.arg == "key" and isinstance(keyword.value, ast.Lambda):
                self._lambda(keyword.value, first.item() if first else None)
            else:
                self._eval(keyword.value)

    def generic_visit(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._eval(child)
            else:
                self.visit(child)

    def _role_of(self, node: ast.expr) -> Role | None:
        if id(node) in self.roles:
            return self.roles[id(node)]
        if isinstance(node, ast.Name):
            return self.scopes[-1].get(node.id)
        if isinstance(node, ast.Constant):
            return _constant_role(node.value)
        if isinstance(node, ast.Tuple):
            return tuple_of(*(self.role(e) for e in node.elts))
        if isinstance(node, ast.List | ast.Set):
            return list_of(self.role(node.elts[0]) if node.elts else None)
        if isinstance(node, ast.Dict):
            return dict_of(None, None)
        if isinstance(node, ast.JoinedStr):
            return r.TEXT
        if isinstance(node, ast.Compare):
            left = self.role(node.left)
            return None if left is not None and left.kind == "column" else r.BOOL
        if isinstance(node, ast.Attribute):
            return _attribute_role(self.role(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            return self._subscript_role(node)
        if isinstance(node, ast.Call):
            return self._call_role(node)
        if isinstance(node, ast.BinOp):
            both = (self.role(node.left), self.role(node.right))
            return r.NUMBER if all(b is not None and b.kind == "number" for b in both) else None
        return None

    def _subscript_role(self, node: ast.Subscript) -> Role | None:
        owner = self.role(node.value)
        if owner is None:
            return None
        if isinstance(node.slice, ast.Slice):
            return owner
        if owner.kind in ("tuple", "list") and isinstance(node.slice, ast.Constant | ast.UnaryOp):
            return _indexed(owner, node.slice)
        if owner.kind == "frame":
            text = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            return Role("column", owner=owner.owner) if text else owner
        if owner.kind == "neighbors":
            return r.EDGE_DICT if owner.multi else r.EDGE_ATTRS
        table = {
            "nodes": r.NODE_ATTRS,
            "edges": r.EDGE_ATTRS,
            "graph": Role("neighbors", multi=owner.multi),
            "degrees": r.NUMBER,
            "edge_dict": r.EDGE_ATTRS,
        }
        return owner.parts[1] if owner.kind == "dict" else table.get(owner.kind)

    def _call_role(self, node: ast.Call) -> Role | None:
        first = self.role(node.args[0]) if node.args else None
        if isinstance(node.func, ast.Name):
            return _builtin_role(node, node.func.id, first)
        if not isinstance(node.func, ast.Attribute):
            return None
        owner = self.role(node.func.value)
        if owner is not None:
            return _method_role(node, owner, node.func.attr)
        return _library_role(node, node.func.attr, first)


def _constant_role(value: object) -> Role | None:
    if isinstance(value, bool):
        return r.BOOL
    if isinstance(value, int | float):
        return r.NUMBER
    return r.TEXT if isinstance(value, str) else None


def _indexed(owner: Role, index: ast.expr) -> Role | None:
    try:
        place = ast.literal_eval(index)
    except ValueError:
        return None
    if owner.kind == "list":
        return owner.item() if isinstance(place, int) else None
    if isinstance(place, int) and -len(owner.parts) <= place < len(owner.parts):
        return owner.parts[place]
    return None


def _attribute_role(owner: Role | None, name: str) -> Role | None:
    if owner is None:
        return None
    if owner.kind == "graph":
        if name in ("nodes", "edges"):
            return Role(name, directed=owner.directed, multi=owner.multi)
        if name in ("degree", "in_degree", "out_degree"):
            return Role("degrees")
        if name == "adj":
            return dict_of(r.NODE, Role("neighbors", multi=owner.multi))
    if owner.kind == "frame" and name not in ("loc", "iloc", "index", "columns", "values", "shape", "T", "size", "str"):
        return owner if name in ("loc",) else None
    return None


def _data_argument(node: ast.Call) -> ast.expr | None:
    found = next((k.value for k in node.keywords if k.arg == "data"), None)
    return found if found is not None else (node.args[0] if len(node.args) == 1 else None)


def _flag(node: ast.Call, name: str) -> bool:
    return any(k.arg == name and isinstance(k.value, ast.Constant) and k.value.value is True for k in node.keywords)


def _method_role(node: ast.Call, owner: Role, name: str) -> Role | None:
    if owner.kind == "graph":
        return _graph_method_role(node, owner, name)
    if owner.kind in ("nodes", "edges") and name == "data":
        return _view_role(node, owner)
    if owner.kind in ("node_attrs", "edge_attrs") or name in ("number_of_nodes", "count"):
        return None
    if owner.kind in ("dict", "neighbors", "edge_dict"):
        return _mapping_method_role(owner, name)
    if owner.kind == "frame":
        if name in r.SAME_FRAME:
            return Role("frame") if name in ("rename", "assign") else owner
        if name == "groupby":
            return Role("groups", owner=owner.owner)
        return Role("frame") if name in ("merge", "join") else None
    if owner.kind in ("degrees", "nodes", "edges") and name in ("items",):
        return None
    return None


def _mapping_method_role(owner: Role, name: str) -> Role | None:
    attributes = r.EDGE_DICT if owner.kind == "neighbors" and owner.multi else r.EDGE_ATTRS
    pairs: Mapping[str, tuple[Role | None, Role | None]] = {
        "neighbors": (r.NODE, attributes),
        "edge_dict": (None, r.EDGE_ATTRS),
    }
    key, value = pairs.get(owner.kind) or (owner.parts[0], owner.parts[1])
    made = {"items": list_of(tuple_of(key, value)), "keys": list_of(key), "values": list_of(value), "get": value}
    if name == "most_common":
        return list_of(tuple_of(key, value))
    return made.get(name, owner if name == "copy" else None)


def _view_role(node: ast.Call, owner: Role) -> Role | None:
    data = _data_argument(node)
    ends: tuple[Role | None, ...] = (r.NODE,) if owner.kind == "nodes" else (r.NODE, r.NODE)
    attributes = r.NODE_ATTRS if owner.kind == "nodes" else r.EDGE_ATTRS
    if _flag(node, "keys"):
        ends = (*ends, None)
    called_data = isinstance(node.func, ast.Attribute) and node.func.attr == "data"
    if data is None:
        last: tuple[Role | None, ...] = (attributes,) if called_data else ()
    elif isinstance(data, ast.Constant) and data.value is True:
        last = (attributes,)
    elif (isinstance(data, ast.Constant) and isinstance(data.value, str) and owner.kind == "nodes") or (
        any(k.arg == "data" for k in node.keywords) and isinstance(data, ast.Constant) and isinstance(data.value, str)
    ):
        last = (None,)
    elif isinstance(data, ast.Constant) and data.value is False:
        last = ()
    else:
        last = ()  # graph.edges(node): links of one node
    parts = (*ends, *last)
    if parts == (r.NODE,):
        return Role("nodes", directed=owner.directed, multi=owner.multi)
    return list_of(tuple_of(*parts))


def _graph_method_role(node: ast.Call, owner: Role, name: str) -> Role | None:
    if name in ("nodes", "edges", "in_edges", "out_edges"):
        kind = "nodes" if name == "nodes" else "edges"
        return _view_role(node, Role(kind, directed=owner.directed, multi=owner.multi))
    if name in ("degree", "in_degree", "out_degree"):
        argument = node.args[0] if node.args else None
        if argument is None:
            return Role("degrees")
        return None if isinstance(argument, ast.List | ast.ListComp | ast.Set) else r.NUMBER
    if name in ("neighbors", "successors", "predecessors"):
        return generator_of(r.NODE)
    if name in ("copy", "subgraph", "reverse", "edge_subgraph"):
        return owner
    if name in ("to_undirected", "to_directed"):
        return Role("graph", directed=name == "to_directed", multi=owner.multi)
    if name == "get_edge_data":
        return r.EDGE_DICT if owner.multi and len(node.args) < 3 else r.EDGE_ATTRS
    if name in ("number_of_nodes", "number_of_edges", "order", "size"):
        return r.NUMBER
    if name in ("has_node", "has_edge", "is_directed", "is_multigraph"):
        return r.BOOL
    return generator_of(tuple_of(r.NODE, Role("neighbors", multi=owner.multi))) if name == "adjacency" else None


def _builtin_role(node: ast.Call, name: str, first: Role | None) -> Role | None:
    if name in ("len", "sum", "int", "float", "abs", "round"):
        return r.NUMBER
    if name in ("str", "repr"):
        return r.TEXT
    if name in ("max", "min", "next") and len(node.args) == 1 and first is not None:
        return first.item()
    if name in SAME_ITEMS:
        return list_of(first.item() if first is not None else None)
    if name in ("filter", "reversed", "iter"):
        return generator_of(first.item()) if first is not None and name != "filter" else None
    if name == "enumerate":
        return generator_of(tuple_of(r.NUMBER, first.item() if first is not None else None))
    if name == "zip":
        return None
    if name == "dict":
        item = first.item() if first is not None else None
        if first is not None and first.kind == "dict":
            return first
        if item is not None and item.kind == "tuple" and len(item.parts) == 2:
            return dict_of(*item.parts)
        return dict_of(None, None)
    if name in ("Counter",):
        return dict_of(first.item() if first is not None else None, r.NUMBER)
    return None


def _library_role(node: ast.Call, name: str, first: Role | None) -> Role | None:
    graph_first = first is not None and first.kind == "graph"
    if name in r.GRAPH_CLASSES:
        directed, multi = r.GRAPH_CLASSES[name]
        return Role("graph", directed=directed, multi=multi)
    if not graph_first or first is None:
        return dict_of(first.item() if first is not None else None, r.NUMBER) if name == "Counter" else None
    if name in r.NODE_SCORES:
        return dict_of(r.NODE, None if name.startswith("get_") else r.NUMBER)
    if name in r.EDGE_SCORES:
        return dict_of(r.EDGE, None if name.startswith("get_") else r.NUMBER)
    if name in r.NODE_SETS:
        return generator_of(list_of(r.NODE))
    if name in r.NODE_GENERATORS:
        return generator_of(r.NODE)
    if name in r.EDGE_GENERATORS:
        return generator_of(r.EDGE)
    if name in r.NODE_LISTS:
        whole = name != "shortest_path" or len(node.args) + len(node.keywords) >= 3
        return list_of(r.NODE) if whole else None
    if name in r.NUMBERS:
        partial = name.endswith("_length") and len(node.args) < 3 and "target" not in {k.arg for k in node.keywords}
        return None if partial else r.NUMBER
    if name in r.BOOLS:
        return r.BOOL
    if name in ("subgraph", "minimum_spanning_tree", "maximum_spanning_tree", "ego_graph", "k_core"):
        return first
    return Role("frame", owner="edge") if name == "to_pandas_edgelist" else None
