"""What happens before the first run: starting in the background, streaming a graph, loading libraries late."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nl2net.errors import Unavailable
from nl2net.model import GraphClass, GraphSchema, Library
from nl2net.sandbox import Facts, GraphPayload, Outcome, Sandbox, Task
from nl2net.sandbox.process import wire
from nl2net.sandbox.process.demand import ON_DEMAND, demanded, load_for

pytestmark = pytest.mark.kernel

SCHEMA = GraphSchema(GraphClass(directed=False, multi=False), nodes=4, edges=3)
COUNT = Task("def answer(graph):\n    return graph.number_of_edges()")
# The word that would have the library loaded before the fork is hidden, so the run stumbles first.
HIDDEN = (
    "def answer(graph):\n    frame = pd.DataFrame({'a': [1, 2, 3], 'b': [1, 4, 9]})\n"
    "    return frame.corr(method='spear' + 'man').loc['a', 'b']"
)


def payload(name: str = "path") -> GraphPayload:
    graph: Any = nx.path_graph(4)
    return GraphPayload(graph, SCHEMA, name)


def test_prestart_returns_at_once_and_a_run_waits_for_it() -> None:
    with Sandbox() as sandbox:
        started = time.process_time()
        holder = sandbox.prestart(payload())
        assert time.process_time() - started < 0.2
        assert holder is not None and holder is sandbox.open(payload())
        assert holder.run(COUNT).value == 3


def test_closing_does_not_wait_for_a_start_in_the_background() -> None:
    sandbox = Sandbox()
    sandbox.prestart(payload())
    sandbox.close()
    with pytest.raises(Unavailable, match="closed"):
        sandbox.start()
    waiting = [t for t in threading.enumerate() if t.name == "nl2net-prestart"]
    for thread in waiting:
        thread.join(60)
    assert not any(thread.is_alive() for thread in waiting)


def test_a_library_part_that_was_not_foreseen_is_loaded_and_the_program_runs_again() -> None:
    with Sandbox() as sandbox, sandbox.open(payload()) as holder:
        report = holder.run(Task(HIDDEN))
        assert (report.outcome, report.value) == (Outcome.OK, pytest.approx(1.0)), report.error
        twin = sandbox.try_on_twin(HIDDEN, library=Library.NETWORKX, schema=SCHEMA, facts=Facts(), placeholders=())
        assert twin.outcome is Outcome.OK, twin.error


@pytest.mark.parametrize("name", ["os", "subprocess", "networkx.drawing", "scipy", "", "numpy.f2py"])
def test_only_modules_of_the_closed_list_are_loaded_on_demand(name: str) -> None:
    assert demanded(ModuleNotFoundError("no", name=name)) == ""
    before = set(sys.modules)
    load_for("", name)
    assert name not in ON_DEMAND and set(sys.modules) == before


@given(st.lists(st.binary(max_size=4000), max_size=6), st.integers(1, 3000))
def test_a_stream_comes_out_as_it_went_in(parts: list[bytes], size: int) -> None:
    reader, writer = os.pipe()
    try:
        stream = wire.ChunkWriter(writer)
        for part in parts:
            stream.write(part)
        stream.close()
        incoming = wire.ChunkReader(reader)
        found = b"".join(iter(lambda: incoming.read(size), b""))
        assert found == b"".join(parts) and incoming.read(1) == b""
    finally:
        os.close(reader)
        os.close(writer)


def test_a_graph_larger_than_a_pipe_is_streamed() -> None:
    graph: Any = nx.gnm_random_graph(3000, 9000, seed=1)
    for node in graph:
        graph.nodes[node]["text"] = "x" * (node % 90)
    schema = GraphSchema(GraphClass(directed=False, multi=False), nodes=3000, edges=9000)
    assert len(pickle.dumps(graph, 5)) > 1 << 17
    with Sandbox() as sandbox, sandbox.open(GraphPayload(graph, schema, "large")) as holder:
        program = "def answer(graph):\n    return len(graph), sum(len(d['text']) for _, d in graph.nodes(data=True))"
        assert holder.run(Task(program)).value == (3000, sum(node % 90 for node in graph))


@pytest.mark.parametrize("statement", ["SELECT * FROM duckdb_settings()", "SELECT * FROM query('SELECT 1')"])
def test_a_statement_that_was_not_checked_is_judged_again_before_it_runs(statement: str) -> None:
    with Sandbox() as sandbox, sandbox.open(payload()) as holder:
        report = holder.run(Task(statement, library=Library.SQL))
    assert report.outcome is Outcome.REFUSED and report.findings[0].rule == "sql-function"


def test_threads_may_use_a_worker_while_it_starts() -> None:
    """A check and early starts at once: the base says only once that it is ready, and each fork gets its own pipes."""
    graphs: list[Any] = [nx.path_graph(size) for size in (3, 4, 5)]
    nodes = Task("def answer(graph):\n    return graph.number_of_nodes()")
    for _ in range(3):
        with Sandbox() as sandbox:
            holders = [sandbox.prestart(GraphPayload(graph, SCHEMA, str(len(graph)))) for graph in graphs]
            sandbox.check(nodes.program, library=Library.NETWORKX, schema=SCHEMA, facts=Facts())
            assert [holder.run(nodes).value for holder in holders if holder is not None] == [3, 4, 5]
