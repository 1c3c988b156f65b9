"""Run attacks through sealed workers: the shipped path, and the operating system alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nl2net.model import GraphClass, GraphSchema
from nl2net.sandbox import GraphHolder, GraphPayload, Limits, Outcome, RunReport, Sandbox, Task
from nl2net.sandbox.process.worker import WorkerOptions
from tests.escape.harness import Reply, load_graph

ROOT = str(Path(__file__).resolve().parents[2])
LIMITS = Limits(wall_s=2.5, cpu_s=1.0, memory_mb=600, frame_bytes=4 << 20, items=20_000)
SCHEMA = GraphSchema(GraphClass(directed=False, multi=False), nodes=12, edges=24)
# Modules that attempts use: loaded before the seal, or the attempts would stop at a lazy import.
MODULES = ("ctypes", "mmap", "multiprocessing", "resource", "socket", "subprocess", "threading", "encodings.idna")

HONEST = """
def answer(graph):
    total = 0
    for u, v, d in graph.edges(data=True):
        total = total + d.get("capacity", 0)
    first = [n for n in graph][0]
    return [graph.number_of_nodes(), graph.number_of_edges(), total, first, dict(graph.nodes[first]),
            round(nx.density(graph), 9), round(sum(nx.pagerank(graph).values()), 6)]
"""


def wall(name: str, **changes: Any) -> WorkerOptions:
    """Options for a worker with another wall one, from the tests."""
    return WorkerOptions(language=f"tests.escape.{name}", paths=(ROOT,), modules=MODULES, **changes)


@contextmanager
def holder(options: WorkerOptions | None = None, *, accept_unsealed: bool = False) -> Iterator[GraphHolder]:
    """A holder of the corpus graph."""
    with Sandbox(limits=LIMITS, options=options, accept_unsealed=accept_unsealed) as sandbox:
        yield sandbox.open(GraphPayload(load_graph(), SCHEMA, "corpus"))


def ask(graph: GraphHolder, program: str) -> RunReport:
    """Run one program."""
    return graph.run(Task(program))


def to_reply(report: RunReport, *, before: Any, after: Any) -> Reply:
    """A run report in the terms of the oracles."""
    feedback = "" if report.feedback is None else json.dumps([report.feedback.kind, report.feedback.expression])
    found: Mapping[str, Any] = {
        "feedback": feedback,
        "before": str(before),
        "after": str(after),
        "peak_mb": report.peak_mb,
    }
    if report.outcome is Outcome.OK:
        return Reply("value", text=json.dumps([str(report.value), report.printed]), **found)
    if report.outcome is Outcome.REFUSED:
        killed = any(finding.rule == "system-call" for finding in report.findings)
        return Reply("limit" if killed else "refused", **found)
    if report.outcome is Outcome.ERROR:
        unsendable = report.feedback is not None and report.feedback.kind == "result"
        return Reply("unsendable" if unsendable else "error", **found)
    return Reply("limit", **found)
