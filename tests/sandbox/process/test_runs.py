"""Runs through the public interface: outcomes, libraries, cancelling, recovery, and what is left behind."""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import pytest

from nl2net.model import AttributeSchema, GraphClass, GraphSchema, Library, ResultType, TableSchema
from nl2net.sandbox import Cancelled, Facts, GraphHolder, GraphPayload, Level, Limits, Outcome, Sandbox, Task
from nl2net.sandbox.channel.classify import plain
from nl2net.sandbox.channel.values import TableValue, ViewValue
from tests.conftest import SHARED

pytestmark = pytest.mark.kernel

SCHEMA = GraphSchema(
    GraphClass(directed=False, multi=False),
    nodes=30,
    edges=29,
    attributes=(
        AttributeSchema("cap", "cap", "node", "integer", 29, 30, "many"),
        AttributeSchema("w", "w", "edge", "number", 29, 29, "many"),
    ),
    tables=(TableSchema("demands", (("source", "text"), ("value", "number")), 1),),
)
SPIN = "def answer(graph):\n    while True:\n        pass"
COUNT = "def answer(graph):\n    return graph.number_of_nodes()"


def network() -> Any:
    graph = nx.relabel_nodes(nx.path_graph(30), {number: f"n{number}" for number in range(30)})
    for place, node in enumerate(graph):
        if place:
            graph.nodes[node]["cap"] = place
    for edge in graph.edges:
        graph.edges[edge]["w"] = 1.5
    graph.graph["tables"] = {"demands": [{"source": "n1", "value": 2.5}]}
    return graph


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def holder(sandbox: Sandbox) -> GraphHolder:
    return sandbox.open(GraphPayload(network(), SCHEMA, "network"))


@pytest.mark.parametrize(
    ("program", "outcome", "kind"),
    [
        ("def answer(graph):\n    return 1", Outcome.OK, ""),
        ("def answer(graph):\n    return cannot_answer('no such attribute')", Outcome.CANNOT_ANSWER, ""),
        ("def answer(graph):\n    return ask_user('which?', ['a', 'b'])", Outcome.ASK_USER, ""),
        ("import os\ndef answer(graph):\n    return os", Outcome.REFUSED, "policy"),
        ("def answer(graph):\n    return graph.nodes['n0']['cap']", Outcome.ERROR, "key"),
        ("def answer(graph):\n    return [1][7]", Outcome.ERROR, "index"),
        ("def answer(graph):\n    return 1 + 'a'", Outcome.ERROR, "type"),
        ("def answer(graph):\n    return int('x')", Outcome.ERROR, "convert"),
        ("def answer(graph):\n    return max([])", Outcome.ERROR, "empty"),
        ("def answer(graph):\n    return 1 / 0", Outcome.ERROR, "zero"),
        ("def answer(graph):\n    return nx.shortest_path(graph, 'n0', 'q')", Outcome.ERROR, "node"),
        ("def answer(graph):\n    return nx.topological_generations(graph) and list(nx.strongly_connected_components(graph))",  # noqa: E501
         Outcome.ERROR, "graph_kind"),
        ("def answer(graph):\n    return (n for n in graph)", Outcome.ERROR, "result"),
        ("def answer(graph):\n    def f(n):\n        return f(n)\n    return f(1)", Outcome.RECURSION, "recursion"),
        ("def answer(graph):\n    return [0] * 10**9", Outcome.MEMORY, "memory"),
        ("def answer(graph):\n    return 'x' * 100000", Outcome.OUTPUT, "output"),
    ],
)  # fmt: skip
def test_outcomes(holder: GraphHolder, program: str, outcome: Outcome, kind: str) -> None:
    report = holder.run(Task(program))
    assert report.outcome is outcome, report.error
    assert (report.feedback.kind if report.feedback else "") == kind
    assert report.layers.level is Level.SEALED
    if outcome is Outcome.ASK_USER:
        assert (report.message, report.choices) == ("which?", ("a", "b"))


def test_feedback_points_at_the_masked_expression(holder: GraphHolder) -> None:
    program = "def answer(graph):\n    x = graph.nodes['NODE_1']\n    return x['site'] + 1"
    report = holder.run(Task(program, bindings={"NODE_1": "secret-router"}))
    assert report.feedback is not None
    assert (report.feedback.line, report.feedback.expression) == (2, "graph.nodes['NODE_1']")
    assert "secret-router" not in str(report.feedback) and "secret-router" in report.error


