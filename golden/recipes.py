"""From a recipe to its graph."""

from __future__ import annotations

from functools import lru_cache

from nl2net.errors import UserError
from nl2net.golden.built import BuiltGraph
from nl2net.golden.case import GraphSource
from nl2net.golden.planning_graphs import build_planning
from nl2net.golden.traffic_graphs import build_traffic

_BUILDERS = {"traffic": build_traffic, "planning": build_planning}


@lru_cache(maxsize=64)
def _build(recipe: str, seed: str, options: tuple[tuple[str, object], ...]) -> BuiltGraph:
    if recipe not in _BUILDERS:
        raise UserError(f"unknown graph recipe {recipe!r}", hint=f"Known are {', '.join(sorted(_BUILDERS))}.")
    return _BUILDERS[recipe](GraphSource(recipe, seed, dict(options)))


def build_graph(source: GraphSource) -> BuiltGraph:
    """Make, or take from a small cache, the graph of a recipe.

    The graph is shared: hand a deep copy to anything that might change it.

    Examples
    --------
    >>> build_graph(GraphSource("traffic", "demo", {"nodes": 12})).graph.number_of_nodes()
    12
    """
    return _build(source.recipe, source.seed, tuple(sorted(source.options.items())))
