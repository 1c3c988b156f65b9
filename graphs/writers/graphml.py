"""GraphML; nested values are JSON texts whose keys carry a mark of ours, ports are port attributes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

from nl2net.errors import UserError
from nl2net.graphs.columns import GraphColumns
from nl2net.graphs.writers.encoding import cell, column_type, metadata
from nl2net.locations import atomic_write

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TYPES = {"integer": "long", "number": "double", "boolean": "boolean", "text": "string", "json": "string"}
_ESCAPES = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}


def _text(value: str) -> str:
    return escape(value, _ESCAPES)


def _attribute(value: str) -> str:
    return quoteattr(value, _ESCAPES)


def _declared(values: list[Any]) -> str:
    """Like `column_type`; texts with outer blanks or only blanks go as JSON, since readers strip or drop them."""
    declared = column_type(values)
    blanks = declared == "text" and any(isinstance(v, str) and not v.strip() for v in values)
    return "json" if blanks else declared


def write(graph: Any, path: Path) -> tuple[Path, ...]:
    """Write GraphML.

    Raises
    ------
    UserError
        A name or value holds a control character, which XML cannot hold.
    """
    view = GraphColumns.of(graph)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    keys: dict[str, list[tuple[str, str, list[Any]]]] = {"node": [], "edge": []}
    number = 0
    for owner, listed in keys.items():
        for name, values in view.columns(owner).items():
            declared = _declared(values)
            mark = ' nl2net="json"' if declared == "json" else ""
            lines.append(
                f'<key id="d{number}" for="{owner}" attr.name={_attribute(name)} attr.type="{_TYPES[declared]}"{mark}/>'
            )
            listed.append((f"d{number}", declared, values))
            number += 1
    meta = metadata(graph)
    lines += [f'<key id="{key}" for="graph" attr.name="{key}" attr.type="string" nl2net="json"/>' for key in meta]
    lines.append(f'<graph edgedefault="{"directed" if graph.is_directed() else "undirected"}">')
    lines += [f'<data key="{key}">{_text(json.dumps(value))}</data>' for key, value in meta.items()]
    for index, node in enumerate(view.ids):
        lines.append(f"<node id={_attribute(node)}>{_data(keys['node'], index)}</node>")
    for index, (u, v) in enumerate(zip(view.sources, view.targets, strict=True)):
        lines.append(f"<edge source={_attribute(u)} target={_attribute(v)}>{_data(keys['edge'], index)}</edge>")
    lines += ["</graph>", "</graphml>", ""]
    body = "\n".join(lines)
    if _FORBIDDEN.search(body):
        raise UserError("a name or value holds a control character, which XML cannot hold", hint="Write .json instead.")
    with atomic_write(path) as stream:
        _write(stream, body)
    return (path,)


def _write(stream: IO[bytes], body: str) -> None:
    stream.write(body.encode("utf-8"))


def _data(keys: list[tuple[str, str, list[Any]]], index: int) -> str:
    pieces = []
    for key, declared, values in keys:
        text = cell(values[index], declared)
        if text:
            pieces.append(f'<data key="{key}">{_text(text)}</data>')
    return "".join(pieces)
