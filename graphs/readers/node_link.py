"""Node-link JSON with the key `links` or `edges`."""

from __future__ import annotations

from typing import Any

from nl2net.graphs.draft import Draft, check_ids, text_id
from nl2net.graphs.loaded import ReadOptions
from nl2net.graphs.reader import Reader
from nl2net.graphs.source import Source


def _is_node_link(source: Source) -> bool:
    keys = source.json_keys
    return "nodes" in keys and bool(keys & {"links", "edges"})


def _records(document: dict[str, Any], key: str, source: Source) -> list[dict[str, Any]]:
    records = document.get(key)
    if not isinstance(records, list):
        raise source.error("a list of objects was expected", field=key)
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            raise source.error("an object was expected", field=f"{key}[{number}]")
    return records


def read_node_link(source: Source, options: ReadOptions) -> Draft:
    """Read node-link JSON.

    Raises
    ------
    DataError
        Both or neither of `links` and `edges`; a node without id; a link without ends.
    """
    document = source.json
    if not isinstance(document, dict):
        raise source.error("an object with nodes and links was expected at the top level")
    found = [key for key in ("links", "edges") if key in document]
    if len(found) != 1:
        problem = "both `links` and `edges`" if found else "neither `links` nor `edges`"
        raise source.error(f"the file has {problem}", hint="Keep one list of links, under one of the two keys.")
    nodes = _records(document, "nodes", source)
    links = _records(document, found[0], source)
    draft = Draft(directed=document.get("directed") is True)
    ids = []
    for number, record in enumerate(nodes):
        if "id" not in record:
            raise source.error("a node without id", field=f"nodes[{number}]")
        ids.append(record["id"])
    check_ids(ids, source)
    for node, record in zip(ids, nodes, strict=True):
        draft.add_node(text_id(node), {key: value for key, value in record.items() if key != "id"})
    for number, record in enumerate(links):
        if "source" not in record or "target" not in record:
            raise source.error("a link without source or target", field=f"{found[0]}[{number}]")
        check_ids([record["source"], record["target"]], source)
        attributes = {key: value for key, value in record.items() if key not in ("source", "target", "key")}
        draft.add_edge(text_id(record["source"]), text_id(record["target"]), attributes)
    draft.counts = {"nodes": len(nodes), "edges": len(links)}
    _graph_attributes(document.get("graph"), draft)
    return draft


def _graph_attributes(attributes: Any, draft: Draft) -> None:
    if isinstance(attributes, list):  # networkx 1 wrote pairs
        attributes = {pair[0]: pair[1] for pair in attributes if isinstance(pair, list) and len(pair) == 2}
    if not isinstance(attributes, dict):
        return
    tables = attributes.pop("tables", {})
    units = attributes.pop("units", {})
    known = set(draft.node_ids)
    for name, value in attributes.items():
        rows = _pair_table(value, known)
        if rows is not None:
            draft.tables[name] = rows
            draft.notes.append(_pair_note(name, rows))
        else:
            draft.graph_attributes[name] = value
    if isinstance(tables, dict):
        draft.tables.update(
            {k: [dict(row) for row in v if isinstance(row, dict)] for k, v in tables.items() if isinstance(v, list)}
        )
    if isinstance(units, dict):
        draft.units.update({str(key): str(value) for key, value in units.items()})


def _pair_table(value: Any, known: set[str]) -> list[dict[str, Any]] | None:
    """Rows of a mapping from node to node to number, such as a demand matrix; ``None`` if it is something else."""
    if not isinstance(value, dict) or not value or not all(isinstance(row, dict) for row in value.values()):
        return None
    rows = [
        {"source": source, "target": target, "value": amount}
        for source, row in value.items()
        for target, amount in row.items()
    ]
    numeric = all(isinstance(row["value"], (int, float)) for row in rows)
    ends = {row["source"] for row in rows} | {row["target"] for row in rows}
    return rows if rows and numeric and ends <= known else None


def _pair_note(name: str, rows: list[dict[str, Any]]) -> str:
    """Whether the pairs of a table have a direction is to be seen from whether any comes both ways."""
    pairs = {(row["source"], row["target"]) for row in rows}
    if any((v, u) in pairs for u, v in pairs if u != v):
        return f"table {name}: one row per source and target; the way back is a row of its own"
    return f"table {name}: one row per pair of nodes, in one order only; a node's rows are those with it at either end"


READERS = (Reader("node-link", _is_node_link, read_node_link, "node-link JSON with `links` or `edges`"),)
