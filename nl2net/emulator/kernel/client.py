"""The parent's side of the kernel backend: one worker per network, a deadline per call."""

from __future__ import annotations

import atexit
import platform
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nl2net import errors
from nl2net.emulator.checks import check_against
from nl2net.emulator.forms import applied_from_json, operation_to_json
from nl2net.emulator.interface import IDLE_S, Connect, Emulator, Pair, all_pairs, all_services
from nl2net.emulator.kernel.channel import read_frame, write_frame
from nl2net.emulator.kubernetes.kubectl import kubectl
from nl2net.emulator.operations import Applied, Operation
from nl2net.emulator.results import CommandResult, Convergence, Matrix, Path, Probe, Reason, Snapshot
from nl2net.emulator.topology import Topology, topology_to_json
from nl2net.errors import Nl2netError, TimeLimit, Unavailable

CALL_LIMIT_S = 120.0
CONVERGENCE_IDLE_S = 0.1
_OK = str(Reason.OK)
_REASONS = {str(reason): reason for reason in Reason}
NOT_MEASURED = ("wide-area timing",)


class KernelEmulator(Emulator):
    """Real packets between real network namespaces, held by a worker process.

    ``build_s`` is what the worker needed for the network itself, without its own start.
    """

    backend = "kernel"

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
            [sys.executable, "-m", "nl2net.emulator.kernel.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt of the terminal is for the parent
        )
        atexit.register(self.close)
        try:
            self.build_s: float = self._exchange({"topology": topology_to_json(topology)}, CALL_LIMIT_S)["wall_s"]
        except BaseException:
            self.close()
            raise

    @property
    def worker_pid(self) -> int:
        """Process id of the worker, 0 after `close`."""
        return 0 if self._process is None else self._process.pid

    def _call(self, name: str, *, limit_s: float = CALL_LIMIT_S, **arguments: Any) -> Any:
        return self._exchange({"call": name, "arguments": arguments}, limit_s)

    def _exchange(self, body: Mapping[str, Any], limit_s: float) -> Any:
        with self._lock:
            process = self._process
            if process is None or process.stdin is None or process.stdout is None:
                raise Unavailable("this network has been closed")
            alarm = threading.Timer(limit_s, process.kill)
            alarm.start()
            started = time.monotonic()
            try:
                write_frame(process.stdin, body)
                answer = read_frame(process.stdout)
            except (EOFError, BrokenPipeError):
                self._abandon()
                if time.monotonic() - started >= limit_s:
                    raise TimeLimit(f"the emulator's worker did not answer within {limit_s:.0f} s") from None
                raise Unavailable("the emulator's worker process died; the network is gone") from None
            except BaseException:
                # An interrupted call leaves an answer in the pipe that would be taken for the next one.
                process.kill()
                self._abandon()
                raise
            finally:
                alarm.cancel()
        if "error" in answer:
            raise _error(answer)
        return answer["result"]

    def _abandon(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close_quietly(stream)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def apply(self, operation: Operation) -> Applied:
        """Have the worker carry out one operation."""
        check_against(self.topology, operation)
        answer = self._call("apply", operation=operation_to_json(operation))
        return applied_from_json(answer)

    def exec(self, node: str, line: str, *, timeout_s: float = 10.0, output_bytes: int = 65536) -> CommandResult:
        """Run a command line inside the node's namespace, apart from this machine."""
        name = self.topology.find(node)
        words = line.split(maxsplit=1)
        if words and words[0] == "kubectl" and self.topology.cluster is not None:
            return self._kubectl(line)
        arguments = {"node": name, "line": line, "timeout_s": timeout_s, "output_bytes": output_bytes}
        return CommandResult(**self._call("exec", limit_s=timeout_s + 30, **arguments))

    def _kubectl(self, line: str) -> CommandResult:
        # A pod cannot reach an API server of this machine, so the emulated one is asked directly.
        started = time.monotonic()
        try:
            status, output = kubectl(self, shlex.split(line)[1:])
        except ValueError as error:
            status, output = 2, f"syntax error: {error}\n"
        return CommandResult(status, output, wall_s=time.monotonic() - started)

    def ping_matrix(self, pairs: Sequence[Pair] | None = None, *, idle_s: float = IDLE_S) -> Matrix:
        """Ping all pairs at once over raw sockets."""
        chosen = all_pairs(self.topology) if pairs is None else pairs
        found = [(self.topology.find(source), target) for source, target in chosen]
        started = time.perf_counter()
        answers = self._call("ping", pairs=found, idle_s=idle_s)
        probes = tuple(
            Probe(source, target, reason == _OK, _REASONS[reason], place, rtt_ms)
            for (source, target), (reason, place, rtt_ms) in zip(found, answers, strict=True)
        )
        return self._matrix(probes, started)

    def tcp_matrix(
        self, pairs: Sequence[Connect] | None = None, *, idle_s: float = IDLE_S, resolve: bool = True
    ) -> Matrix:
        """Look up, connect and read the banner of all pairs at once."""
        chosen = all_services(self.topology) if pairs is None else pairs
        found = [(self.topology.find(source), target, port) for source, target, port in chosen]
        started = time.perf_counter()
        answers = self._call("tcp", pairs=found, idle_s=idle_s, resolve=resolve)
        probes = tuple(
            Probe(source, target, reason == _OK, _REASONS[reason], "", rtt_ms, port, stage)
            for (source, target, port), (reason, stage, rtt_ms) in zip(found, answers, strict=True)
        )
        return self._matrix(probes, started)

    def _matrix(self, probes: tuple[Probe, ...], started: float) -> Matrix:
        return Matrix(probes, self.backend, platform.release(), NOT_MEASURED, time.perf_counter() - started)

    def path(self, source: str, target: str) -> Path:
        """A sweep of TTLs."""
        return Path.from_json(self._call("path", source=self.topology.find(source), target=target, idle_s=IDLE_S))

    def state(self) -> Mapping[str, Any]:
        """Canonical state, read from the kernel."""
        state: Mapping[str, Any] = self._call("state")
        return state

    def restore(self, snapshot: Snapshot) -> None:
        """Lead the network back to a snapshot; rules that command lines made go first."""
        self._call("drop_foreign")
        super().restore(snapshot)

    def start_routing(self, protocol: str = "ospf", *, limit_s: float = 60.0) -> Convergence:
        """Replace the routers' static routes by daemons and wait until all pairs reach."""
        started = time.perf_counter()
        daemons = self._call("start_routing", protocol=protocol)
        return replace(self.wait_until_whole(limit_s=limit_s, started=started), protocol=protocol, daemons=daemons)

    def stop_routing(self) -> int:
        """End the daemons; their routes go with them."""
        return int(self._call("stop_routing"))

    def wait_until_whole(
        self, pairs: Sequence[Pair] | None = None, *, limit_s: float = 60.0, started: float | None = None
    ) -> Convergence:
        """Probe until every pair answers, or the limit passes; never a fixed sleep."""
        started = time.perf_counter() if started is None else started
        while True:
            matrix = self.ping_matrix(pairs, idle_s=CONVERGENCE_IDLE_S)
            taken = time.perf_counter() - started
            if not matrix.failed or taken > limit_s:
                return Convergence(taken, matrix.loss)
            time.sleep(CONVERGENCE_IDLE_S / 2)

    def close(self) -> None:
        """End the worker; the kernel takes the network down with it."""
        atexit.unregister(self.close)
        with self._lock:
            self._abandon()


def _close_quietly(stream: Any) -> None:
    try:
        stream.close()
    except OSError:
        return


def _error(answer: Mapping[str, str]) -> Exception:
    kind = getattr(errors, answer["error"], None)
    if isinstance(kind, type) and issubclass(kind, Nl2netError) and kind is not errors.RefusedCode:
        return kind(answer["message"], hint=answer["hint"])
    return Unavailable(f"the emulator's worker failed: {answer['message']}")
