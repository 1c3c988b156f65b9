"""Golden cases: typed questions with proven answers, their generators and their comparison.

The package is lazy (PEP 562): comparing two results needs none of the generators.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2net.golden.case import Case, GraphSource, Pair
    from nl2net.golden.comparison import Verdict, compare, equal, group_key
    from nl2net.golden.generate import Recipe, generate
    from nl2net.golden.pairs import development_pairs
    from nl2net.golden.recipes import build_graph

# Public name -> module that owns it.
_EXPORTS = {
    "Case": "case",
    "GraphSource": "case",
    "Pair": "case",
    "Recipe": "generate",
    "Verdict": "comparison",
    "build_graph": "recipes",
    "compare": "comparison",
    "development_pairs": "pairs",
    "equal": "comparison",
    "generate": "generate",
    "group_key": "comparison",
}

__all__ = [
    "Case",
    "GraphSource",
    "Pair",
    "Recipe",
    "Verdict",
    "build_graph",
    "compare",
    "development_pairs",
    "equal",
    "generate",
    "group_key",
]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        found = getattr(import_module(f"nl2net.golden.{_EXPORTS[name]}"), name)
        globals()[name] = found  # a submodule of the same name must not win later
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
