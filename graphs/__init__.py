"""From an operator's file to one normal form, a data-quality report and a schema.

Importing this package is cheap; networkx, numpy and pandas load with the first function that needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nl2net.graphs.loaded import LoadedGraph, ReadOptions, SchemaOptions

if TYPE_CHECKING:
    from nl2net.graphs.data_frames import Frames, frames
    from nl2net.graphs.describe import describe_graph
    from nl2net.graphs.fingerprint import fingerprint_of
    from nl2net.graphs.load import load_graph
    from nl2net.graphs.reader import Reader, all_readers
    from nl2net.graphs.registry import RegisteredGraph, list_registered, register_graph
    from nl2net.graphs.samples import Sample, all_samples, sample_names
    from nl2net.graphs.writers import write_graph

__all__ = [
    "Frames",
    "LoadedGraph",
    "ReadOptions",
    "Reader",
    "RegisteredGraph",
    "Sample",
    "SchemaOptions",
    "all_readers",
    "all_samples",
    "describe_graph",
    "fingerprint_of",
    "frames",
    "list_registered",
    "load_graph",
    "register_graph",
    "sample_names",
    "write_graph",
]

_LAZY = {
    "describe_graph": "describe",
    "Frames": "data_frames",
    "frames": "data_frames",
    "Reader": "reader",
    "all_readers": "reader",
    "RegisteredGraph": "registry",
    "list_registered": "registry",
    "register_graph": "registry",
    "Sample": "samples",
    "all_samples": "samples",
    "sample_names": "samples",
    "fingerprint_of": "fingerprint",
    "load_graph": "load",
    "write_graph": "writers",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"nl2net.graphs.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
