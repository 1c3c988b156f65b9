"""What a holder keeps for its children: the graph, its frames and its baseline, made once and shared by fork."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import pandas as pd

from nl2net.model import Library
from nl2net.sandbox.process.baseline import take_baseline
from nl2net.sandbox.process.demand import load_for

_SAFE_INTEGER = 1 << 63


def hold(graph: Any) -> dict[str, Any]:
    """State of a holder that has just received its graph."""
    return {"graph": graph}


def complete(state: dict[str, Any], request: Mapping[str, Any]) -> None:
    """Add what this request needs and no earlier one did; runs in the worker, before the fork."""
    program = request.get("program", "")
    if request["kind"] in ("run", "twin"):
        load_for(program, request.get("preload", ""))
    if request.get("library") == Library.SQL:
        import_module("nl2net.sandbox.process.sql")
    if "graph" not in state:
        return
    if request.get("library") in (Library.PANDAS, Library.SQL) and "frames" not in state:
        state["frames"] = frames(state["graph"])
    if request.get("is_change") and "baseline" not in state:
        state["baseline"] = take_baseline(state["graph"])


def frames(graph: Any) -> dict[str, pd.DataFrame]:
    """The frames of a graph.

    Parameters
    ----------
    graph : networkx graph

    Returns
    -------
    dict of str to DataFrame
        ``nodes`` (index ``id``), ``edges`` (``source``, ``target``, for a multigraph ``key``, attributes), ``ends``
        (each edge seen from both of its ends: ``node``, ``neighbor``, ``direction``, attributes) and the extra tables.
        Integer and boolean columns with gaps keep their type.

    Examples
    --------
    >>> import networkx as nx
    >>> frames(nx.Graph([("a", "b", {"speed": 10})]))["edges"].to_dict("list")
    {'source': ['a'], 'target': ['b'], 'speed': [10]}
    """
    nodes = _frame(list(graph.nodes), (data for _, data in graph.nodes(data=True)))
    nodes = nodes.rename(columns={"id": "id_"} if "id" in nodes.columns else {})
    nodes.index.name = "id"
    links = list(graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True))
    found = {"nodes": nodes, "edges": _edges(links, graph.is_multigraph()), "ends": _ends(links, graph.is_directed())}
    for name, rows in (graph.graph.get("tables") or {}).items():
        if name not in found:
            found[name] = _frame(None, rows)
    return found


def _frame(index: list[Any] | None, records: Iterable[Mapping[Any, Any]]) -> pd.DataFrame:
    rows = list(records)
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    size = len(rows) if index is None else len(index)
    frame = pd.DataFrame(columns, index=pd.RangeIndex(size))
    if index is not None:
        # A tuple would otherwise become a level of a multi-index.
        frame.index = pd.Index(index, tupleize_cols=False)
    return frame


def _column(values: list[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    gaps = any(value is None for value in values)
    if kinds == {int} and all(value is None or -_SAFE_INTEGER <= value < _SAFE_INTEGER for value in values):
        return pd.array(values, dtype="Int64" if gaps else "int64")
    if kinds == {bool}:
        return pd.array(values, dtype="boolean" if gaps else "bool")
    if kinds and kinds <= {int, float}:
        return pd.array([float("nan") if value is None else float(value) for value in values], dtype="float64")
    return pd.Series(values, dtype="str" if kinds == {str} else "object")


def _edges(links: list[Any], multi: bool) -> pd.DataFrame:
    lead = {"source": _column([link[0] for link in links]), "target": _column([link[1] for link in links])}
    if multi:
        lead["key"] = _column([link[2] for link in links])
    return _with_lead(lead, _frame(None, (link[-1] for link in links)))


def _ends(links: list[Any], directed: bool) -> pd.DataFrame:
    both = [(link[0], link[1], "out" if directed else "both", link[-1]) for link in links]
    both += [(link[1], link[0], "in" if directed else "both", link[-1]) for link in links if link[0] != link[1]]
    heads = ("node", "neighbor", "direction")
    lead = {name: _column([row[place] for row in both]) for place, name in enumerate(heads)}
    return _with_lead(lead, _frame(None, (row[-1] for row in both)))


def _with_lead(lead: dict[str, Any], rest: pd.DataFrame) -> pd.DataFrame:
    clash = [name for name in rest.columns if name in lead]
    rest = rest.rename(columns={name: f"{name}_" for name in clash})
    return pd.concat([pd.DataFrame(lead), rest], axis=1)
