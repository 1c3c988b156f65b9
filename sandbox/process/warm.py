"""Touch what imports lazily while files can still be opened: after the seal a late import ends in an error."""

from __future__ import annotations

import contextlib
import datetime as dt
import warnings
from importlib import import_module
from typing import Any

from nl2net.model import GraphClass, GraphSchema, Library
from nl2net.sandbox.outcome import Facts

_LATE = [
    "bisect",
    "calendar",
    "collections.abc",
    "csv",
    "dataclasses",
    "decimal",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.punycode",
    "fractions",
    "functools",
    "heapq",
    "ipaddress",
    "itertools",
    "json",
    "math",
    "numbers",
    "operator",
    "random",
    "re",
    "statistics",
    "string",
    "textwrap",
    "unicodedata",
    "zoneinfo",
    "_strptime",
    "numpy.linalg",
    "numpy.random",
    "numpy.ma",
    "scipy.sparse",
    "traceback",
    "linecache",
]

_PROGRAM = """
def answer(graph):
    counts = {}
    for node, data in graph.nodes(data=True):
        counts[node] = graph.degree(node)
    frame = pd.DataFrame({"a": list(counts.values()), "b": ["x"] * len(counts)})
    print(f"{len(counts)} {frame.groupby('b')['a'].agg('sum')}")
    return sorted(nx.pagerank(graph), key=lambda node: (counts[node], str(node)))[:3], type(frame).__name__
"""


def warm_up(wall: Any) -> None:
    """Import what functions import on their first call, and call what builds tables on its first call.

    Parameters
    ----------
    wall : module
        Wall one; it builds its tables on its first program.
    """
    for name in _LATE:
        with contextlib.suppress(ImportError):
            import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _networkx()
        _pandas()
        _language(wall)


def _language(wall: Any) -> None:
    import networkx as nx

    schema = GraphSchema(GraphClass(directed=False, multi=False), nodes=34, edges=78)
    wall.validate(_PROGRAM, library=Library.NETWORKX)
    wall.lint(_PROGRAM, library=Library.NETWORKX, schema=schema, facts=Facts())
    graph = nx.karate_club_graph()
    wall.run_restricted(_PROGRAM, (graph,), library=Library.NETWORKX, bindings={"NODE_1": "x"}, seed=1)


def _networkx() -> None:
    import networkx as nx
    import numpy as np

    graph = nx.karate_club_graph()
    nx.pagerank(graph)
    nx.laplacian_matrix(graph)
    nx.community.louvain_communities(graph, seed=1)
    nx.minimum_edge_cut(graph)
    nx.maximum_flow_value(graph, 0, 1, capacity="weight")
    nx.max_weight_matching(graph)
    nx.to_pandas_edgelist(graph)
    nx.to_numpy_array(graph)
    nx.node_link_data(graph, edges="links")
    str(np.array([1.5, 2.0]))
    repr(np.arange(3))
    np.array(["2024-01-01"], dtype="datetime64[D]").tolist()


def _pandas() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2, 2], "b": ["x", "y", "y"], "c": [1.0, None, 3.0]})
    frame.groupby("b").agg({"a": "sum", "c": ["mean", "median"]})
    frame.groupby("b")["a"].describe()
    frame.groupby("b")["a"].apply(lambda part: part.sum())
    frame.query("a > 1 and b == 'y'")
    frame.pivot_table(index="b", columns="a", values="c", aggfunc="sum")
    frame.merge(frame, on="b").sort_values("a_x").to_dict("records")
    pd.crosstab(frame["a"], frame["b"])
    pd.cut(frame["a"], 2)
    pd.concat([frame, frame]).drop_duplicates().set_index("b").reset_index()
    frame["b"].str.contains("x|y").astype("Int64").rolling(2).mean()
    pd.to_datetime(pd.Series(["2024-01-01", "2024-02-01"])).dt.strftime("%Y").value_counts()
    pd.Timestamp("2024-01-01").tz_localize("UTC")
    pd.date_range("2024-01-01", periods=3, freq="D")
    frame.set_index(pd.date_range("2024-01-01", periods=3)).resample("D")["a"].sum()
    frame.astype({"a": "Int64", "b": "category"}).convert_dtypes().corr(numeric_only=True)
    frame["c"].interpolate().quantile(0.5)
    str(frame), repr(frame["a"]), frame.to_string()
    dt.datetime.strptime("2024-01-01", "%Y-%m-%d").strftime("%A")
