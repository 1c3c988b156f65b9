"""A hash over the sorted normal form, so that file order and file format do not matter."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nl2net.graphs.columns import GraphColumns
from nl2net.model import GraphSchema


def canonical(value: Any) -> Any:
    """A nested value with its mappings sorted.

    Examples
    --------
    >>> canonical({"b": 1, "a": [2]})
    ('{', ('a', ['[', 2]), ('b', 1))
    """
    if isinstance(value, dict):
        return ("{", *sorted((str(key), canonical(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ["[", *map(canonical, value)]
    return value


def _update(digest: Any, heading: Any, body: Any = b"") -> None:
    digest.update(repr(heading).encode("utf-8", errors="surrogatepass"))
    digest.update(body if isinstance(body, bytes) else repr(body).encode("utf-8", errors="surrogatepass"))


def _update_columns(digest: Any, columns: dict[str, list[Any]], order: NDArray[np.int64]) -> None:
    """Every column in the order of the rows; plain numbers as their bytes, everything else as printed."""
    places = order.tolist()
    for name in sorted(columns):
        values = columns[name]
        types = set(map(type, values))
        if types == {int} and max(values) < 2**63 and min(values) >= -(2**63):
            _update(digest, (name, "integers"), np.array(values, dtype="<i8")[order].tobytes())
        elif types == {float}:
            _update(digest, (name, "numbers"), np.array(values, dtype="<f8")[order].tobytes())
        else:
            if types & {dict, list}:
                values = list(map(canonical, values))
            _update(digest, (name, "values"), [values[place] for place in places])


def _ranks(ids: list[str]) -> NDArray[np.int64]:
    """Place of each id in sorted order."""
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return ranks


def _parallel_order(view: GraphColumns, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order of links where parallel ones are told apart by their attributes only."""
    columns = [list(map(canonical, view.edges[name])) for name in sorted(view.edges)]
    texts = list(map(repr, zip(*columns, strict=True))) if columns else [""] * len(first)
    keys = list(zip(first.tolist(), second.tolist(), texts, strict=True))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _ordered_ends(view: GraphColumns, ranks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the link ends, the smaller id first where links have no direction."""
    u, v = view.ends
    if view.graph.is_directed():
        return u, v
    swap = ranks[u] > ranks[v]
    return np.where(swap, v, u), np.where(swap, u, v)


def fingerprint(view: GraphColumns) -> str:
    """``sha256:`` and the hash of ids, kinds, attributes, class and tables of a graph.

    Notes
    -----
    The ends of an undirected link are ordered; its ``ports`` are keyed by node and need no order.
    """
    digest = hashlib.sha256()
    graph = view.graph
    ranks = _ranks(view.ids)
    _update(digest, ("nodes", graph.is_directed(), graph.is_multigraph(), len(view.ids)), sorted(view.ids))
    _update_columns(digest, view.nodes, np.argsort(ranks))
    first, second = (ranks[ends] for ends in _ordered_ends(view, ranks))
    order = np.lexsort((second, first))
    if graph.is_multigraph():
        order = _parallel_order(view, first, second)
    _update(digest, ("edges", len(order)))
    for end in (first, second):
        digest.update(end[order].astype("<i8").tobytes())
    _update_columns(digest, view.edges, order)
    for name, rows in sorted(graph.graph.get("tables", {}).items()):
        _update(digest, ("table", name, len(rows)), sorted(map(repr, map(canonical, rows))))
    return f"sha256:{digest.hexdigest()}"


def fingerprint_of(graph: Any) -> str:
    """The fingerprint of any graph in normal form, such as a changed copy."""
    return fingerprint(GraphColumns.of(graph))


def schema_hash(schema: GraphSchema) -> str:
    """``sha256:`` and the hash of everything in a schema."""
    text = repr(canonical_schema(asdict(schema)))
    return f"sha256:{hashlib.sha256(text.encode('utf-8', errors='surrogatepass')).hexdigest()}"


def canonical_schema(value: Any) -> Any:
    """Like `canonical`, for tuples as well."""
    if isinstance(value, dict):
        return sorted((str(key), canonical_schema(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return [canonical_schema(item) for item in value]
    return value
