"""Runs the programs of benchmark agents: always in the sandbox, one holder per graph, the last few kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from nl2net.benchmark.agents import AgentAnswer
from nl2net.graphs import LoadedGraph, describe_graph
from nl2net.model import Status
from nl2net.sandbox import Facts, GraphHolder, GraphPayload, Limits, Outcome, RunReport, Sandbox, Task

_KEPT = 6
_STATUS = {
    Outcome.OK: Status.ANSWERED,
    Outcome.CANNOT_ANSWER: Status.CANNOT_ANSWER,
    Outcome.ASK_USER: Status.NEEDS_CLARIFICATION,
}


@dataclass(frozen=True, slots=True)
class Ran:
    """A program with what came of it."""

    program: str
    report: RunReport

    @property
    def status(self) -> Status:
        """What it amounts to as an answer."""
        return _STATUS.get(self.report.outcome, Status.FAILED)

    @property
    def fault(self) -> str:
        """Why it gave no value; empty if it gave one."""
        if self.status is not Status.FAILED:
            return ""
        words = [self.report.error, *(finding.message for finding in self.report.findings)]
        return next((text for text in words if text), f"ended with {self.report.outcome}")

    def answer(self, **rest: Any) -> AgentAnswer:
        """The answer that delivers it."""
        report = self.report
        changes = report.changes if report.result is not None and report.result.type == "graph" else None
        return AgentAnswer(
            self.status,
            result=report.result,
            changes=changes,
            program=self.program,
            message=self.fault or report.message,
            **rest,
        )


class ProgramRunner:
    """A sandbox for many graphs, safe to share between threads.

    Parameters
    ----------
    limits : Limits
        Of each run.
    accept_unsealed : bool
        Only ever from the command line.
    """

    def __init__(self, limits: Limits | None = None, *, accept_unsealed: bool = False) -> None:
        self.sandbox = Sandbox(limits=limits or Limits(), accept_unsealed=accept_unsealed)
        self._lock = threading.Lock()
        self._open: OrderedDict[str, GraphHolder] = OrderedDict()

    def run(self, program: str, graph: Any, described: LoadedGraph | None = None) -> Ran:
        """Run one program over a graph; what fails is an outcome."""
        described = described or describe_graph(graph, name="bench")
        # Asked for in any case: a program that changes the network must hand over what it changed.
        task = Task(program, facts=Facts(is_change=True))
        return Ran(program, self._holder(described).run(task))

    def _holder(self, described: LoadedGraph) -> GraphHolder:
        key = described.fingerprint
        with self._lock:
            holder = self._open.pop(key, None)
            if holder is None:
                holder = self.sandbox.open(GraphPayload(described.graph, described.schema, key))
            self._open[key] = holder
            old = [self._open.popitem(last=False)[1] for _ in range(len(self._open) - _KEPT)]
        for gone in old:
            gone.stop()
        return holder

    def close(self) -> None:
        """End all workers."""
        self.sandbox.close()
