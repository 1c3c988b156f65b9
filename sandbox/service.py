"""The sandbox as the assistant uses it: one base worker, one holder per open graph, one sealed child per run."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from nl2net.errors import Nl2netError, Unavailable
from nl2net.model import GraphSchema, Library
from nl2net.sandbox.feedback import advice, build_feedback
from nl2net.sandbox.outcome import (
    CheckReport,
    Facts,
    Feedback,
    GraphPayload,
    LayerReport,
    Limits,
    Outcome,
    RunReport,
    Task,
    TwinReport,
)
from nl2net.sandbox.process.reports import Reply, kind_of_reply, late_module, read_reply, run_report
from nl2net.sandbox.process.worker import WorkerDied, WorkerOptions, WorkerProcess, fresh

_CHECK_LIMITS = Limits(wall_s=60.0, cpu_s=10.0, memory_mb=512, frame_bytes=4 << 20)
_NEEDS_FEEDBACK = frozenset(set(Outcome) - {Outcome.OK, Outcome.CANNOT_ANSWER, Outcome.ASK_USER})


class Cancelled(Nl2netError):
    """The run was cancelled by its ``cancel`` event; the child is dead."""

    exit_code = 130


def require_platform() -> None:
    """Refuse where the layers do not exist at all.

    Raises
    ------
    Unavailable
        On anything but Linux, with the way out.
    """
    if not sys.platform.startswith("linux"):
        raise Unavailable(
            f"there is no sandbox on {sys.platform}: seccomp and Landlock are parts of Linux",
            hint="Run nl2net inside a Linux container or virtual machine (on Windows: WSL2); see docs/sandbox.md.",
        )


class Sandbox:
    """Runs programs behind both walls.

    Parameters
    ----------
    limits : Limits
        Limits of a run, unless the run gives its own.
    accept_unsealed : bool
        Run even where the operating system grants less than `Level.SEALED`; only ever from the command line.
    options : WorkerOptions, optional
        How workers start; the escape tests weaken them here.

    Examples
    --------
    >>> import networkx as nx
    >>> from nl2net.model import GraphClass, GraphSchema
    >>> from nl2net.sandbox.outcome import GraphPayload, Task
    >>> graph = nx.path_graph(3)
    >>> schema = GraphSchema(GraphClass(directed=False, multi=False), nodes=3, edges=2)
    >>> with Sandbox() as sandbox, sandbox.open(GraphPayload(graph, schema)) as holder:
    ...     holder.run(Task("def answer(graph):\\n    return graph.number_of_edges()")).value
    2
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        accept_unsealed: bool = False,
        options: WorkerOptions | None = None,
    ) -> None:
        require_platform()
        self.limits = limits or Limits()
        self.accept_unsealed = accept_unsealed
        self.options = options or WorkerOptions()
        self._lock = threading.Lock()
        self._base: WorkerProcess | None = None
        self._holders: dict[str, GraphHolder] = {}
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all workers; nothing of the sandbox is left."""
        with self._lock:
            self._closed = True
            holders, self._holders = list(self._holders.values()), {}
            base, self._base = self._base, None
        for holder in holders:
            holder.stop(at_once=True)
        if base is not None:
            base.close()

    def prestart(self, payload: GraphPayload | None = None) -> GraphHolder | None:
        """Start what a question will need in the background, and return at once.

        Call it before the model is asked: the base worker (about a second) and the holder of the graph are then ready
        when the program comes. A failure here is not reported; the first run meets it again and says it.

        Parameters
        ----------
        payload : GraphPayload, optional
            The graph of the question; without it only the base worker is started.

        Returns
        -------
        GraphHolder or None
            The same that `open` gives for this graph. A run that comes early waits for it.

        Examples
        --------
        >>> with Sandbox() as sandbox:
        ...     sandbox.prestart() is None
        True
        """
        self.start()
        if payload is None:
            return None
        holder = self.open(payload)
        threading.Thread(target=holder.prepare, name="nl2net-prestart", daemon=True).start()
        return holder

    def start(self) -> None:
        """Start the base worker without waiting for it.

        Raises
        ------
        Unavailable
            The sandbox was closed.
        """
        with self._lock:
            if self._closed:
                raise Unavailable("the sandbox was closed")
            self._base = fresh(self._base, self.options)

    def spawn(self, worker: WorkerProcess | None) -> WorkerProcess:
        """The worker itself while it lives, else a new one forked off the base; the base never holds data."""
        for attempt in (1, 2):
            self.start()
            try:
                return fresh(worker, self.options, base=self._base)
            except WorkerDied:
                if attempt == 2:
                    break
        raise Unavailable("the base worker of the sandbox keeps dying", hint="Run `nl2net doctor`.")

    def check(self, program: str, *, library: Library, schema: GraphSchema, facts: Facts) -> CheckReport:
        """Validator and lint, in a sealed child that never held data.

        Raises
        ------
        Unavailable
            There is no sandbox on this machine.
        """
        reply = self._ask_base("check", program, library=library, schema=schema, facts=facts)
        if reply.fields is None or reply.fields["outcome"] != Outcome.OK.value:
            return CheckReport(
                run_report(reply, limits=_CHECK_LIMITS, graph=None, facts=facts).findings or _unreadable()
            )
        return CheckReport(reply.fields["findings"])

    def try_on_twin(
        self, program: str, *, library: Library, schema: GraphSchema, facts: Facts, placeholders: Sequence[str]
    ) -> TwinReport:
        """Run the masked program on a made-up graph of the same schema; its error text may be sent."""
        fields = {"library": library, "schema": schema, "facts": facts, "placeholders": tuple(placeholders)}
        reply = self._ask_base("twin", program, **fields)
        late = late_module(reply)
        if late:
            reply = self._ask_base("twin", program, preload=late, **fields)
        report = run_report(reply, limits=_CHECK_LIMITS, graph=None, facts=facts)
        line = reply.fields["place"][0] if reply.fields and reply.fields["place"] else None
        error = report.error or "; ".join(finding.message for finding in report.findings)
        error += advice(error, schema)
        return TwinReport(report.outcome, error, line, report.result.type.value if report.result else "")

    def layers(self) -> LayerReport:
        """State of the layers, found by trial in a throw-away child."""
        return self._ask_base("places", "").layers

    def open(self, payload: GraphPayload) -> GraphHolder:
        """The holder of a graph; started here, once per fingerprint, and loaded at the first run."""
        key = payload.fingerprint or f"object {id(payload.graph)}"
        with self._lock:
            holder = self._holders.get(key)
            if holder is None:
                holder = self._holders[key] = GraphHolder(self, payload)
        self.start()
        return holder

    def places(self, program: str) -> list[list[int]]:
        """Places of the expressions of a program, found by a process without data."""
        reply = self._ask_base("places", program)
        value = reply.fields["value"] if reply.fields else None
        return [place for place in value or [] if type(place) is list and len(place) == 4]

    def _ask_base(self, kind: str, program: str, **fields: Any) -> Reply:
        request = {"kind": kind, "program": program, "is_change": False, "seed": 1, **fields}
        for attempt in (1, 2):
            self.start()
            base = self._base
            assert base is not None
            try:
                return self.ask(base, request, limits=_CHECK_LIMITS)
            except WorkerDied:
                if attempt == 2:
                    break
        raise Unavailable("the base worker of the sandbox keeps dying", hint="Run `nl2net doctor`.")

    def ask(
        self,
        worker: WorkerProcess,
        request: Mapping[str, Any],
        *,
        limits: Limits,
        cancel: threading.Event | None = None,
    ) -> Reply:
        """One request to a worker, as a checked reply."""
        full = {
            **request,
            "limits": limits,
            "wall_s": limits.wall_s,
            "most_bytes": limits.frame_bytes,
            "accept_unsealed": self.accept_unsealed,
        }
        head, data = worker.ask(full, wall_s=limits.wall_s, cancel=cancel)
        return read_reply(head, data, accept_unsealed=self.accept_unsealed)


def _unreadable() -> tuple[Any, ...]:
    from nl2net.model import Finding, Severity

    hint = "Write a shorter and simpler program."
    return (Finding("size", "the program could not be checked in time", Severity.REFUSE, hint=hint),)


class GraphHolder:
    """One open graph: a worker that holds it, and one sealed fork per run. Close the sandbox to end it, or leave it."""

    def __init__(self, sandbox: Sandbox, payload: GraphPayload) -> None:
        self._sandbox = sandbox
        self._payload = payload
        self._worker: WorkerProcess | None = None
        self._loaded = False
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def number(self) -> int:
        """Process number of the worker, 0 when there is none."""
        worker = self._worker
        return worker.number if worker is not None else 0

    def prepare(self) -> None:
        """Load the graph, in silence: what fails here fails again at the first run, and is said there."""
        with contextlib.suppress(Nl2netError, WorkerDied):
            self.ready()

    def stop(self, *, at_once: bool = False) -> None:
        """End the worker; the next run starts another.

        ``at_once`` does not wait for another thread that loads the graph or runs a program: its worker is killed.
        """
        worker = self._worker
        if at_once and worker is not None and not self._lock.acquire(blocking=False):
            worker.interrupt()
        elif at_once and worker is not None:
            self._lock.release()
        with self._lock:
            worker, self._worker, self._loaded = self._worker, None, False
        if worker is not None:
            worker.close()

    def ready(self) -> None:
        """Wait until the graph is in the worker."""
        with self._lock:
            worker = self._sandbox.spawn(self._worker)
            if worker is not self._worker:
                self._worker, self._loaded = worker, False
            if not self._loaded:
                worker.load(self._payload.graph)
                self._loaded = True

    def run(self, task: Task, *, limits: Limits | None = None, cancel: threading.Event | None = None) -> RunReport:
        """Run one program over the graph.

        Parameters
        ----------
        task : Task
            The masked program and what its placeholders stand for.
        limits : Limits, optional
            Instead of those of the sandbox.
        cancel : Event, optional
            When it is set, the child is killed within 100 ms.

        Returns
        -------
        RunReport
            Failures of the program are outcomes, not exceptions.

        Raises
        ------
        Unavailable
            Less than `Level.SEALED` can be had here, and that was not accepted.
        Cancelled
            ``cancel`` was set.
        """
        limits = limits or self._sandbox.limits
        reply = self._ask(task, limits, cancel)
        late = late_module(reply)
        if late:
            # The library imports a part of itself late, which a sealed child cannot: load it first and run again.
            reply = self._ask(task, limits, cancel, preload=late)
        if reply.head["reason"] == "cancelled":
            raise Cancelled("the run was cancelled")
        report = run_report(reply, limits=limits, graph=self._payload.graph, facts=task.facts)
        if report.outcome in _NEEDS_FEEDBACK:
            report = replace(report, feedback=self._feedback(task, reply, report, limits))
        return report

    def _ask(self, task: Task, limits: Limits, cancel: threading.Event | None, *, preload: str = "") -> Reply:
        request = {
            "preload": preload,
            "kind": "run",
            "program": task.program,
            "library": task.library,
            "bindings": dict(task.bindings),
            "seed": task.seed,
            "is_change": task.facts.is_change,
        }
        with self._lock:
            for attempt in (1, 2):
                try:
                    self.ready()
                    assert self._worker is not None
                    return self._sandbox.ask(self._worker, request, limits=limits, cancel=cancel)
                except WorkerDied:
                    if cancel is not None and cancel.is_set():
                        raise Cancelled("the run was cancelled") from None
                    if attempt == 2:
                        break
        raise Unavailable("the worker that holds the graph keeps dying", hint="There may be too little memory for it.")

    def _feedback(self, task: Task, reply: Reply, report: RunReport, limits: Limits) -> Feedback:
        kind = kind_of_reply(reply, report, limits)
        place = reply.fields["place"] if reply.fields else []
        places = self._sandbox.places(task.program) if place else []
        operands = reply.fields["operands"] if reply.fields else []
        return build_feedback(kind, task.program, place=place, places=places, operands=operands)
