"""Remarks on what libraries do in silence: rows that multiply, values that are left out, parts that are forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import pandas as pd

from nl2net.sandbox.language.state import current

SKIPPING = ("sum", "mean", "median")


def merge_taker(original: Callable[..., Any], left: Any = None) -> Callable[..., Any]:
    """Wrapped ``merge``: says when repeated keys on both sides made rows out of nothing."""

    def merge(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        sides = [left, *args] if left is not None else list(args)
        sides += [kwargs[name] for name in ("left", "right") if name in kwargs]
        sizes = [len(side) for side in sides if isinstance(side, pd.DataFrame | pd.Series)][:2]
        how = kwargs.get("how", "inner")
        most = sum(sizes) if how == "outer" else max(sizes, default=0)
        if len(sizes) == 2 and len(result) > most and how != "cross":
            current().note(f"merge made {len(result)} rows of {sizes[0]} and {sizes[1]}: keys repeat on both sides")
        return result

    return merge


def bind_merge(frame: pd.DataFrame) -> Callable[..., Any]:
    """``frame.merge``."""
    return merge_taker(frame.merge, frame)


def skipping(method: str) -> Callable[[Any], Callable[..., Any]]:
    """Factory of a column's ``sum``, ``mean`` or ``median`` that says how many values were missing."""

    def bind(column: Any) -> Callable[..., Any]:
        original = getattr(column, method)

        def call(*args: Any, **kwargs: Any) -> Any:
            missing = int(column.isna().sum()) if kwargs.get("skipna", True) else 0
            if missing:
                label = f" of {column.name!r}" if column.name is not None else ""
                what = "all" if missing == len(column) else f"{missing} of"
                current().note(f"{method}{label}: {what} {len(column)} values are missing and were left out")
            return original(*args, **kwargs)

        return call

    return bind


def parts_of(function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Wrapped ``connected_components`` and kin: remembers the parts that it gave."""

    def components(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for part in function(*args, **kwargs):
            current().parts.append(part)
            yield part

    return components


def note_part(graph: nx.Graph[Any], nodes: Any) -> None:
    """Remember that a program goes on with one part of a network."""
    if len(nodes) < len(graph) and any(nodes is part for part in current().parts):
        current().parts_used.setdefault(id(nodes), (len(nodes), len(graph)))


def note_forgotten_parts() -> None:
    """After the run: one part was used and the others never were."""
    used = list(current().parts_used.values())
    if len(used) == 1:
        size, whole = used[0]
        current().note(f"the network is not connected: only the part with {size} of {whole} nodes was used")