def test_pandas_and_sql(holder: GraphHolder) -> None:
    def ask(program: str, library: Library) -> Any:
        report = holder.run(Task(program, library=library, bindings={"NODE_1": "n3"}))
        assert report.outcome is Outcome.OK, report.error
        return report.value

    pandas, sql = Library.PANDAS, Library.SQL
    assert ask("def answer(nodes, edges):\n    return nodes['cap'].sum()", pandas) == sum(range(30))
    assert ask("def answer(nodes, edges):\n    return str(nodes['cap'].dtype)", pandas) == "Int64"
    assert ask("def answer(nodes, edges):\n    return nodes.loc['NODE_1', 'cap']", pandas) == 3
    assert ask("SELECT sum(cap) FROM nodes WHERE id <> 'NODE_1'", sql) == sum(range(30)) - 3
    assert ask("SELECT count(*) FROM ends WHERE node = 'NODE_1'", sql) == 2
    assert ask("SELECT value FROM demands", sql) == 2.5
    table = ask("SELECT id, cap FROM nodes ORDER BY cap NULLS LAST LIMIT 2", sql)
    assert isinstance(table, TableValue) and table.rows == (("n1", 1), ("n2", 2))


SQL_ATTACKS = [
    "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/*')", "COPY nodes TO '/dev/shm/never'", "ATTACH '/dev/shm/never.db'", "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 4", "SET enable_external_access = true", "RESET lock_configuration", "PRAGMA database_list",
    "SELECT getenv('HOME')", "SELECT 1; DROP VIEW nodes", "CREATE TABLE x AS SELECT 1",
    "EXPORT DATABASE '/dev/shm/never'",
    "SELECT * FROM duckdb_secrets()", "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM parquet_scan('/etc/passwd')",
    "FROM query('SELECT 1; DROP VIEW nodes')", "CALL pragma_version()", "EXPLAIN ANALYZE SELECT 1",
]  # fmt: skip


@pytest.mark.parametrize("query", SQL_ATTACKS)
def test_sql_reaches_nothing(holder: GraphHolder, query: str) -> None:
    report = holder.run(Task(query, library=Library.SQL))
    assert report.outcome in (Outcome.REFUSED, Outcome.ERROR), report.value
    assert not list(Path("/dev/shm").glob("never*"))


def test_changes_come_only_when_they_were_asked_for(holder: GraphHolder) -> None:
    program = "def answer(graph):\n    graph.nodes['n1']['cap'] = 99\n    graph.remove_node('n29')\n    return graph"
    asked = holder.run(Task(program, facts=Facts(is_change=True)))
    assert asked.changes is not None
    assert asked.changes.to_json()["nodes_changed"] == {"n1": {"cap": [1, 99]}}
    assert asked.changes.nodes_removed == ("n29",)
    assert asked.changes.edges_removed == ({"source": "n28", "target": "n29"},)
    in_place = holder.run(Task(program.replace("return graph", "return None"), facts=Facts(is_change=True)))
    assert in_place.changes == asked.changes
    assert holder.run(Task(program)).changes is None
    assert holder.run(Task(COUNT)).value == 30


def test_results_are_cut_with_a_total(holder: GraphHolder) -> None:
    report = holder.run(Task("def answer(graph):\n    return list(range(500))"), limits=Limits(items=50))
    assert report.result is not None
    assert (report.result.rows_total, report.result.truncated, len(report.result.data)) == (500, True, 50)
    assert holder.run(Task(COUNT)).result == type(report.result)(ResultType.NUMBER, 30)


@pytest.mark.parametrize("limits", [Limits(wall_s=0.5), Limits(cpu_s=1.0, wall_s=20.0)])
def test_time_limits(holder: GraphHolder, limits: Limits) -> None:
    report = holder.run(Task(SPIN), limits=limits)
    assert report.outcome is Outcome.TIME and report.wall_s < 10.0


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def wait_for_child(process: int) -> int:
    limit = time.monotonic() + 10.0
    while time.monotonic() < limit:
        if found := children(process):
            return found[0]
        time.sleep(0.002)
    raise AssertionError("no child")


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def cancelled_after(holder: GraphHolder) -> tuple[float, float]:
    """Seconds from a cancel to its end, and by how much the machine was late in a plain sleep meanwhile."""
    cancel, number, set_at, late = threading.Event(), holder.number, [0.0], [0.0]

    def later() -> None:
        wait_for_child(number)
        time.sleep(0.1)
        set_at[0] = time.monotonic()
        cancel.set()
        for _ in range(10):
            before = time.monotonic()
            time.sleep(0.01)
            late[0] += time.monotonic() - before - 0.01

    thread = threading.Thread(target=later)
    thread.start()
    with pytest.raises(Cancelled):
        holder.run(Task(SPIN), cancel=cancel)
    took = time.monotonic() - set_at[0]
    thread.join()
    return took, late[0]


