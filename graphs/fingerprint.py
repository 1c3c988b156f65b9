"""A hash over the sorted normal form, so that file order and file format do not matter."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

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


def _update(digest: Any, heading: Any, rows: Iterable[Any]) -> None:
    digest.update(repr(heading).encode("utf-8", errors="surrogatepass"))
    digest.update("\n".join(sorted(map(repr, rows))).encode("utf-8", errors="surrogatepass"))


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
    _update(digest, heading, zip(view.ids, *columns, strict=True))
    names, columns = _columns(view.edges)
    firsts, seconds = view.sources, view.targets
    if not graph.is_directed():
        firsts, seconds = list(map(min, firsts, seconds)), list(map(max, firsts, seconds))
    _update(digest, ("edges", names), zip(firsts, seconds, *columns, strict=True))
    for name, rows in sorted(graph.graph.get("tables", {}).items()):
        _update(digest, ("table", name), map(canonical, rows))
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
