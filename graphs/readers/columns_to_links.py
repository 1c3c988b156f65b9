"""From named columns to nodes and links, for CSV and Parquet alike."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nl2net.errors import UserError
from nl2net.graphs.coerce import coerce_decimal_commas, coerce_texts
from nl2net.graphs.columns import MISSING
from nl2net.graphs.draft import Draft, check_ids, port_mapping
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.source import Source

SOURCE_NAMES = (
    "source", "src", "from", "a", "node_a", "local_host", "local_device", "local_node", "source_node", "src_node",
    "a_device", "device_a", "node1", "u", "start", "source_host", "src_ip", "srcaddr", "src_addr", "source_ip",
    "side_a_device", "termination_a_device",
)  # fmt: skip
TARGET_NAMES = (
    "target", "dst", "to", "b", "node_b", "remote_host", "remote_device", "remote_node", "target_node", "dst_node",
    "b_device", "device_b", "node2", "v", "end", "target_host", "dst_ip", "dstaddr", "dst_addr", "destination_ip",
    "dest", "destination", "peer", "z", "neighbor", "neighbour", "side_b_device", "termination_b_device", "target_ip",
)  # fmt: skip
_PORTS = (
    ("source_port", "target_port"),
    ("source_interface", "target_interface"),
    ("local_port", "remote_port"),
    ("local_interface", "remote_interface"),
    ("port_a", "port_b"),
    ("interface_a", "interface_b"),
    ("side_a_name", "side_b_name"),
    ("termination_a_name", "termination_b_name"),
    ("termination_a", "termination_b"),
)
_ID_NAMES = ("id", "node", "node_id", "name", "device", "hostname", "host", "ip", "address")


@dataclass(slots=True)
class Table:
    """Named columns; ``None`` or an empty text is a missing cell.

    ``types`` says, by column, what a sidecar file declares: ``json``, ``text``, ``integer``, ``number``, ``boolean``.
    """

    names: list[str]
    columns: list[list[Any]]
    headed: bool = True
    delimiter: str = ","
    types: dict[str, str] = field(default_factory=dict)

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        return self.columns[self.names.index(name)]


def plain_name(name: str) -> str:
    """A column name for comparison.

    Examples
    --------
    >>> plain_name("Side A Device")
    'side_a_device'
    """
    return name.lower().replace(" ", "_").replace("-", "_")


def find_ends(names: list[str], options: ReadOptions) -> tuple[str, str] | None:
    """The columns of the two ends: as the user says, else by their usual names."""
    lowered = {plain_name(name): name for name in reversed(names)}
    found = []
    for given, usual in ((options.source, SOURCE_NAMES), (options.target, TARGET_NAMES)):
        if given is not None:
            found.append(given if given in names else None)
        else:
            found.append(next((lowered[name] for name in usual if name in lowered), None))
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def _ends_or_error(table: Table, source: Source, options: ReadOptions) -> tuple[str, str]:
    for given in (options.source, options.target):
        if given is not None and given not in table.names:
            raise UserError(
                f"{source.path}: no column is called {given!r}", hint=f"Columns: {', '.join(table.names)[:300]}."
            )
    ends = find_ends(table.names, options)
    if ends is not None:
        return ends
    if not table.headed and len(table.names) in (2, 3):
        return table.names[0], table.names[1]
    raise source.error(
        "the columns of the two ends cannot be told from their names",
        line=1,
        hint=f"Name them with --source COL --target COL; columns: {', '.join(table.names)[:300]}.",
    )


def typed_column(values: list[Any], declared: str, source: Source, name: str) -> list[Any]:
    """A column in its type, missing cells as ``None``."""
    if declared == "json":
        return [None if value in ("", None) else _json_cell(value, source, name) for value in values]
    if declared == "boolean":
        return [{"true": True, "false": False}.get(str(value).lower()) for value in values]
    if declared == "text" or not values:
        return values
    filled = [value for value in values if value]
    if set(map(type, filled)) - {str}:
        return values
    numbers = coerce_texts(filled)
    if numbers is None:
        return values
    if declared == "number":
        numbers = list(map(float, numbers))
    if len(filled) == len(values):
        return numbers
    following = iter(numbers)
    return [next(following) if value else None for value in values]


def _json_cell(text: Any, source: Source, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError, TypeError):
        raise source.error("a cell is not the JSON that the sidecar file declares", field=name) from None


_BLOCK = 4096  # rows whose records stay in the cache of the processor while one column after the other is filled in


def records_of(columns: dict[str, list[Any]], count: int) -> list[dict[str, Any]]:
    """One dict per row of columns with `MISSING` in their gaps."""
    gappy = {name for name, values in columns.items() if type(MISSING) in set(map(type, values))}
    records: list[dict[str, Any]] = [{} for _ in range(count)]
    for start in range(0, count, _BLOCK):
        block = records[start : start + _BLOCK]
        for name, values in columns.items():
            cells = zip(block, values[start : start + _BLOCK], strict=True)
            if name in gappy:
                for record, value in cells:
                    if value is not MISSING:
                        record[name] = value
            else:
                for record, value in cells:
                    record[name] = value
    return records


def _with_gaps(values: list[Any]) -> list[Any]:
    """`MISSING` for ``None`` and empty text."""
    types = set(map(type, values))
    if (str in types and "" in values) or type(None) in types:
        return [MISSING if value is None or value == "" else value for value in values]
    return values


def _attributes(table: Table, skip: set[str], draft: Draft, source: Source) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for number, (name, values) in enumerate(zip(table.names, table.columns, strict=True), start=1):
        if name in skip:
            continue
        typed = typed_column(values, table.types.get(name, ""), source, name)
        if typed is values and table.delimiter not in (",", "") and set(map(type, values)) <= {str}:
            filled = [value for value in values if value]
            decimals = coerce_decimal_commas(filled) if filled else None
            if decimals is not None:
                following = iter(decimals)
                typed = [next(following) if value else None for value in values]
                draft.find("decimal-comma", len(decimals), f"column {name!r} was read with a decimal comma")
        columns[(name or f"column_{number}") if table.headed else {"3": "weight"}.get(name, f"column_{name}")] = (
            _with_gaps(typed)
        )
    return {name: values for name, values in columns.items() if any(value is not MISSING for value in values)}


def _id_texts(values: list[Any], source: Source, column: str, first_row: int) -> list[str]:
    kinds = set(map(type, values))
    if kinds - {str}:
        if type(None) in kinds:
            raise source.error("an end is missing", line=values.index(None) + first_row, field=column)
        check_ids(dict.fromkeys(values), source)
        values = list(map(str, values))
    if "" in values:
        raise source.error("an end is missing", line=values.index("") + first_row, field=column)
    return values


def add_links(table: Table, draft: Draft, source: Source, options: ReadOptions) -> None:
    """Every row is a link; repeated rows are parallel links."""
    ends = _ends_or_error(table, source, options)
    first_row = 1 + table.headed
    sources = _id_texts(table.column(ends[0]), source, ends[0], first_row)
    targets = _id_texts(table.column(ends[1]), source, ends[1], first_row)
    lowered = {plain_name(name): name for name in table.names}
    ports = next(((lowered[a], lowered[b]) for a, b in _PORTS if a in lowered and b in lowered), None)
    columns = _attributes(table, {*ends, *(ports or ()), "key"}, draft, source)
    records = records_of(columns, len(sources))
    draft.edge_columns = columns if ports is None else None
    if ports is not None:
        near, far = table.column(ports[0]), table.column(ports[1])
        for record, u, v, a, b in zip(records, sources, targets, near, far, strict=True):
            named = port_mapping(u, v, (a, b))
            if named:
                record["ports"] = named
    draft.sources.extend(sources)
    draft.targets.extend(targets)
    draft.edge_attributes.extend(records)


def add_nodes(table: Table, draft: Draft, source: Source) -> None:
    """Every row is a node; the id column is found by name, else it is the first."""
    lowered = {name.lower(): name for name in reversed(table.names)}
    column = next((lowered[name] for name in _ID_NAMES if name in lowered), table.names[0])
    ids = _id_texts(table.column(column), source, column, 1 + table.headed)
    draft.node_ids.extend(ids)
    draft.node_columns = _attributes(table, {column}, draft, source)
    draft.node_attributes.extend(records_of(draft.node_columns, len(ids)))


def sidecar_path(edges: Path) -> Path:
    """Where the writer keeps what a table cannot say: class, types, units, extra tables."""
    stem = edges.stem
    prefix = stem[: len(stem) - len("edges")] if stem.lower().endswith("edges") else f"{stem}."
    return edges.with_name(f"{prefix}meta.json")


def apply_sidecar(edges: Path, draft: Draft, source: Source) -> dict[str, Any]:
    """Direction, units and tables of a sidecar file; returns the declared types by owner and column."""
    path = sidecar_path(edges)
    if not path.is_file():
        return {}
    meta = source.sibling(path).json
    if not isinstance(meta, dict) or meta.get("nl2net") != 1:
        return {}
    draft.directed = meta.get("directed") is True
    for name in ("tables", "units"):
        if isinstance(meta.get(name), dict):
            getattr(draft, name).update(meta[name])
    types = meta.get("types")
    if not isinstance(types, dict):
        return {}
    return {owner: declared for owner, declared in types.items() if isinstance(declared, dict)}
