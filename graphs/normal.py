"""The normal form: rules on ids, names and values, and the smallest networkx class that loses nothing."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nl2net.graphs.coerce import clean_records
from nl2net.graphs.columns import MISSING, GraphColumns, attribute_columns
from nl2net.graphs.draft import Draft
from nl2net.graphs.limits import Limits
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.merge import merge_parallel
from nl2net.graphs.source import Source

Ends = tuple[NDArray[np.int64], NDArray[np.int64]]

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
    ends = _add_missing_ends(draft, source, options)
    if not draft.node_ids:
        raise source.error("the file holds no nodes", hint="Check the format with --format, or export it again.")
    nodes = _columns(draft.node_attributes, draft.node_columns)
    edges = _columns(draft.edge_attributes, draft.edge_columns)
    nodes = _rename(draft, "node", draft.node_attributes, nodes)
    edges = _rename(draft, "edge", draft.edge_attributes, edges)
    _clean(draft.node_attributes, nodes, "node", source)
    _clean(draft.edge_attributes, edges, "edge", source)
    if options.merge:
        merge_parallel(draft, options.merge, source)
        edges, ends = attribute_columns(draft.edge_attributes), _positions(draft)
    graph = _fill(draft, ends, options.multigraph)
    graph.graph.update({k: v for k, v in draft.graph_attributes.items() if k not in ("tables", "units")})
    units = {**draft.units, **options.units}
    if units:
        graph.graph["units"] = units
    if draft.tables:
        graph.graph["tables"] = draft.tables
    if draft.notes:
        graph.graph["notes"] = list(draft.notes)
    view = GraphColumns(graph, draft.node_ids, draft.sources, draft.targets, nodes, edges)
    view.ends = ends
    return view


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


def _positions(draft: Draft) -> Ends:
    """Link ends as positions in the list of nodes; a `KeyError` for an end that is no node.

    The ends become the text objects of the node ids: later look-ups find them by identity, and the copies of a table
    are freed.
    """
    position = dict(zip(draft.node_ids, range(len(draft.node_ids)), strict=True))
    u, v = (
        np.fromiter(map(position.__getitem__, ends), np.int64, len(ends)) for ends in (draft.sources, draft.targets)
    )
    ids = _objects(draft.node_ids)
    draft.sources, draft.targets = ids[u].tolist(), ids[v].tolist()
    return u, v


def _objects(values: list[Any]) -> Any:
    """A list as a numpy array of objects, one element each."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _add_missing_ends(draft: Draft, source: Source, options: ReadOptions) -> Ends:
    """Positions of the link ends, after ends without a record were added as nodes, where that is allowed."""
    if not draft.implicit_nodes or draft.node_ids:
        with suppress(KeyError):
            return _positions(draft)
    known = set(draft.node_ids)
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
    for values in (draft.node_columns or {}).values():
        values.extend([MISSING] * len(missing))
    _check_size(draft, source.limits, source)
    return _positions(draft)


def _columns(records: list[dict[str, Any]], known: dict[str, list[Any]] | None) -> dict[str, list[Any]]:
    """The columns that the reader has, unless records were added since."""
    if known is not None and all(len(values) == len(records) for values in known.values()):
        return known
    return attribute_columns(records)


def _rename(
    draft: Draft, owner: str, records: list[dict[str, Any]], columns: dict[str, list[Any]]
) -> dict[str, list[Any]]:
    for name in RESERVED:
        if name not in columns:
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
        columns = _renamed(columns, name, renamed)
    return columns


def _renamed(columns: dict[str, list[Any]], name: str, renamed: str) -> dict[str, list[Any]]:
    values = columns[name]
    rest = {key: column for key, column in columns.items() if key != name}
    if renamed in rest:  # the file uses the new name as well: the records say which value was kept
        other = rest[renamed]
        values = [b if a is MISSING else a for a, b in zip(values, other, strict=True)]
    return {**rest, renamed: values}


def _clean(records: list[dict[str, Any]], columns: dict[str, list[Any]], owner: str, source: Source) -> None:
    """Normalise values and check limits."""
    limits = source.limits
    widest = max(map(len, records), default=0)
    if widest > limits.attributes:
        raise source.error(
            f"{widest} attributes on one {owner}, more than the limit of {limits.attributes}",
            hint="Raise `max_attributes` in the settings if the file is trusted.",
        )
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


def _has_parallel(ends: Ends, nodes: int, directed: bool) -> bool:
    u, v = ends if directed else (np.minimum(*ends), np.maximum(*ends))
    pairs = np.sort(u * nodes + v)
    return bool((pairs[1:] == pairs[:-1]).any())


def _fill(draft: Draft, ends: Ends, wide: bool) -> Any:
    """Build the graph in the smallest class that loses no link.

    The adjacency is filled directly because `add_edges_from` takes as long as reading the file; its order is that of
    networkx, which a test compares.
    """
    multi = wide or _has_parallel(ends, len(draft.node_ids), draft.directed)
    graph = _CLASSES[draft.directed, multi]()
    graph._node.update(zip(draft.node_ids, draft.node_attributes, strict=True))
    if multi:
        _fill_multi(graph, draft)
        return graph
    u, v = ends
    index = np.arange(len(u))
    if draft.directed:
        graph._adj.update(_adjacency(draft, u, v, index))
        graph._pred.update(_adjacency(draft, v, u, index))
    else:
        both, far = np.column_stack((u, v)).ravel(), np.column_stack((v, u)).ravel()
        graph._adj.update(_adjacency(draft, both, far, np.repeat(index, 2)))
    return graph


def _adjacency(draft: Draft, near: Any, far: Any, index: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """Neighbours with the link's attributes for every node, in the order of the links.

    Sorted by node first, so that each small dict is made in one go instead of being visited link by link.
    """
    order = np.argsort(near, kind="stable")
    names = _objects(draft.node_ids)[far[order]].tolist()
    records = _objects(draft.edge_attributes)[index[order]].tolist()
    bounds = np.bincount(near, minlength=len(draft.node_ids)).cumsum().tolist()
    return {
        node: dict(zip(names[start:end], records[start:end], strict=True))
        for node, start, end in zip(draft.node_ids, [0, *bounds], bounds, strict=False)
    }


def _fill_multi(graph: Any, draft: Draft) -> None:
    forward = graph._adj
    forward.update((node, {}) for node in draft.node_ids)
    backward = forward
    if draft.directed:
        backward = graph._pred
        backward.update((node, {}) for node in draft.node_ids)
    for u, v, data in zip(draft.sources, draft.targets, draft.edge_attributes, strict=True):
        row = forward[u]
        if v in row:
            row[v][len(row[v])] = data
        else:
            row[v] = backward[v][u] = {0: data}


_CLASSES: dict[tuple[bool, bool], Any] = {
    (False, False): nx.Graph,
    (True, False): nx.DiGraph,
    (False, True): nx.MultiGraph,
    (True, True): nx.MultiDiGraph,
}
