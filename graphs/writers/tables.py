"""CSV pair and Parquet pair, with a small side file for what a table cannot say."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

from nl2net.graphs.columns import MISSING, GraphColumns
from nl2net.graphs.writers.encoding import cell, column_type, metadata
from nl2net.locations import atomic_write

_PORTS = ("source_port", "target_port")


def _pair_paths(path: Path) -> tuple[Path, Path, Path]:
    stem = path.stem.removesuffix(".edges").removesuffix(".nodes")
    return (
        path.with_name(f"{stem}.nodes{path.suffix}"),
        path.with_name(f"{stem}.edges{path.suffix}"),
        path.with_name(f"{stem}.meta.json"),
    )


def _port_columns(view: GraphColumns) -> dict[str, list[Any]] | None:
    """Ports as two columns, or ``None`` where they do not fit (they then stay a JSON column)."""
    if "ports" not in view.edges or any(name in view.edges for name in _PORTS):
        return None
    near: list[Any] = []
    far: list[Any] = []
    for u, v, ports in zip(view.sources, view.targets, view.edges["ports"], strict=True):
        first: Any = MISSING
        second: Any = MISSING
        if ports is not MISSING:
            if not isinstance(ports, dict) or not ports.keys() <= {u, v}:
                return None
            if u == v:
                return None
            first, second = ports.get(u, MISSING), ports.get(v, MISSING)
            if not all(value is MISSING or (isinstance(value, str) and value) for value in (first, second)):
                return None
        near.append(first)
        far.append(second)
    return dict(zip(_PORTS, (near, far), strict=True))


def write(graph: Any, path: Path) -> tuple[Path, ...]:
    """Write ``NAME.nodes``, ``NAME.edges`` and ``NAME.meta.json``."""
    view = GraphColumns.of(graph)
    nodes, edges, side = _pair_paths(path)
    edge_columns = dict(view.edges)
    ports = _port_columns(view)
    if ports is not None:
        edge_columns = {**ports, **{name: values for name, values in view.edges.items() if name != "ports"}}
    node_table = {"id": view.ids, **view.nodes}
    edge_table = {"source": view.sources, "target": view.targets, **edge_columns}
    types = {
        owner: {name: column_type(values) for name, values in table.items() if name not in skip}
        for owner, table, skip in (
            ("nodes", node_table, ("id",)),
            ("edges", edge_table, ("source", "target", *(_PORTS if ports is not None else ()))),
        )
    }
    meta = {"nl2net": 1, "directed": graph.is_directed(), "types": types, **metadata(graph)}
    write_table = _write_parquet if path.suffix.lower() == ".parquet" else _write_csv
    write_table(nodes, node_table, types["nodes"])
    write_table(edges, edge_table, types["edges"])
    with atomic_write(side) as stream:
        stream.write(json.dumps(meta, indent=1).encode())
    return nodes, edges, side


def _write_csv(path: Path, table: dict[str, list[Any]], types: dict[str, str]) -> None:
    text = io.StringIO(newline="")
    # Texts are quoted, so that leading blanks and line ends survive.
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(table)
    columns = [[cell(value, types.get(name, "text")) for value in values] for name, values in table.items()]
    writer.writerows(zip(*columns, strict=True))
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode("utf-8", errors="surrogatepass"))


def _write_parquet(path: Path, table: dict[str, list[Any]], types: dict[str, str]) -> None:
    import duckdb
    import pandas as pd

    dtypes: dict[str, Any] = {"integer": "Int64", "number": "Float64", "boolean": "boolean"}
    frame = pd.DataFrame(
        {
            name: pd.Series(
                [None if v is MISSING else v for v in values]
                if types.get(name, "text") != "json"
                else [None if v is MISSING else cell(v, "json") for v in values],
                dtype=dtypes.get(types.get(name, "text"), "object"),
            )
            for name, values in table.items()
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    # DuckDB makes the file itself, so it gets a folder of its own beside the target.
    with tempfile.TemporaryDirectory(prefix=".nl2net-", dir=path.parent) as folder:
        temporary = Path(folder) / "table.parquet"
        connection = duckdb.connect()
        try:
            connection.execute("SET autoinstall_known_extensions=false")
            # An object column of texts only is found out by sampling; the whole column is looked at here.
            connection.execute(f"SET pandas_analyze_sample={max(len(frame), 1)}")
            connection.from_df(frame).write_parquet(str(temporary), compression="zstd")
        finally:
            connection.close()
        temporary.replace(path)
