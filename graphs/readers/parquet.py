"""Parquet by DuckDB: edge lists, pairs of nodes and edges, and flow tables."""

from __future__ import annotations

from typing import Any

from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.readers.columns_to_links import Table, add_links, add_nodes, apply_sidecar
from nl2net.graphs.readers.flows import flows_to_draft, is_flow_header
from nl2net.graphs.readers.tables import partner
from nl2net.graphs.source import Source


def _is_parquet(source: Source) -> bool:
    if source.is_folder:
        pair = partner(source.path)
        return pair is not None and pair[0].suffix == ".parquet"
    return source.head[:4] == b"PAR1"


def read_parquet_table(source: Source) -> Table:
    """A Parquet file as columns.

    Raises
    ------
    DataError
        Too large, truncated, or no Parquet.
    """
    import duckdb

    size = source.path.stat().st_size
    if size > source.limits.file_bytes:
        raise source.error(
            f"{size} bytes, more than the limit of {source.limits.file_bytes}", hint="Raise max_file_mb."
        )
    if any(mark in str(source.path) for mark in "*?[]{}"):
        raise source.error("the path holds one of * ? [ ] { }, which would be read as a pattern", hint="Rename it.")
    connection = duckdb.connect()
    try:
        connection.execute("SET autoinstall_known_extensions=false")
        relation = connection.from_parquet(str(source.path))
        rows = relation.aggregate("count(*)").fetchall()[0][0]
        if rows > max(source.limits.edges, source.limits.nodes):
            raise source.error(f"{rows} rows, more than the limit", hint="Raise `max_edges` in the settings.")
        arrays = relation.fetchnumpy()
    except duckdb.Error as error:
        raise source.error(
            f"not a readable Parquet file: {str(error).splitlines()[0][:120]}", hint="The file may be truncated."
        ) from None
    finally:
        connection.close()
    return Table(list(arrays), [_values(array) for array in arrays.values()], delimiter="")


def _values(array: Any) -> list[Any]:
    if hasattr(array, "categories"):  # an ENUM or dictionary column arrives as a pandas categorical
        return [None if value != value else value for value in array.tolist()]
    if array.dtype.kind in "mM":
        return [None if value is None else value.isoformat() for value in array.astype("O").tolist()]
    values: list[Any] = array.tolist()  # masked cells become None
    return values


def read_parquet(source: Source, options: ReadOptions) -> Draft:
    """Read one Parquet file, or both files of a pair."""
    draft = Draft()
    pair = partner(source.path)
    if pair is None:
        table = read_parquet_table(source)
        if is_flow_header(table.names) or options.by_port:
            return flows_to_draft(table, source, options)
        draft.implicit_nodes = True
        table.types = dict.fromkeys(table.names, "text")
        add_links(table, draft, source, options)
        draft.counts = {"rows": len(table.columns[0])}
        return draft
    node_source, edge_source = (source if path == source.path else source.sibling(path) for path in pair)
    nodes, edges = read_parquet_table(node_source), read_parquet_table(edge_source)
    meta = apply_sidecar(pair[1], draft, source)
    for table, owner in ((nodes, "nodes"), (edges, "edges")):
        # A Parquet column has its type already: text stays text.
        table.types = {**dict.fromkeys(table.names, "text"), **meta.get(owner, {})}
    add_nodes(nodes, draft, node_source)
    add_links(edges, draft, edge_source, options)
    draft.counts = {"node rows": len(nodes.columns[0]), "edge rows": len(edges.columns[0])}
    return draft


READERS = (Reader("parquet", _is_parquet, read_parquet, "Parquet edge list, pair of files, or flow table"),)
