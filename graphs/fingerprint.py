"""A hash over the sorted normal form, so that file order and file format do not matter."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
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


def _columns(columns: dict[str, list[Any]]) -> tuple[list[str], list[list[Any]]]:
    names = sorted(columns)
    ready = []
    for name in names:
        values = columns[name]
        nested = any(kind in (dict, list) for kind in set(map(type, values)))
        ready.append(list(map(canonical, values)) if nested else values)
    return names, ready


def _update(digest: Any, heading: Any, rows: Iterable[str]) -> None:
    digest.update(repr(heading).encode("utf-8", errors="surrogatepass"))
    digest.update("\n".join(rows).encode("utf-8", errors="surrogatepass"))


def _ranks(ids: list[str]) -> NDArray[np.int64]:
    """Place of each id in sorted order."""
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return ranks


def _ordered_ends(view: GraphColumns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the link ends, the smaller id first where links have no direction."""
    u, v = view.ends
    if view.graph.is_directed():
        return u, v
    ranks = _ranks(view.ids)
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
    names, columns = _columns(view.nodes)
    heading = ("nodes", graph.is_directed(), graph.is_multigraph(), names)
    _update(digest, heading, sorted(map(repr, zip(view.ids, *columns, strict=True))))
    names, columns = _columns(view.edges)
    first, second = _ordered_ends(view)
    ids = view.ids
    ends = ([ids[i] for i in first.tolist()], [ids[i] for i in second.tolist()])
    rows = list(map(repr, zip(*ends, *columns, strict=True)))
    # Parallel links are told apart by their attributes only: then the texts themselves are sorted.
    if graph.is_multigraph():
        rows.sort()
    else:
        ranks = _ranks(ids)
        rows = [rows[i] for i in np.lexsort((ranks[second], ranks[first])).tolist()]
    _update(digest, ("edges", names), rows)
    for name, rows in sorted(graph.graph.get("tables", {}).items()):
        _update(digest, ("table", name), sorted(map(repr, map(canonical, rows))))
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
