"""Cost of the sandbox as ratios and differences in one run: against plain ``exec`` and against a cold process."""

from __future__ import annotations

import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from nl2net.model import GraphClass, GraphSchema
from nl2net.sandbox import GraphPayload, Sandbox, Task

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

CONSTANT = "def answer(graph):\n    return 1"
SUM = "def answer(graph):\n    return sum(d['capacity'] for u, v, d in graph.edges(data=True))"
ROUNDS = 12
COLD = "import sys, pickle, networkx, pandas; pickle.load(open(sys.argv[1], 'rb'))"


def network(nodes: int, edges: int) -> Any:
    graph = nx.gnm_random_graph(nodes, edges, seed=1)
    for place, node in enumerate(graph):
        graph.nodes[node].update(site=f"s{place % 10}", cap=place)
    for u, v, data in graph.edges(data=True):
        data.update(capacity=(u + v) % 100, latency=1.5)
    return nx.relabel_nodes(graph, {node: f"n{node}" for node in graph})


def milliseconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


def cold_process(graph: Any, folder: Path) -> float:
    file = folder / "graph.pickle"
    file.write_bytes(pickle.dumps(graph, 5))
    return milliseconds(lambda: subprocess.run([sys.executable, "-c", COLD, str(file)], check=True))


@pytest.mark.parametrize(("nodes", "edges"), [(10_000, 50_000), (100_000, 500_000)])
def test_a_warm_question_costs_a_fraction_of_a_cold_one(nodes: int, edges: int, tmp_path: Path) -> None:
    """Prints the figures of ``docs/sandbox.md``; asserts ratios only, for the machine may be busy."""
    graph = network(nodes, edges)
    with Sandbox() as sandbox:
        sandbox.layers()  # the base worker is up, as it is after the first question
        holder = sandbox.open(GraphPayload(graph, GraphSchema(GraphClass(False, False), nodes, edges), "bench"))
        ready = milliseconds(holder.ready)
        figures = {program: _overhead(holder, graph, program) for program in (CONSTANT, SUM)}
        peaks = [holder.run(Task(SUM)).peak_mb for _ in range(10)]
    cold = cold_process(graph, tmp_path)
    overhead, cpu = figures[CONSTANT]
    print(
        f"\n{nodes}/{edges}: ready {ready:.0f} ms, overhead {overhead:.1f} ms (CPU of the child {cpu:.1f} ms), "
        f"sum {figures[SUM][0]:.1f} ms, cold {cold:.0f} ms, ratio {cold / overhead:.0f}, peak {peaks[0]:.0f} MB"
    )
    assert overhead < cold / 10
    assert max(peaks) < min(peaks) * 1.05
    assert ready < cold * 3


def _overhead(holder: Any, graph: Any, program: str) -> tuple[float, float]:
    """Least wall time over plain ``exec``, and least CPU time of the child; interleaved, so that noise hits both."""
    names: dict[str, Any] = {"nx": nx}
    exec(program, names)
    plain, sealed, cpu = [], [], []
    for _ in range(ROUNDS):
        plain.append(milliseconds(lambda: names["answer"](graph)))
        reports: list[Any] = []
        sealed.append(milliseconds(lambda: reports.append(holder.run(Task(program)))))  # noqa: B023
        cpu.append(1000 * reports[0].cpu_s)
    assert statistics.median(sealed) > 0
    return min(sealed) - min(plain), min(cpu)