def test_cancelling_kills_the_child_at_once(holder: GraphHolder) -> None:
    """Within 100 ms, by the best of a few: how late a busy machine is does not say how long it takes."""
    holder.run(Task(COUNT))
    tries = [cancelled_after(holder) for _ in range(4)]
    assert not children(holder.number)
    assert min(took - late for took, late in tries) < 0.1, tries
    assert holder.run(Task(COUNT)).value == 30


def test_an_interrupt_kills_the_child(holder: GraphHolder) -> None:
    holder.run(Task(COUNT))
    # A job that was started in the background ignores SIGINT, and so would this test.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        wait_for_child(holder.number)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        holder.run(Task(SPIN))
    thread.join()
    signal.signal(signal.SIGINT, before)
    assert not children(holder.number)
    assert holder.run(Task(COUNT)).value == 30


def test_a_killed_holder_takes_its_child_along_and_recovers(holder: GraphHolder) -> None:
    holder.run(Task(COUNT))
    process, seen = holder.number, []

    def kill() -> None:
        seen.append(wait_for_child(process))
        time.sleep(0.1)
        os.kill(process, signal.SIGKILL)
        # 50 ms on an idle machine; the room is for a busy one.
        limit = time.monotonic() + 1.0
        while runs(seen[0]) and time.monotonic() < limit:
            time.sleep(0.01)
        seen.append(runs(seen[0]))

    thread = threading.Thread(target=kill)
    thread.start()
    report = holder.run(Task(SPIN), limits=Limits(wall_s=2.0))
    thread.join()
    assert report.outcome is Outcome.TIME and seen[1] is False
    assert holder.number != process and holder.run(Task(COUNT)).value == 30


def test_closing_leaves_nothing_and_idle_workers_leave() -> None:
    from nl2net.sandbox.process.worker import WorkerOptions

    with Sandbox(options=WorkerOptions(idle_s=0.3)) as opened:
        graph = opened.open(GraphPayload(network(), SCHEMA, "x"))
        assert graph.run(Task(COUNT)).value == 30
        first = graph.number
        limit = time.monotonic() + 10.0
        while runs(first) and time.monotonic() < limit:
            time.sleep(0.05)
        assert not runs(first)
        assert graph.run(Task(COUNT)).value == 30
        second = graph.number
        assert second != first
    assert not runs(second)


def benign() -> list[Any]:
    programs: list[Any] = json.loads((SHARED / "benign" / "programs.json").read_text())
    return programs


def same(left: Any, right: Any) -> bool:
    """Equal, with room for rounding."""
    if isinstance(left, float) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    return bool(left == right)


def bare(value: Any) -> Any:
    """A value of plain Python in the form of `plain`."""
    if isinstance(value, (pd.DataFrame, pd.Series)) or hasattr(value, "is_multigraph"):
        raise TypeError("compare such a value by hand")
    if isinstance(value, dict):
        return {str(key): bare(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((bare(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [bare(item) for item in value]
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, (str, int, float)) or value is None:
        return value
    return [bare(item) for item in value]


def test_ordinary_programs_answer_as_plain_python_does(sandbox: Sandbox) -> None:
    import itertools

    import numpy as np

    raw = json.loads((SHARED / "benign" / "graph.json").read_text())
    schema = GraphSchema(GraphClass(directed=False, multi=False), nodes=8, edges=16)
    graph = sandbox.open(GraphPayload(nx.node_link_graph(raw, edges="links"), schema, "benign"))
    wrong = []
    for case in benign():
        names: dict[str, Any] = {"nx": nx, "pd": pd, "np": np, "itertools": itertools, "print": lambda *a, **k: None}
        exec(case["program"], names)
        expected = names["answer"](nx.node_link_graph(raw, edges="links"))
        report = graph.run(Task(case["program"]))
        found = report.value
        if isinstance(expected, (pd.DataFrame, pd.Series)):
            frame = expected.to_frame() if isinstance(expected, pd.Series) else expected
            rows = [list(row) for row in frame.itertuples(index=False)]
            equal = isinstance(found, TableValue) and same(bare(rows), plain([list(row) for row in found.rows]))
        else:
            kinds = (
                type(found) is type(expected) or isinstance(found, (frozenset, ViewValue)) or hasattr(expected, "dtype")
            )
            equal = kinds or isinstance(expected, dict)
            equal = equal and same(
                bare(expected), plain(found) if not isinstance(found, frozenset) else sorted(plain(found), key=str)
            )
        if report.outcome is not Outcome.OK or not equal or report.printed != case.get("printed", ""):
            wrong.append((case["number"], report.outcome, report.error, found, expected))
    assert wrong == []
