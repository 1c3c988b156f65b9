"""Loading 100,000 nodes and 500,000 links, against networkx building the same graph from lists in memory."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from nl2net.graphs import load_graph, write_graph

NODES, LINKS = 100_000, 500_000


def _lists() -> tuple[list[tuple[str, dict[str, Any]]], list[tuple[str, str, dict[str, Any]]]]:
    draw = random.Random(7)
    nodes = [(f"r{n}", {"site": f"s{n % 97}", "asn": 64512 + n % 1000}) for n in range(NODES)]
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < LINKS:
        u, v = draw.randrange(NODES), draw.randrange(NODES)
        if u < v:
            pairs.add((u, v))
    links = [
        (f"r{u}", f"r{v}", {"capacity": 10 ** draw.randint(8, 11), "delay": round(draw.random() * 50, 3)})
        for u, v in sorted(pairs)
    ]
    return nodes, links


def _build(nodes: list[Any], links: list[Any]) -> Any:
    graph: Any = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(links)
    return graph


def _seconds(work: Callable[[], Any]) -> float:
    """CPU seconds of the faster of two runs; the machine may be busy with other things."""
    best = float("inf")
    for _ in range(2):
        gc.collect()
        start = time.process_time()
        kept = work()
        best = min(best, time.process_time() - start)
        del kept
    return best


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_loading_takes_little_more_than_networkx(suffix: str, tmp_path: Path, benchmark: Any) -> None:
    """The aim is twice the time, reached on a quiet machine (see docs/graphs.md); 2.5 allows for a busy one."""
    nodes, links = _lists()
    reference = _build(nodes, links)
    files = write_graph(reference, tmp_path / f"large{suffix}")
    loaded = benchmark.pedantic(load_graph, args=(files[1],), rounds=1)
    assert nx.utils.graphs_equal(loaded.graph, reference)
    assert list(loaded.graph.edges()) == list(reference.edges())
    del loaded
    alone = _seconds(lambda: _build(nodes, links))
    loading = _seconds(lambda: load_graph(files[1]))
    hashed = _seconds(lambda: load_graph(files[1]).fingerprint)
    benchmark.extra_info["ratio"] = loading / alone
    benchmark.extra_info["ratio with fingerprint"] = hashed / alone
    print(
        f"{suffix}: networkx {alone:.2f} s, loading {loading / alone:.2f} times, with hash {hashed / alone:.2f} times"
    )
    assert loading <= 2.5 * alone
