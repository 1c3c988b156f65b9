"""The language wall against plain Python, in one process; ratios of CPU time, not seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest

from nl2net.model import Library
from nl2net.sandbox.language.running import build_namespace, compile_checked
from nl2net.sandbox.language.state import RunState, start_run
from nl2net.sandbox.language.validation import check_program
from tests.sandbox.language.programs import benign_programs
from tests.sandbox.language.slips import body

LOOPS = {
    "sum over edges": body("t = 0", "for u, v, d in graph.edges(data=True):", "    t += d['capacity']", "return t"),
    "look-ups": body("t = 0", "for n in graph.nodes:", "    t += graph.nodes[n]['x'] + graph.degree(n)", "return t"),
    "counting": body(
        "c = {}", "for n in graph:", "    k = graph.nodes[n].get('x') % 7", "    c[k] = c.get(k, 0) + 1", "return c"
    ),
    "components": body("return sorted(len(c) for c in nx.connected_components(graph))"),
}


def large_graph() -> nx.Graph[int]:
    graph: nx.Graph[int] = nx.gnm_random_graph(10_000, 50_000, seed=1)
    for node, data in graph.nodes(data=True):
        data["x"] = node
    for _, _, data in graph.edges(data=True):
        data["capacity"] = 1
    return graph


def best(work: Callable[[], Any], rounds: int = 5) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_cost_at_most_twice_plain_python(name: str, record_property: Callable[[str, Any], None]) -> None:
    source, graph = LOOPS[name], large_graph()
    checked, _ = check_program(source, library=Library.NETWORKX)
    assert checked is not None
    start_run(RunState(1, (graph,)))
    guarded = build_namespace()
    exec(compile_checked(checked), guarded)
    plain: dict[str, Any] = {"nx": nx}
    exec(source, plain)
    assert guarded["answer"](graph) == plain["answer"](graph)
    ratio = best(lambda: guarded["answer"](graph)) / best(lambda: plain["answer"](graph))
    record_property("ratio", round(ratio, 2))
    print(f"{name}: {ratio:.2f} times plain Python")
    assert ratio < 3  # 1.0 to 1.8 on a quiet machine; the bound leaves room for noise


def test_check_and_compile_take_about_a_millisecond(record_property: Callable[[str, Any], None]) -> None:
    times = []
    for program in benign_programs():
        source = program["program"]

        def work(source: str = source) -> None:
            checked, _ = check_program(source, library=Library.NETWORKX)
            assert checked is not None
            compile_checked(checked)

        times.append(best(work, 3) * 1000)
    record_property("milliseconds", f"{min(times):.2f} to {max(times):.2f}")
    print(f"check and compile: {min(times):.2f} to {max(times):.2f} ms")
    assert sorted(times)[len(times) // 2] < 3
