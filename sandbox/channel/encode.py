"""Encode a program's value, by exact type only. Runs in the sealed child.

A subclass could lie about itself, so it is refused like any unknown type; the error names the type and never shows
the value: a default ``repr`` holds an object address.
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import ipaddress
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from networkx.classes import coreviews, reportviews

from nl2net.sandbox.outcome import Limits

EXACT_INTEGER = 1 << 53
INTEGER_BITS = 4096


class CannotEncode(Exception):
    """The value has no form in the answer; the message names its type."""


class TooLarge(Exception):
    """The value is over a cap."""


class Encoder:
    """Encodes one value within the caps of one run; ``rows_total`` is set when the outermost rows were cut."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.items * 20
        self.rows_total: int | None = None

    def encode_answer(self, value: Any) -> Any:
        """Encode the outermost value; its rows may be cut to the cap."""
        kind = type(value)
        if kind in _CUT:
            cap = self.limits.items
            size = len(value)
            self.rows_total = size
            if size > cap:
                value = _CUT[kind](value, cap)
        return self.encode(value, 0)

    def encode(self, value: Any, depth: int) -> Any:
        """Encode a value at a depth."""
        if depth > self.limits.depth:
            raise TooLarge(f"nested deeper than {self.limits.depth}")
        self.left -= 1
        if self.left < 0:
            raise TooLarge("too many values")
        handler = _HANDLERS.get(type(value))
        if handler is None:
            raise CannotEncode(type(value).__name__)
        return handler(self, value, depth)

    def each(self, values: Iterable[Any], depth: int) -> list[Any]:
        """Encode the members of a container that stands at ``depth``."""
        return [self.encode(value, depth + 1) for value in values]

    def text(self, value: str) -> str:
        """A text within the cap, with lone surrogates replaced."""
        if len(value) > self.limits.text_chars:
            raise TooLarge(f"a text of {len(value)} characters")
        return value.encode("utf-8", "replace").decode("utf-8")


def _constant(encoder: Encoder, value: Any, depth: int) -> Any:
    return value


def _integer(encoder: Encoder, value: Any, depth: int) -> Any:
    number = int(value)
    if -EXACT_INTEGER <= number <= EXACT_INTEGER:
        return number
    if number.bit_length() > INTEGER_BITS:
        raise TooLarge(f"an integer of {number.bit_length()} bits")
    return {"$int": hex(number)}


def _float(encoder: Encoder, value: Any, depth: int) -> Any:
    number = float(value)
    return number if math.isfinite(number) else {"$float": repr(number)}


def _complex(encoder: Encoder, value: Any, depth: int) -> Any:
    return {"$complex": [_float(encoder, value.real, depth), _float(encoder, value.imag, depth)]}


def _text(encoder: Encoder, value: Any, depth: int) -> Any:
    return encoder.text(str(value))


def _list(encoder: Encoder, value: Any, depth: int) -> Any:
    return encoder.each(value, depth)


def _tagged(tag: str) -> Callable[[Encoder, Any, int], Any]:
    def encode(encoder: Encoder, value: Any, depth: int) -> Any:
        return {tag: encoder.each(value, depth)}

    return encode


def _dict(encoder: Encoder, value: Any, depth: int) -> Any:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {encoder.text(key): encoder.encode(item, depth + 1) for key, item in value.items()}
    return {
        "$pairs": [[encoder.encode(key, depth + 1), encoder.encode(item, depth + 1)] for key, item in value.items()]
    }


def _mapping_view(encoder: Encoder, value: Any, depth: int) -> Any:
    return _dict(encoder, dict(value.items()), depth)


def _isoformat(tag: str) -> Callable[[Encoder, Any, int], Any]:
    def encode(encoder: Encoder, value: Any, depth: int) -> Any:
        return {tag: value.isoformat()}

    return encode


def _timestamp(encoder: Encoder, value: Any, depth: int) -> Any:
    return {"$datetime": value.to_pydatetime(warn=False).isoformat()}


def _seconds(encoder: Encoder, value: Any, depth: int) -> Any:
    return {"$timedelta": value.total_seconds()}


def _numpy_time(encoder: Encoder, value: Any, depth: int) -> Any:
    if np.isnat(value):
        return None
    return encoder.encode(pd.Timestamp(value) if type(value) is np.datetime64 else pd.Timedelta(value), depth)


def _address(encoder: Encoder, value: Any, depth: int) -> Any:
    return {"$address": [type(value).__name__, str(value)]}


def _decimal(encoder: Encoder, value: Any, depth: int) -> Any:
    return {"$decimal": encoder.text(str(value))}


def _fraction(encoder: Encoder, value: Any, depth: int) -> Any:
    return {"$fraction": [_integer(encoder, value.numerator, depth), _integer(encoder, value.denominator, depth)]}


def _array(encoder: Encoder, value: Any, depth: int) -> Any:
    if value.ndim == 0:
        return encoder.encode(value.item(), depth)
    if value.size > encoder.left:
        raise TooLarge(f"an array of {value.size} values")
    return {"$array": encoder.encode(value.tolist(), depth)}


def _column(encoder: Encoder, values: Any, depth: int) -> list[Any]:
    # A missing cell of a nullable column is None; NaN of a float column stays a number.
    missing = (pd.NA, pd.NaT)
    return [None if any(cell is none for none in missing) else encoder.encode(cell, depth) for cell in values.tolist()]


def _index(encoder: Encoder, value: Any, depth: int) -> Any:
    return {"$index": _column(encoder, value, depth + 1)}


