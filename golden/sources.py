"""The graph of a case: made from its recipe, or read from a file."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from nl2net.errors import DataError
from nl2net.golden.case import Case
from nl2net.golden.recipes import build_graph

DATA_VARIABLE = "NL2NET_GOLDEN_DATA"


def data_folders() -> list[Path]:
    """Where graph files of suites are looked for: the folder of the environment variable, then beside the checkout."""
    named = os.environ.get(DATA_VARIABLE)
    beside = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "topologies"
    return [*([Path(named)] if named else []), beside]


def graph_file(stem: str) -> Path:
    """The file or folder of that stem.

    Raises
    ------
    DataError
        There is none.
    """
    for folder in data_folders():
        if folder.is_dir():
            found = [path for path in sorted(folder.iterdir()) if path.name.split(".")[0] == stem]
            if found:
                # GraphML states more than its GML twin.
                return next((path for path in found if path.suffix == ".graphml"), found[0])
    raise DataError(f"no graph file {stem!r}", hint=f"Name the folder of the graph files in {DATA_VARIABLE}.")


@lru_cache(maxsize=16)
def _read(stem: str) -> Any:
    from nl2net.graphs import load_graph

    return load_graph(graph_file(stem)).graph


def graph_of(case: Case) -> Any:
    """The original graph of a case, shared: copy it before anything might change it."""
    if case.graph.recipe == "file":
        return _read(case.graph.seed)
    return build_graph(case.graph).graph
