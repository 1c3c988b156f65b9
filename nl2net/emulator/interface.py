"""The one interface of all backends."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from nl2net.emulator.expand import expand
from nl2net.emulator.operations import Applied, Operation
from nl2net.emulator.results import CommandResult, Convergence, Matrix, Path, Snapshot
from nl2net.emulator.topology import Topology, check_topology
from nl2net.emulator.transition import plan_state
from nl2net.errors import Unavailable, UserError

IDLE_S = 0.3
BACKENDS = ("auto", "kernel", "simulated", "mininet", "cluster")
_INSTEAD = {
    "cluster": "Policies of a real cluster: nl2net.emulator.kubernetes.cluster.PolicyClient with its kubeconfig.",
    "mininet": "The kernel backend measures the same and needs no root.",
}
Pair = tuple[str, str]
Connect = tuple[str, str, int]


class Emulator(ABC):
    """A network that can be built, broken, repaired and measured. Use it as a context manager.

    Attributes
    ----------
    topology : Topology
        What was built, with a cluster expanded into its nodes.
    backend : str
        ``kernel``, ``simulated`` or ``cluster``.
    note : str
        Why another backend than the wished one runs; empty otherwise.
    """

    backend: str = ""
    note: str = ""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology

    @abstractmethod
    def apply(self, operation: Operation) -> Applied:
        """Carry out one operation; a refusal is a value, not an exception."""

    @abstractmethod
    def exec(self, node: str, line: str, *, timeout_s: float = 10.0, output_bytes: int = 65536) -> CommandResult:
        """Run a command line that a model wrote inside a node, isolated."""

    @abstractmethod
    def ping_matrix(self, pairs: Sequence[Pair] | None = None, *, idle_s: float = IDLE_S) -> Matrix:
        """Ping all pairs at once; by default all ordered pairs of hosts and routers.

        Parameters
        ----------
        pairs : sequence of (source node, target node or address), optional
        idle_s : float
            Stop when nothing has arrived for this long; a dead pair costs it once per matrix.
        """

    @abstractmethod
    def tcp_matrix(
        self, pairs: Sequence[Connect] | None = None, *, idle_s: float = IDLE_S, resolve: bool = True
    ) -> Matrix:
        """Connect and read the banner; by default every pod to every service port.

        Parameters
        ----------
        pairs : sequence of (source node, target node, service or address, port), optional
        resolve : bool
            Look service names up through the emulated name server, so that a cut to it shows.
        """

    @abstractmethod
    def path(self, source: str, target: str) -> Path:
        """Nodes on the way from source to target, found by growing TTL."""

    @abstractmethod
    def state(self) -> Mapping[str, Any]:
        """Canonical state: ``nodes`` by name and ``policies`` by ``namespace/name``."""

    @abstractmethod
    def close(self) -> None:
        """Take the network down; may be called again."""

    def start_routing(self, protocol: str = "ospf", *, limit_s: float = 60.0) -> Convergence:
        """Run a routing protocol on the routers in place of their static routes, and wait until all pairs reach.

        Parameters
        ----------
        protocol : str
            ``ospf`` or ``bgp``.
        limit_s : float
            When to stop waiting.

        Raises
        ------
        Unavailable
            This backend has no routing daemons, or the program is not installed.
        """
        raise Unavailable(
            f"the {self.backend} backend runs no routing protocol such as {protocol} to wait {limit_s:.0f} s for",
            hint="Use the kernel backend with BIRD (Debian: apt-get install bird2).",
        )

    def stop_routing(self) -> int:
        """End the routing daemons; how many there were."""
        return 0

    def apply_all(self, operations: Sequence[Operation]) -> tuple[Applied, ...]:
        """Carry out operations in order, all of them, whatever each answers."""
        return tuple(self.apply(operation) for operation in operations)

    def snapshot(self) -> Snapshot:
        """The canonical state with a digest."""
        return Snapshot(self.state())

    def restore(self, snapshot: Snapshot) -> None:
        """Lead the network back to a snapshot of itself.

        Raises
        ------
        UserError
            The snapshot is of another network, or the state could not be reached.
        """
        if set(snapshot.state["nodes"]) != set(self.topology.by_name):
            raise UserError("the snapshot is of another network")
        # A second round repairs what a neighbouring change of the first one took away.
        for _ in range(3):
            operations = plan_state(self.state(), snapshot.state)
            if not operations:
                return
            self.apply_all(operations)
        if self.snapshot().digest != snapshot.digest:
            raise UserError("the state of the snapshot could not be reached")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def all_pairs(topology: Topology) -> tuple[Pair, ...]:
    """All ordered pairs of nodes with an address."""
    names = topology.probed()
    return tuple((a, b) for a in names for b in names if a != b)


def all_services(topology: Topology) -> tuple[Connect, ...]:
    """Every pod to every service port over TCP, or every host to every listening host without a cluster."""
    names = topology.probed()
    if topology.cluster is None:
        listening = [(n.name, p.number) for n in topology.nodes for p in n.listens]
        return tuple((a, b, port) for a in names for b, port in listening if a != b)
    found: list[Connect] = []
    for service in topology.cluster.services:
        if service.namespace == "kube-system":
            continue
        for port in service.ports:
            if port.protocol == "TCP":
                target = f"{service.name}.{service.namespace}"
                found += [(name, target, port.port) for name in names if topology.by_name[name].kind == "pod"]
    return tuple(found)


def build(topology: Topology, *, backend: str = "auto") -> Emulator:
    """Build a network: all of it, or an error.

    Parameters
    ----------
    topology : Topology
        Nodes and links, or a cluster.
    backend : str
        ``auto`` takes the kernel where a trial succeeds and else the simulator, and says so in ``note`` and on stderr.

    Raises
    ------
    DataError
        The topology cannot be built; names the fault.
    Unavailable
        The backend that was asked for by name cannot be had here; says why and what to do.

    Examples
    --------
    >>> from nl2net.emulator import build, star
    >>> with build(star(subnets=2, hosts=1), backend="simulated") as network:
    ...     network.ping_matrix().loss
    0.0
    """
    if backend not in BACKENDS:
        raise UserError(f"unknown backend {backend!r}", hint=f"One of: {', '.join(BACKENDS)}")
    full = check_topology(expand(topology))
    if backend in {"cluster", "mininet"}:
        raise Unavailable(f"the {backend} backend is not part of this version", hint=_INSTEAD[backend])
    from nl2net.emulator.simulated.emulator import SimulatedEmulator

    if backend == "simulated":
        return SimulatedEmulator(full)
    from nl2net.emulator.capability import kernel_refusal

    refusal = kernel_refusal()
    if refusal is None:
        from nl2net.emulator.kernel.client import KernelEmulator

        return KernelEmulator(full)
    if backend == "kernel":
        message = f"the kernel backend cannot be had here: {refusal.name}: {refusal.reason}"
        raise Unavailable(message, hint=refusal.advice)
    network = SimulatedEmulator(full)
    network.note = f"simulated backend, for the kernel refused {refusal.name}: {refusal.reason}"
    sys.stderr.write(f"nl2net: {network.note}; {refusal.advice}\n")
    return network