def _frame(encoder: Encoder, value: Any, depth: int) -> Any:
    columns = [_column(encoder, value.iloc[:, place], depth + 1) for place in range(value.shape[1])]
    labels = _column(encoder, value.columns, depth + 1)
    return _table(encoder, value.index, "frame", (labels, columns), depth)


def _series(encoder: Encoder, value: Any, depth: int) -> Any:
    label = None if value.name is None else encoder.encode(value.name, depth + 1)
    return _table(encoder, value.index, "series", ([label], [_column(encoder, value, depth + 1)]), depth)


def _table(encoder: Encoder, index: Any, kind: str, body: tuple[list[Any], list[list[Any]]], depth: int) -> Any:
    labels, columns = body
    return {
        "$table": {
            "kind": kind,
            "columns": labels,
            "index_names": encoder.each(list(index.names), depth),
            "index": _column(encoder, index, depth + 1),
            "data": columns,
        }
    }


def _graph(encoder: Encoder, value: Any, depth: int) -> Any:
    multi = bool(value.is_multigraph())
    if len(value) + value.number_of_edges() > encoder.limits.items * 5:
        raise TooLarge("a graph of too many nodes and edges")
    nodes = [
        [encoder.encode(node, depth + 2), encoder.encode(dict(data), depth + 2)] for node, data in value.nodes.items()
    ]
    edges = [
        [*(encoder.encode(end, depth + 2) for end in edge), encoder.encode(dict(data), depth + 2)]
        for edge, data in value.edges.items()
    ]
    return {"$graph": {"directed": bool(value.is_directed()), "multigraph": multi, "nodes": nodes, "links": edges}}


_Handler = Callable[[Encoder, Any, int], Any]

_ADDRESSES = (
    ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network,
    ipaddress.IPv4Interface, ipaddress.IPv6Interface,
)  # fmt: skip
_GRAPHS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
_INDEXES = (
    pd.Index, pd.RangeIndex, pd.MultiIndex, pd.DatetimeIndex, pd.TimedeltaIndex, pd.CategoricalIndex,
    pd.IntervalIndex, pd.PeriodIndex,
)  # fmt: skip
_EMPTY_MAPPING: dict[str, str] = {}
_VIEWS = (
    *(getattr(reportviews, name) for name in reportviews.__all__),
    type(_EMPTY_MAPPING.keys()),
    type(_EMPTY_MAPPING.values()),
    type(_EMPTY_MAPPING.items()),
)
_MAP_VIEWS = tuple(
    getattr(coreviews, name) for name in coreviews.__all__ if name.endswith(("View", "Atlas", "Adjacency"))
)
_TRUTH = (bool, type(None))
_EMPTY = (type(pd.NaT), type(pd.NA))


_HANDLERS: dict[type, _Handler] = {
    **dict.fromkeys(_TRUTH, _constant),
    **dict.fromkeys(_EMPTY, lambda encoder, value, depth: None),
    **dict.fromkeys(
        (int, *(getattr(np, f"{sign}int{size}") for sign in ("", "u") for size in (8, 16, 32, 64))), _integer
    ),
    np.longlong: _integer,
    np.ulonglong: _integer,
    np.bool_: lambda encoder, value, depth: bool(value),
    **dict.fromkeys((float, np.float16, np.float32, np.float64, np.longdouble), _float),
    **dict.fromkeys((complex, np.complex64, np.complex128), _complex),
    **dict.fromkeys((str, np.str_), _text),
    list: _list,
    tuple: _tagged("$tuple"),
    deque: _list,
    set: _tagged("$set"),
    frozenset: _tagged("$set"),
    range: _list,
    **dict.fromkeys((dict, Counter, OrderedDict, defaultdict), _dict),
    **dict.fromkeys(_MAP_VIEWS, _mapping_view),
    **dict.fromkeys(_VIEWS, _tagged("$view")),
    dt.datetime: _isoformat("$datetime"),
    dt.date: _isoformat("$date"),
    dt.time: _isoformat("$time"),
    dt.timedelta: _seconds,
    pd.Timedelta: _seconds,
    pd.Timestamp: _timestamp,
    pd.Period: lambda encoder, value, depth: encoder.text(str(value)),
    pd.Interval: lambda encoder, value, depth: encoder.text(str(value)),
    **dict.fromkeys((np.datetime64, np.timedelta64), _numpy_time),
    **dict.fromkeys(_ADDRESSES, _address),
    decimal.Decimal: _decimal,
    fractions.Fraction: _fraction,
    np.ndarray: _array,
    **dict.fromkeys(_INDEXES, _index),
    pd.DataFrame: _frame,
    pd.Series: _series,
    **dict.fromkeys(_GRAPHS, _graph),
}


def _cut_pandas(value: Any, cap: int) -> Any:
    return value.iloc[:cap]


def _cut_mapping(value: Any, cap: int) -> Any:
    return dict(islice(value.items(), cap))


_CUT: dict[type, Callable[[Any, int], Any]] = {
    list: lambda value, cap: value[:cap],
    tuple: lambda value, cap: value[:cap],
    **dict.fromkeys((set, frozenset), lambda value, cap: set(islice(value, cap))),
    **dict.fromkeys((dict, Counter, OrderedDict, defaultdict), _cut_mapping),
    **dict.fromkeys((pd.DataFrame, pd.Series), _cut_pandas),
    **dict.fromkeys(_INDEXES, lambda value, cap: value[:cap]),
    **dict.fromkeys(_VIEWS, lambda value, cap: list(islice(value, cap))),
}
