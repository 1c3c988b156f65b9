"""Writing to items and attributes: plain containers, tables and arrays; four attribute names; nothing else."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from pandas.core.indexing import _AtIndexer, _iAtIndexer, _iLocIndexer, _LocIndexer

from nl2net.errors import RefusedCode

ITEM_TYPES = frozenset(
    {dict, list, defaultdict, OrderedDict, Counter, deque, pd.DataFrame, pd.Series, np.ndarray}
    | {_LocIndexer, _iLocIndexer, _AtIndexer, _iAtIndexer}
)
ATTRIBUTE_NAMES = frozenset({"columns", "index", "name", "names"})
NATIVE_ERRORS = (tuple, str, bytes, frozenset, set, range, int, float, type(None))


def writable_items(obj: Any) -> Any:
    """The object itself when a program may write its items."""
    cls = type(obj)
    if cls in ITEM_TYPES or isinstance(obj, NATIVE_ERRORS):
        return obj  # Python itself raises TypeError for the second sort
    if isinstance(obj, pd.DataFrame | pd.Series):
        return obj
    if isinstance(obj, nx.Graph) or cls.__module__.startswith("networkx."):
        raise TypeError(
            f"{cls.__name__} object does not support item assignment; "
            "use graph.nodes[n]['x'] = value, graph.edges[u, v]['x'] = value or graph.add_edge(u, v)"
        )
    if hasattr(cls, "todense"):
        return obj
    raise RefusedCode(f"items of {cls.__name__} cannot be written", rule="write", hint="Write to a dictionary.")


def writable_attributes(obj: Any) -> Any:
    """The object itself when a program may write one of the four attribute names."""
    if isinstance(obj, pd.DataFrame | pd.Series | pd.Index | nx.Graph):
        return obj
    raise RefusedCode(
        f"attributes of {type(obj).__name__} cannot be written", rule="write", hint="Write to a dictionary key."
    )
