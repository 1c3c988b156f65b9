"""Making planning cases on a full-size model, in deep copies of the same graph: a figure that holds on any host."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import pytest

from nl2net.golden.generate import Recipe, generate
from nl2net.golden.graph_comparison import difference
from nl2net.golden.recipes import build_graph

COUNT = 1000


def _cpu(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


@pytest.mark.slow
@pytest.mark.parametrize("kind, most", [("", 0.03), ("capacity", 0.03), ("chain", 0.1)])
def test_a_proven_query_costs_a_small_part_of_a_deep_copy(kind: str, most: float) -> None:
    """Copies are timed before and after, for the load of the machine changes; indexes of the graph are made anew.

    The target of the design is 0.03 and holds on a quiet machine (0.0205, and 0.0290 for ``capacity``); chains, which
    change the graph several times, have none.
    """
    recipe = Recipe("planning", f"cost-{kind}", count=COUNT, graphs=1, size="full", kind=kind)
    graph = build_graph(recipe.source(0)).graph
    copies = [_cpu(lambda: copy.deepcopy(graph)) for _ in range(3)]
    made: list[Any] = []
    seconds = _cpu(lambda: made.extend(generate(recipe).cases))
    copies += [_cpu(lambda: copy.deepcopy(graph)) for _ in range(3)]
    ratio = seconds / COUNT / sorted(copies)[len(copies) // 2]
    print(f"{kind or 'catalogue'}: {seconds:.2f} CPU-s for {COUNT} proven cases, {ratio:.4f} deep copies a query")
    assert len(made) == COUNT and len({case.id for case in made}) == COUNT
    assert ratio <= most


def test_equal_graphs_of_full_size_are_compared_in_twenty_milliseconds() -> None:
    graph = build_graph(Recipe("planning", "equal", graphs=1, size="full").source(0)).graph
    other = copy.deepcopy(graph)
    assert len(graph) > 5000
    best = min(_cpu(lambda: difference(graph, other)) for _ in range(7))
    print(f"equal graphs of {len(graph)} nodes: {best * 1000:.1f} ms")
    assert not difference(graph, other)
    assert best < 0.02
    # The quick yes must not hide a small change.
    other.nodes[next(iter(other))]["name"] = "another"
    assert len(difference(graph, other).nodes_changed) == 1
