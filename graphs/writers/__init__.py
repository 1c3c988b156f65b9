"""Writers; what they write reads back to the same fingerprint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nl2net.errors import UserError

# Suffix to module; each module offers `write(graph, path)` and returns the files it wrote.
_BY_SUFFIX = {
    ".json": "node_link",
    ".graphml": "graphml",
    ".csv": "tables",
    ".parquet": "tables",
    ".dot": "dot",
    ".gv": "dot",
}


def write_graph(graph: Any, path: Path) -> tuple[Path, ...]:
    """Write a graph in the format that the suffix names.

    Parameters
    ----------
    graph : networkx graph
        In normal form.
    path : Path
        ``.json`` (node-link, key ``links``), ``.graphml``, ``.csv`` and ``.parquet`` (``NAME.nodes`` and ``NAME.edges``
        with a small ``NAME.meta.json`` for direction, types, units and tables), ``.dot`` or ``.gv``.

    Returns
    -------
    tuple of Path
        The files, written whole or not at all.

    Raises
    ------
    UserError
        Unknown suffix, or a text that the format cannot hold.
    """
    from importlib import import_module

    module = _BY_SUFFIX.get(path.suffix.lower())
    if module is None:
        raise UserError(
            f"{path}: no writer for {path.suffix or 'a file without suffix'!r}",
            hint=f"Suffixes: {', '.join(sorted(_BY_SUFFIX))}.",
        )
    files: tuple[Path, ...] = import_module(f"nl2net.graphs.writers.{module}").write(graph, path)
    return files
