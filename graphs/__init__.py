"""From an operator's file to one normal form, a data-quality report and a schema.

Importing this package is cheap; networkx, numpy and pandas load with the first function that needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nl2net.graphs.loaded import LoadedGraph, ReadOptions, SchemaOptions

if TYPE_CHECKING:
    from nl2net.graphs.describe import describe_graph
    from nl2net.graphs.load import load_graph
    from nl2net.graphs.samples import sample_names

__all__ = [
    "LoadedGraph",
    "ReadOptions",
    "SchemaOptions",
    "describe_graph",
    "load_graph",
    "sample_names",
]

_LAZY = {
    "describe_graph": "describe",
    "load_graph": "load",
    "sample_names": "samples",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"nl2net.graphs.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
