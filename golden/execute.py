"""Runs reference programs of the shipped catalogue on this machine's own interpreter.

Only texts that the catalogue made are run here. A program of a suite file or of a model belongs into the sandbox;
suites carry the expected answers, so that running a suite needs neither.
"""

from __future__ import annotations

import collections
import ipaddress
import itertools
import math
import statistics
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

_PRELOADED = {
    "nx": nx, "pd": pd, "np": np, "math": math, "statistics": statistics, "collections": collections,
    "itertools": itertools, "ipaddress": ipaddress,
}  # fmt: skip


@lru_cache(maxsize=4096)
def _compiled(program: str) -> CodeType:
    return compile(program, "<reference>", "exec")


def _answer_of(program: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = dict(_PRELOADED)
    exec(_compiled(program), namespace)  # noqa: S102  (text of the shipped catalogue, see the module docstring)
    answer: Callable[..., Any] = namespace["answer"]
    return answer


def run_networkx(program: str, graph: Any) -> Any:
    """The value of a NetworkX reference. The graph is handed over as it is: pass a copy where it might be changed."""
    return _answer_of(program)(graph)


def frames(graph: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Data frames of nodes, indexed by ``id``, and of edges with ``source`` and ``target``; each link once."""
    nodes = pd.DataFrame.from_dict({n: dict(data) for n, data in graph.nodes(data=True)}, orient="index")
    nodes.index.name = "id"
    for name in nodes.columns:
        # Integers with gaps stay integers.
        present = nodes[name].dropna()
        if len(present) and all(isinstance(value, int) and not isinstance(value, bool) for value in present):
            nodes[name] = nodes[name].astype("Int64")
    edges = pd.DataFrame([{"source": u, "target": v, **data} for u, v, data in graph.edges(data=True)])
    return nodes, edges


def run_pandas(program: str, graph: Any) -> Any:
    """The value of a pandas reference."""
    return _answer_of(program)(*frames(graph))


def run_sql(query: str, graph: Any) -> list[tuple[Any, ...]]:
    """The rows of an SQL reference over the tables ``nodes`` and ``edges``."""
    import duckdb

    nodes, edges = frames(graph)
    with duckdb.connect(config={"enable_external_access": "true", "python_enable_replacements": "false"}) as connection:
        connection.register("nodes", nodes.reset_index())
        connection.register("edges", edges)
        rows: list[tuple[Any, ...]] = connection.execute(query).fetchall()
        return rows
