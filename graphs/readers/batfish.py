"""Layer-1 topologies of Batfish: its JSON input file, and frames of pybatfish saved as CSV."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from nl2net.graphs.both_ends import Sighting, add_links
from nl2net.graphs.draft import Draft
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.readers.tables import read_table
from nl2net.graphs.source import Source

_CELL = re.compile(r"\s*(?P<host>[^\[\]]+)\[(?P<port>[^\[\]]*)\]\s*")


def _is_json(source: Source) -> bool:
    if "edges" not in source.json_keys:
        return False
    edges = source.json["edges"]
    return isinstance(edges, list) and all(isinstance(e, dict) and "node1" in e for e in edges[:20]) and bool(edges)


def _is_frame(source: Source) -> bool:
    if source.is_binary:
        return False
    head = source.head_text.split("\n", 1)[0]
    return "Interface" in head and ("Remote_Interface" in head or "Remote Interface" in head) and "," in head


def _end(value: Any, source: Source, field: str) -> tuple[str, str | None]:
    if isinstance(value, dict) and value.get("hostname"):
        name = value.get("interfaceName")
        return str(value["hostname"]), None if name is None else str(name)
    raise source.error("an object with hostname and interfaceName was expected", field=field)


def _finish(rows: list[Sighting]) -> Draft:
    draft = Draft(implicit_nodes=True)
    add_links(rows, draft, hosts={row.host for row in rows})
    draft.counts = {"edges": len(rows)}
    return draft


def read_batfish(source: Source, options: ReadOptions) -> Draft:
    """Read the JSON form; every link is listed twice, once from each end."""
    rows = []
    for number, edge in enumerate(source.json["edges"]):
        if not isinstance(edge, dict):
            raise source.error("an object was expected", field=f"edges[{number}]")
        near = _end(edge.get("node1"), source, f"edges[{number}].node1")
        far = _end(edge.get("node2"), source, f"edges[{number}].node2")
        rows.append(Sighting(*near, *far))
    return _finish(rows)


def read_batfish_frame(source: Source, options: ReadOptions) -> Draft:
    """Read a frame with ``host[interface]`` in one column."""
    # The first line is a header even where a saved index has no name and there is one row only.
    heads = [name for name in ("Interface", "Remote Interface") if name in source.head_text.split("\n", 1)[0]]
    table = read_table(source, replace(options, source=heads[0] if heads else None))
    names = {name.replace(" ", "_"): name for name in table.names}
    if not {"Interface", "Remote_Interface"} <= names.keys():
        raise source.error("columns Interface and Remote_Interface were expected", line=1)
    rows = []
    pairs = zip(table.column(names["Interface"]), table.column(names["Remote_Interface"]), strict=True)
    for line, (near, far) in enumerate(pairs, start=2):
        a, b = _CELL.fullmatch(near), _CELL.fullmatch(far)
        if a is None or b is None:
            raise source.error("`host[interface]` was expected", line=line)
        rows.append(Sighting(a["host"], a["port"], b["host"], b["port"]))
    return _finish(rows)


READERS = (
    Reader("batfish", _is_json, read_batfish, "Batfish layer-1 topology (JSON)"),
    Reader("batfish-frame", _is_frame, read_batfish_frame, "layer-1 frame of pybatfish as CSV"),
)
