"""The text of ``DataFrame.query``: pandas evaluates it by its own rules, so it is parsed and judged here first."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nl2net.errors import RefusedCode

LONGEST = 2_000
ALLOWED = (
    ast.Expression,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.UnaryOp,
    ast.Not,
    ast.Invert,
    ast.USub,
    ast.UAdd,
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.BitAnd,
    ast.BitOr,
    ast.Compare,
    ast.cmpop,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.List,
    ast.Tuple,
)
PLAIN = (int, float, str, bool, type(None), list, tuple, set, np.generic, pd.Series, pd.Index, pd.Timestamp)
# `column`.str.contains("x") and friends are what models write most; they are spelled out instead.
HINT = 'Write df[df["column"] > 1] with & and |, or a query of names, numbers and comparisons only.'
MARK = "query_outer_name_"
_CONTROLS = r"\x00-\x1f\x7f-\xa0\u2028\u2029"
_REST = r"|@(?P<name>[A-Za-z][A-Za-z0-9_]*)|[\w .,<>=!&|~+*/%()\[\]-]"
_COLUMN = r"|`(?P<column>[A-Za-z0-9][A-Za-z0-9_ .:/%-]*)`"
PIECE = re.compile(rf"""'[^'\\{_CONTROLS}]*'|"[^"\\{_CONTROLS}]*\"""" + _REST)
# With a quoted column somewhere, no text may hold anything that could be read as the end of it.
PIECE_WITH_COLUMNS = re.compile(rf"""'[^'"`#@\\{_CONTROLS}]*'|"[^'"`#@\\{_CONTROLS}]*\"""" + _COLUMN + _REST)
TRIPLE = re.compile(r"'''|\"\"\"")


def check_query(text: Any, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Judge the text of a query and the plain values that ``@name`` may mean.

    Parameters
    ----------
    text : str
        At most 2,000 characters of boolean and arithmetic operators, comparisons, names, constants and lists.
    names : mapping, optional
        Local variables of the program.

    Returns
    -------
    dict
        The values of the ``@names`` that occur.

    Raises
    ------
    RefusedCode
        For anything else.

    Examples
    --------
    >>> check_query("capacity > @low and site in ['ams']", {"low": 3, "other": print})
    {'low': 3}
    """
    if type(text) is not str or len(text) > LONGEST:
        raise RefusedCode("a query must be a text of at most 2,000 characters", rule="query", hint=HINT)
    plain, outer = _as_python(text)
    try:
        tree = ast.parse(plain, mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        raise RefusedCode("this query cannot be read", rule="query", hint=HINT) from None
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED) or (isinstance(node, ast.Name) and node.id.startswith("_")):
            raise RefusedCode(f"{type(node).__name__} is not allowed in a query", rule="query", hint=HINT)
    known = names or {}
    values = {}
    for name in outer:
        if name not in known:
            raise RefusedCode("a query names a variable that does not exist", rule="query", hint=HINT)
        if not isinstance(known[name], PLAIN):
            raise RefusedCode("@names in a query may be plain values only", rule="query", hint=HINT)
        values[name] = known[name]
    return values


def _as_python(text: str) -> tuple[str, set[str]]:
    """The text with quoted columns and ``@names`` spelled as plain names, and those names.

    pandas cuts a query into quoted texts and quoted columns by rules of its own. Whatever the two readings could
    disagree on (a backtick in a text, a quote in a column, escapes, comments, several lines) is refused.
    """
    found: list[str] = []
    outer: set[str] = set()
    place, pieces = 0, PIECE_WITH_COLUMNS if "`" in text else PIECE
    while place < len(text):
        piece = pieces.match(text, place)
        if piece is None or TRIPLE.match(text, place):
            raise RefusedCode("this query cannot be read", rule="query", hint=HINT)
        place = piece.end()
        if piece.groupdict().get("column"):
            found.append("quoted_column")
        elif piece["name"]:
            outer.add(piece["name"])
            found.append(MARK + piece["name"])
        else:
            found.append(piece.group())
    return "".join(found).strip(), outer
