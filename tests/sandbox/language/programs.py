"""The checked-in ordinary programs, and plain Python as the first oracle."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from tests.conftest import SHARED


def load_graph(folder: str = "benign") -> nx.Graph[str]:
    """A fresh graph in the order of the file."""
    return nx.node_link_graph(json.loads((SHARED / folder / "graph.json").read_text()), edges="links")


@cache
def benign_programs() -> tuple[Mapping[str, Any], ...]:
    return tuple(json.loads((SHARED / "benign" / "programs.json").read_text()))


@cache
def everyday_programs() -> tuple[str, ...]:
    """Programs as models write them, of our own: bodies of ``answer(graph)``, over the graph of the benign set."""
    bodies = Path(__file__).with_name("everyday.txt").read_text().strip("\n").split("\n===\n")
    return tuple("def answer(graph):\n" + textwrap.indent(one, "    ") + "\n" for one in bodies)


def run_plain(source: str, graph: Any) -> Any:
    """The same program under plain Python."""
    import collections
    import ipaddress
    import itertools
    import statistics

    namespace: dict[str, Any] = {
        "nx": nx,
        "pd": pd,
        "np": np,
        "itertools": itertools,
        "math": math,
        "statistics": statistics,
        "collections": collections,
        "ipaddress": ipaddress,
    }
    exec(compile(source, "<plain>", "exec"), namespace)
    return namespace["answer"](graph)


def normal(value: Any) -> Any:
    """Coding of the README of the benign set."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, pd.DataFrame):
        rows = [[normal(c) for c in row] for row in value.itertuples(index=False)]
        return {"$table": {"columns": list(value.columns), "index": list(value.index), "rows": rows}}
    if isinstance(value, tuple):
        return {"$tuple": [normal(v) for v in value]}
    if isinstance(value, set | frozenset):
        return {"$set": sorted((normal(v) for v in value), key=repr)}
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items()}
    if isinstance(value, list):
        return [normal(v) for v in value]
    if type(value).__module__.startswith("networkx"):
        return {"$view": [normal(v) for v in value]}
    return value


def same(left: Any, right: Any) -> bool:
    """Equal; floats within 1e-9."""
    if isinstance(left, float) and isinstance(right, float | int) and not isinstance(right, bool):
        return math.isclose(left, right, rel_tol=1e-9) or (left != left and right != right)
    if isinstance(left, dict) and isinstance(right, dict):
        if "$set" in left and "$set" in right:
            a, b = (sorted(x["$set"], key=repr) for x in (left, right))
            return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
        return list(map(str, left)) == list(map(str, right)) and all(
            same(a, b) for a, b in zip(left.values(), right.values(), strict=True)
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, int) and not isinstance(left, bool) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9)
    return type(left) is type(right) and bool(left == right)
