"""DOT; ports are written as ports, everything that DOT has no type for is declared in one graph attribute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nl2net.errors import UserError
from nl2net.graphs.columns import MISSING, GraphColumns
from nl2net.graphs.writers.encoding import cell, column_type, metadata, survives
from nl2net.locations import atomic_write

_COMPASS = {"n", "ne", "e", "se", "s", "sw", "w", "nw", "c", "_"}


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _types(columns: dict[str, list[Any]]) -> dict[str, str]:
    found = {}
    for name, values in columns.items():
        declared = column_type(values)
        if declared in ("integer", "number", "text") and survives(values, declared):
            continue
        found[name] = "text" if declared == "text" else "json"
    return found


def _attributes(columns: dict[str, list[Any]], types: dict[str, str], index: int) -> str:
    pieces = []
    for name, values in columns.items():
        value = values[index]
        if value is not MISSING:
            declared = "json" if types.get(name) == "json" else column_type([value])
            pieces.append(f"{_quote(name)}={_quote(cell(value, declared))}")
    return f" [{', '.join(pieces)}]" if pieces else ""


def _end(node: str, ports: Any) -> str:
    port = ports.get(node) if isinstance(ports, dict) else None
    return _quote(node) if port is None else f"{_quote(node)}:{_quote(port)}"


def _drawable(view: GraphColumns) -> bool:
    """Whether every port can be written as a DOT port: one text per end that is no compass point."""
    for u, v, ports in zip(view.sources, view.targets, view.edges.get("ports", []), strict=False):
        if ports is MISSING:
            continue
        if u == v or not isinstance(ports, dict) or not ports.keys() <= {u, v}:
            return False
        if not all(isinstance(port, str) and port and port not in _COMPASS for port in ports.values()):
            return False
    return True


def write(graph: Any, path: Path) -> tuple[Path, ...]:
    """Write DOT.

    Raises
    ------
    UserError
        A text holds a zero byte or a lone surrogate.
    """
    view = GraphColumns.of(graph)
    edge_columns = dict(view.edges)
    ports = edge_columns.pop("ports", None) if "ports" in edge_columns and _drawable(view) else None
    types = {"node": _types(view.nodes), "edge": _types(edge_columns)}
    meta = {"types": types, **metadata(graph)}
    arrow = "->" if graph.is_directed() else "--"
    lines = ["digraph {" if graph.is_directed() else "graph {", f"  nl2net={_quote(json.dumps(meta))};"]
    for index, node in enumerate(view.ids):
        lines.append(f"  {_quote(node)}{_attributes(view.nodes, types['node'], index)};")
    for index, (u, v) in enumerate(zip(view.sources, view.targets, strict=True)):
        named = None if ports is None else ports[index]
        ends = f"{_end(u, named)} {arrow} {_end(v, named)}"
        lines.append(f"  {ends}{_attributes(edge_columns, types['edge'], index)};")
    lines += ["}", ""]
    body = "\n".join(lines)
    try:
        data = body.encode("utf-8")
    except UnicodeEncodeError:
        data = b"\x00"
    if b"\x00" in data:
        raise UserError("a name or value holds a zero byte or half a character", hint="Write .json instead.")
    with atomic_write(path) as stream:
        stream.write(data)
    return (path,)
