"""From an exception in the child to a kind of the closed list and a place in the masked program."""

from __future__ import annotations

import ast
import re
import traceback
from types import TracebackType
from typing import Any

import networkx as nx

from nl2net.sandbox.outcome import Outcome
from nl2net.sandbox.process.demand import demanded

# File name under which wall one compiles a program.
PROGRAM = "<program>"
_MOST_ERROR = 4000
_MOST_PLACES = 4000

OPERAND_TYPES = (
    "int", "float", "str", "bool", "NoneType", "list", "tuple", "set", "dict", "DataFrame", "Series", "Index",
    "ndarray", "Graph", "DiGraph", "MultiGraph", "MultiDiGraph", "function", "datetime",
)  # fmt: skip

_TYPE_NAMES = re.compile(r"'([A-Za-z_]+)'")

# First match wins, so the narrow classes stand first.
_BY_CLASS: tuple[tuple[type[BaseException], str], ...] = (
    (nx.NodeNotFound, "node"),
    (nx.NetworkXNoPath, "path"),
    (nx.NetworkXNotImplemented, "graph_kind"),
    (nx.NetworkXException, "graph"),
    (RecursionError, "recursion"),
    (MemoryError, "memory"),
    (ImportError, "policy"),
    (PermissionError, "policy"),
    (KeyError, "key"),
    (IndexError, "index"),
    (AttributeError, "attribute"),
    (NameError, "name"),
    (ZeroDivisionError, "zero"),
    (AssertionError, "assertion"),
)

_BY_MESSAGE: tuple[tuple[type[BaseException], str, str], ...] = (
    (TypeError, "NoneType", "none"),
    (AttributeError, "NoneType", "none"),
    (TypeError, "not callable", "call"),
    (TypeError, "not iterable", "iterate"),
    (TypeError, "argument", "arguments"),
    (ValueError, "unpack", "unpack"),
    (ValueError, "empty", "empty"),
    (ValueError, "could not convert", "convert"),
    (ValueError, "invalid literal", "convert"),
    (nx.NetworkXError, "not in the", "node"),
    (nx.NetworkXException, "not a node", "node"),
)


def kind_of(error: BaseException) -> str:
    """The kind of an error; depends on its class and, for some, on fixed words of the interpreter's message.

    Examples
    --------
    >>> kind_of(KeyError("db-17")), kind_of(TypeError("'int' object is not callable"))
    ('key', 'call')
    """
    module = type(error).__module__.partition(".")[0]
    if module in ("duckdb", "_duckdb"):
        return "sql"
    if isinstance(error, OSError) or "start new thread" in _text(error):
        return "policy"
    message = _text(error)
    for cls, words, kind in _BY_MESSAGE:
        if isinstance(error, cls) and words in message:
            return kind
    for cls, kind in _BY_CLASS:
        if isinstance(error, cls):
            return kind
    return {"TypeError": "type", "ValueError": "value"}.get(_root(error), "other")


def _root(error: BaseException) -> str:
    return next((cls.__name__ for cls in type(error).__mro__ if cls in (TypeError, ValueError)), "")


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_MOST_ERROR]
    except Exception:  # the text of a foreign exception may fail
        return ""


def operand_types(error: BaseException) -> list[str]:
    """At most two type names of the closed set, as Python's own message of a type error gives them."""
    if not isinstance(error, TypeError):
        return []
    return [name for name in _TYPE_NAMES.findall(_text(error)) if name in OPERAND_TYPES][:2]


def place_of(error: BaseException) -> list[int]:
    """Line, column, end line and end column of the failing expression in the masked program; empty if unknown."""
    found: list[int] = []
    current: TracebackType | None = error.__traceback__
    while current is not None:
        code = current.tb_frame.f_code
        if code.co_filename == PROGRAM:
            positions = list(code.co_positions())[current.tb_lasti // 2]
            if None not in positions:
                line, end_line, column, end_column = (int(part or 0) for part in positions)
                found = [line, column, end_line, end_column]
        current = current.tb_next
    return found


def expression_places(source: str) -> list[list[int]]:
    """Places of all expressions of a program, in order; empty when it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    places = {
        (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
        for node in ast.walk(tree)
        if isinstance(node, (ast.expr, ast.stmt))
    }
    return [list(place) for place in sorted(places)][:_MOST_PLACES]


def report(error: BaseException) -> dict[str, Any]:
    """The reply of a child whose program raised."""
    kind = kind_of(error)
    place = place_of(error)
    outcome = Outcome.ERROR
    if kind == "recursion":
        outcome = Outcome.RECURSION
    elif isinstance(error, BlockingIOError) or "start new thread" in _text(error):
        outcome = Outcome.PROCESSES
    said = traceback.format_exception_only(error)
    text = "".join(said)[:_MOST_ERROR].strip()
    if place:
        text = f"line {place[0]}: {text}"
    found = {"outcome": outcome.value, "kind": kind, "place": place, "operands": operand_types(error), "error": text}
    return {**found, "late": demanded(error)}
