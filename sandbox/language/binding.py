"""Placeholders of the masked program: bound on the tree, and for showing in the text with its formatting kept."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from typing import Any

from nl2net.sandbox.language.belt import assigned_names

SAFE_IN_PLACE = re.compile(r"[^\\'\"{}\r\n\x00-\x1f]*\Z")


def placeholder_pattern(bindings: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Matches any of the placeholders as a whole token: ``NODE_1`` but not in ``NODE_11`` or ``MY_NODE_1``."""
    if not bindings:
        return None
    names = "|".join(re.escape(n) for n in sorted(bindings, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{names})(?![A-Za-z0-9_])")


def bind_text(text: str, bindings: Mapping[str, Any]) -> str:
    """Replace placeholders in one text, once and from left to right.

    Examples
    --------
    >>> bind_text("NODE_1 - NODE_11", {"NODE_1": "ams-r1"})
    'ams-r1 - NODE_11'
    """
    pattern = placeholder_pattern(bindings)
    return pattern.sub(lambda m: str(bindings[m.group()]), text) if pattern else text


class Binder(ast.NodeTransformer):
    """Binds string constants, also inside f-strings, and bare names of placeholders that nobody assigns."""

    def __init__(self, bindings: Mapping[str, Any], own: frozenset[str]) -> None:
        self.bindings = bindings
        self.own = own

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, str):
            return node
        value: Any = self.bindings.get(node.value)
        if value is None:
            value = bind_text(node.value, self.bindings)
        return node if value == node.value else ast.copy_location(ast.Constant(value), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Text parts of an f-string stay text, whatever the type of the value."""
        for part in node.values:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                part.value = bind_text(part.value, self.bindings)
            else:
                self.visit(part)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self.bindings and node.id not in self.own:
            return ast.copy_location(ast.Constant(self.bindings[node.id]), node)
        return node


def bind_tree(tree: ast.Module, bindings: Mapping[str, Any]) -> ast.Module:
    """Bind a tree in place. Positions stay those of the masked source, so that errors can be traced to it."""
    if bindings:
        Binder(bindings, frozenset(assigned_names(tree))).visit(tree)
    return tree


def bind_source(source: str, bindings: Mapping[str, Any]) -> str:
    """The bound program as a person may read and save it, with formatting and comments kept.

    Examples
    --------
    >>> print(bind_source("x = 'NODE_1'  # NODE_1", {"NODE_1": "it's"}))
    x = "it's"  # it's
    """
    pattern = placeholder_pattern(bindings)
    if pattern is None or not pattern.search(source):
        return source
    wanted = bind_tree(ast.parse(source), bindings)
    try:
        own = frozenset(assigned_names(ast.parse(source)))
        text = _replace_tokens(source, bindings, own)
        if ast.dump(ast.parse(text)) == ast.dump(wanted):
            return text
    except (SyntaxError, ValueError, tokenize.TokenError):
        pass
    return ast.unparse(ast.fix_missing_locations(wanted))  # a value that only fits in another notation


def _replace_tokens(source: str, bindings: Mapping[str, Any], own: frozenset[str]) -> str:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    made, position = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        new = _bound_token(token, bindings, own)
        if new is not None and new != token.string:
            begin = starts[token.start[0] - 1] + token.start[1]
            made += [source[position:begin], new]
            position = starts[token.end[0] - 1] + token.end[1]
    return "".join([*made, source[position:]])


def _bound_token(token: tokenize.TokenInfo, bindings: Mapping[str, Any], own: frozenset[str]) -> str | None:
    pattern = placeholder_pattern(bindings)
    assert pattern is not None  # asked only with bindings
    if token.type == tokenize.NAME and token.string in bindings and token.string not in own:
        return repr(bindings[token.string])
    if not pattern.search(token.string):
        return None
    if token.type == tokenize.COMMENT:
        return " ".join(bind_text(token.string, bindings).splitlines())
    if tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
        return pattern.sub(lambda m: _escaped(str(bindings[m.group()]), formatted=True), token.string)
    if token.type != tokenize.STRING:
        return None
    return _bound_string(token.string, pattern, bindings)


def _bound_string(text: str, pattern: re.Pattern[str], bindings: Mapping[str, Any]) -> str:
    prefix = re.match(r"[A-Za-z]*", text)
    formatted = prefix is not None and "f" in prefix.group().lower()
    values = [bindings[name] for name in pattern.findall(text)]
    if all(isinstance(v, str) and SAFE_IN_PLACE.match(v) for v in values):
        return pattern.sub(lambda m: str(bindings[m.group()]), text)
    if formatted:
        return pattern.sub(lambda m: _escaped(str(bindings[m.group()]), formatted=True), text)
    value = ast.literal_eval(text)
    bound = bindings[value] if value in bindings else bind_text(value, bindings)
    return repr(bound)


def _escaped(value: str, *, formatted: bool) -> str:
    text = value.encode("unicode_escape").decode("ascii").replace("'", "\\'").replace('"', '\\"')
    return text.replace("{", "{{").replace("}", "}}") if formatted else text


def names_in(source: str, names: Mapping[str, Any]) -> Iterator[str]:
    """Placeholders that occur in a text."""
    pattern = placeholder_pattern(names)
    yield from dict.fromkeys(pattern.findall(source) if pattern else ())
