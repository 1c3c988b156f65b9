"""The normal form: rules on ids, names and values, and the smallest networkx class that loses nothing."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from operator import eq
from typing import Any

import networkx as nx

from nl2net.graphs.coerce import clean_records
from nl2net.graphs.columns import MISSING, GraphColumns, attribute_columns
from nl2net.graphs.draft import Draft
from nl2net.graphs.limits import Limits
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.merge import merge_parallel
from nl2net.graphs.source import Source

RESERVED = ("id", "source", "target", "key")


def build_graph(draft: Draft, source: Source, options: ReadOptions) -> GraphColumns:
    """Apply the rules of the normal form to a draft and build the graph.

    Parameters
    ----------
    draft : Draft
        From a reader; changed in place.
    source : Source
        Names the file in errors.
    options : ReadOptions
        ``multigraph``, ``allow_dangling``, ``merge`` and ``units`` are used here.

    Returns
    -------
    GraphColumns
        The graph, of the smallest class that loses nothing, and its columns. Ids are text; no attribute is ``None``,
        NaN or an empty text. Links are in the order and direction of the file.

    Raises
    ------
    DataError
        No node at all, a repeated id, a link to an unknown node, a reserved or over-long attribute, a limit.
    """
    _check_size(draft, source.limits, source)
    _check_unique(draft, source)
    _add_missing_ends(draft, source, options)
    if not draft.node_ids:
        raise source.error("the file holds no nodes", hint="Check the format with --format, or export it again.")
    _rename(draft, "node", draft.node_attributes)
    _rename(draft, "edge", draft.edge_attributes)
    nodes = _clean(draft.node_attributes, "node", source)
    edges = _clean(draft.edge_attributes, "edge", source)
    if options.merge:
        merge_parallel(draft, options.merge, source)
        edges = attribute_columns(draft.edge_attributes)
    graph = _fill(draft, options.multigraph)
    graph.graph.update({k: v for k, v in draft.graph_attributes.items() if k not in ("tables", "units")})
    units = {**draft.units, **options.units}
    if units:
        graph.graph["units"] = units
    if draft.tables:
        graph.graph["tables"] = draft.tables
    if draft.notes:
        graph.graph["notes"] = list(draft.notes)
    return GraphColumns(graph, draft.node_ids, draft.sources, draft.targets, nodes, edges)


def _check_size(draft: Draft, limits: Limits, source: Source) -> None:
    for what, found, limit, setting in (
        ("nodes", len(draft.node_ids), limits.nodes, "max_nodes"),
        ("links", len(draft.sources), limits.edges, "max_edges"),
    ):
        if found > limit:
            raise source.error(f"{found} {what}, more than the limit of {limit}", hint=f"Raise `{setting}`.")


def _check_unique(draft: Draft, source: Source) -> None:
    if len(set(draft.node_ids)) == len(draft.node_ids):
        return
    repeated = [node for node, count in Counter(draft.node_ids).items() if count > 1]
    raise source.error(
        f"{len(repeated)} node ids are used more than once, such as {repeated[0][:60]!r}",
        field="id",
        hint="Every node needs an id of its own.",
    )


def _add_missing_ends(draft: Draft, source: Source, options: ReadOptions) -> None:
    known = set(draft.node_ids)
    if known.issuperset(draft.sources) and known.issuperset(draft.targets):
        # One text object per id: every later look-up finds it by identity, and the copies of a table are freed.
        same = dict(zip(draft.node_ids, draft.node_ids, strict=True))
        draft.sources = list(map(same.__getitem__, draft.sources))
        draft.targets = list(map(same.__getitem__, draft.targets))
        return
    # In the order of the links, so that the same file gives the same graph every time.
    missing = dict.fromkeys(
        end for end in chain.from_iterable(zip(draft.sources, draft.targets, strict=True)) if end not in known
    )
    if not (draft.implicit_nodes or options.allow_dangling):
        example = next(iter(missing))
        raise source.error(
            f"{len(missing)} link ends have no node record, such as {example[:60]!r}",
            field="links",
            hint="Mend the file, or pass --allow-dangling to create these nodes.",
        )
    if known and not draft.implicit_nodes:
        draft.find("dangling", len(missing), "link ends without a node record were added as nodes", examples=missing)
    draft.node_ids.extend(missing)
    draft.node_attributes.extend({} for _ in missing)
    _check_size(draft, source.limits, source)


def _rename(draft: Draft, owner: str, records: list[dict[str, Any]]) -> None:
    names = set(chain.from_iterable(records)) if records else set()
    for name in RESERVED:
        if name not in names:
            continue
        renamed = f"file_{name}"
        changed = 0
        for record in records:
            if name in record:
                record[renamed] = record.pop(name)
                changed += 1
        draft.find(
            "renamed",
            changed,
            f"the {owner} attribute {name!r} is a reserved word and is now {renamed!r}",
            severity="info",
        )


def _clean(records: list[dict[str, Any]], owner: str, source: Source) -> dict[str, list[Any]]:
    """Normalise values and check limits; returns the columns."""
    limits = source.limits
    widest = max(map(len, records), default=0)
    if widest > limits.attributes:
        raise source.error(
            f"{widest} attributes on one {owner}, more than the limit of {limits.attributes}",
            hint="Raise `max_attributes` in the settings if the file is trusted.",
        )
    columns = attribute_columns(records)
    for name, values in columns.items():
        longest = max(
            map(len, (v for v in values if type(v) is str) if str in set(map(type, values)) else ()), default=0
        )
        if max(longest, len(name)) > limits.text:
            raise source.error(
                f"a text of {max(longest, len(name))} characters, more than the limit of {limits.text}",
                field=name[:60],
                hint="Raise `max_text_chars` in the settings if the file is trusted.",
            )
    clean_records(records, columns, MISSING)
    return columns


def _fill(draft: Draft, wide: bool) -> Any:
    """Build the graph; the adjacency is filled directly because `add_edges_from` takes as long as reading the file."""
    graph = None if wide else _fill_class(draft, multi=False)
    return _fill_class(draft, multi=True) if graph is None else graph


def _fill_class(draft: Draft, *, multi: bool) -> Any:
    """The graph in one class; ``None`` where a simple class would lose a parallel link."""
    sources, targets = draft.sources, draft.targets
    graph = _CLASSES[draft.directed, multi]()
    graph._node.update(zip(draft.node_ids, draft.node_attributes, strict=True))
    forward = graph._adj
    for node in draft.node_ids:
        forward[node] = {}
    backward = forward
    if draft.directed:
        backward = graph._pred
        for node in draft.node_ids:
            backward[node] = {}
    if multi:
        for u, v, data in zip(sources, targets, draft.edge_attributes, strict=True):
            row = forward[u]
            if v in row:
                row[v][len(row[v])] = data
            else:
                row[v] = backward[v][u] = {0: data}
    else:
        for u, v, data in zip(sources, targets, draft.edge_attributes, strict=True):
            forward[u][v] = backward[v][u] = data
        entries = sum(map(len, forward.values()))
        loops = 0 if draft.directed else sum(map(eq, sources, targets))
        if entries != (1 if draft.directed else 2) * len(sources) - loops:
            return None
    return graph


_CLASSES: dict[tuple[bool, bool], Any] = {
    (False, False): nx.Graph,
    (True, False): nx.DiGraph,
    (False, True): nx.MultiGraph,
    (True, True): nx.MultiDiGraph,
}
