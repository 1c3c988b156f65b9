"""From a decoded value to the typed result of the envelope."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import math
import re
from collections.abc import Iterable
from typing import Any

from nl2net.model import ResultType, TypedResult
from nl2net.sandbox.channel.values import GraphValue, TableValue, ViewValue

FIGURES = ("bar", "line", "scatter", "histogram", "graph")
_EXACT_INTEGER = 1 << 53
_DIGITS = re.compile(r"(\d+)")


def natural_key(value: Any) -> tuple[Any, ...]:
    """Sort key under which ``port 9`` stands before ``port 10``; values of different types stand apart.

    Examples
    --------
    >>> sorted(["p10", "p9", 3], key=natural_key)
    [3, 'p9', 'p10']
    """
    if isinstance(value, (int, float)):
        return (0, value if value == value else math.inf, "")
    text = str(value)
    # Odd places hold digits, even places text: two keys never compare text with a number.
    parts = tuple(int(part) if place % 2 else part for place, part in enumerate(_DIGITS.split(text)))
    return (1, 0, parts)


def plain(value: Any) -> Any:
    """A decoded value as plain JSON: integers stay integers, times are ISO text, sets are sorted lists."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if kind in (list, tuple):
        return [plain(item) for item in value]
    if kind is frozenset:
        return [plain(item) for item in sorted(value, key=natural_key)]
    if kind is dict:
        return {label(key): plain(item) for key, item in value.items()}
    if kind is ViewValue:
        return [plain(item) for item in value.items]
    if kind is TableValue:
        return _frame(value)
    if kind is GraphValue:
        return node_link(value)
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if kind is dt.timedelta:
        return value.total_seconds()
    if kind is decimal.Decimal:
        return float(value) if value.is_finite() else str(value)
    if kind is fractions.Fraction:
        return value.numerator / value.denominator
    return str(value)


def label(key: Any) -> str:
    """A mapping key as text; the parts of a tuple are joined."""
    if type(key) in (tuple, list):
        return " - ".join(label(part) for part in key)
    shown = plain(key)
    return shown if isinstance(shown, str) else str(shown)


def _frame(value: TableValue) -> dict[str, Any]:
    columns = [label(name) if name is not None else "value" for name in value.columns]
    if value.plain_index:
        return {"columns": columns, "rows": [[plain(cell) for cell in row] for row in value.rows]}
    width = max((len(entry) if type(entry) is tuple else 1 for entry in value.index), default=1)
    names = [label(name) if name is not None else "" for name in value.index_names] + [""] * width
    heads = [name or ("index" if width == 1 else f"index {place + 1}") for place, name in enumerate(names[:width])]
    rows = [
        [plain(part) for part in (entry if type(entry) is tuple else (entry,))] + [plain(cell) for cell in row]
        for entry, row in zip(value.index, value.rows, strict=True)
    ]
    return {"columns": [*heads, *columns], "rows": rows}


def node_link(value: GraphValue) -> dict[str, Any]:
    """Node-link JSON with key ``links``."""
    nodes = [{**plain(attributes), "id": plain(node)} for node, attributes in value.nodes]
    links = []
    for edge in value.edges:
        ends = {"source": plain(edge[0]), "target": plain(edge[1])}
        key = {"key": plain(edge[2])} if value.multigraph else {}
        links.append({**plain(edge[-1]), **ends, **key})
    return {"directed": value.directed, "multigraph": value.multigraph, "graph": {}, "nodes": nodes, "links": links}


def _records(rows: list[dict[Any, Any]], lead: list[Any] | None = None) -> dict[str, Any]:
    names = list(dict.fromkeys(key for row in rows for key in row))
    body = [[plain(row.get(name)) for name in names] for row in rows]
    columns = [label(name) for name in names]
    if lead is None:
        return {"columns": columns, "rows": body}
    return {"columns": ["key", *columns], "rows": [[plain(key), *row] for key, row in zip(lead, body, strict=True)]}


def _same_width(items: Iterable[Any]) -> int:
    """Width of a list of equally long tuples, else 0."""
    widths = {len(item) if type(item) is tuple else 0 for item in items}
    return widths.pop() if len(widths) == 1 else 0


def _sequence(items: list[Any]) -> tuple[ResultType, Any]:
    if items and all(type(item) is dict for item in items):
        return ResultType.TABLE, _records(items)
    width = _same_width(items)
    if width >= 2:
        names = [f"column {place + 1}" for place in range(width)]
        return ResultType.TABLE, {"columns": names, "rows": [[plain(cell) for cell in row] for row in items]}
    return ResultType.LIST, [plain(item) for item in items]


def _mapping(value: dict[Any, Any]) -> tuple[ResultType, Any]:
    rows = list(value.values())
    if rows and all(type(row) is dict for row in rows):
        return ResultType.TABLE, _records(rows, list(value))
    return ResultType.TABLE, {
        "columns": ["key", "value"],
        "rows": [[plain(key), plain(item)] for key, item in value.items()],
    }


def _figure(value: dict[Any, Any]) -> Any:
    """A figure is a mapping with ``figure`` from the closed list, and the table to draw from."""
    body = {key: item for key, item in value.items() if key != "figure"}
    table = body.get("table", body.get("data"))
    drawn = classify(table)
    shown = (
        drawn.data
        if drawn.type is ResultType.TABLE
        else {"columns": ["value"], "rows": [[item] for item in _listed(drawn)]}
    )
    captions = {key: item for key, item in body.items() if key in ("title", "x", "y") and type(item) is str}
    return {"kind": value["figure"], "table": shown, **captions}


def _listed(result: TypedResult) -> list[Any]:
    return result.data if isinstance(result.data, list) else [result.data]


def classify(value: Any, *, rows_total: int | None = None, cap: int | None = None) -> TypedResult:
    """The typed result of a decoded value.

    Parameters
    ----------
    value : Any
        What ``Decoder.decode`` gave.
    rows_total : int, optional
        Rows of the value before it was cut in the child.
    cap : int, optional
        Rows that the child may send.

    Examples
    --------
    >>> classify({"a": 1, "b": 2}).data
    {'columns': ['key', 'value'], 'rows': [['a', 1], ['b', 2]]}
    >>> classify(None).type.value
    'text'
    """
    kind = type(value)
    if kind in (int, float, decimal.Decimal, fractions.Fraction):
        return TypedResult(ResultType.NUMBER, plain(value))
    if kind is GraphValue:
        return TypedResult(ResultType.GRAPH, node_link(value))
    if kind is dict and value.get("figure") in FIGURES:
        return TypedResult(ResultType.FIGURE, _figure(value))
    if kind is TableValue:
        found: tuple[ResultType, Any] = (ResultType.TABLE, _frame(value))
    elif kind is dict:
        found = _mapping(value)
    elif kind is frozenset:
        found = _sequence(sorted(value, key=natural_key))
    elif kind in (list, tuple, ViewValue):
        found = _sequence(list(value.items if kind is ViewValue else value))
    else:
        return TypedResult(ResultType.TEXT, plain(value))
    shown = len(found[1]["rows"] if found[0] is ResultType.TABLE else found[1])
    total = shown if rows_total is None else max(rows_total, shown)
    return TypedResult(found[0], found[1], rows_total=total, truncated=total > shown)
