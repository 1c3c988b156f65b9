"""Costly modules that few functions need: loaded when a program names them, or after a run that missed one.

A sealed child cannot import. What the text of a program gives away is loaded before the fork; what it does not (a late
import deep in a library) ends the run with the name of the module, and the parent has it loaded and runs it again.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from importlib import import_module

# Loaded before the fork when the text of the program holds one of the words. By text, not by time: whether a program
# runs must not depend on how long the worker has been idle.
ON_DEMAND: Mapping[str, tuple[str, ...]] = {
    "scipy.sparse.linalg": (
        "connectivity",
        "eigenvector",
        "spectral",
        "fiedler",
        "katz",
        "hits",
        "laplacian",
        "communicability",
        "second_order",
        "current_flow",
        "information_centrality",
        "subgraph_centrality",
        "estrada",
        "kirchhoff",
        "effective",
        "resistance",
        "bethe",
        "spectrum",
        "random_walk",
        "directed_",
        "simrank",
    ),
    "scipy.sparse.csgraph": ("floyd_warshall", "simrank", "csgraph"),
    "scipy.linalg": ("communicability", "katz", "expm", "estrada", "subgraph_centrality"),
    "scipy.optimize": ("matching", "edit_distance", "edit_paths", "assignment"),
    "scipy.spatial": ("geometric",),
    "scipy.stats": ("spearman", "kendall", "correlation", "assortativity", "forge", "skew", "kurt"),
    "scipy.special": ("LFR", "zeta"),
    "scipy.interpolate": ("interpolate",),
    "scipy.signal": ("win_type",),
    "numpy.polynomial": ("poly",),
    "numpy.fft": ("fft",),
    "scipy.cluster.vq": ("kmeans", "whiten", "vq"),
    "networkx.algorithms.approximation": ("approximation",),
}


def load_for(program: str, preload: str = "") -> None:
    """Load what a program will need and cannot load once it is sealed.

    Parameters
    ----------
    program : str
        Only searched for words, never parsed.
    preload : str
        One more module; ignored when it is not in the closed list.
    """
    for name, words in ON_DEMAND.items():
        if name not in sys.modules and (name == preload or any(word in program for word in words)):
            with contextlib.suppress(ImportError):
                import_module(name)


def demanded(error: BaseException) -> str:
    """The module of the closed list that a late import wanted; empty for any other error.

    Examples
    --------
    >>> demanded(ModuleNotFoundError("no", name="scipy.stats._stats_py")), demanded(ImportError("no", name="os"))
    ('scipy.stats', '')
    """
    name = error.name if isinstance(error, ImportError) else None
    while type(name) is str and name:
        if name in ON_DEMAND and name not in sys.modules:
            return name
        name = name.rpartition(".")[0]
    return ""
