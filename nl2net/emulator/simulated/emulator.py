"""The simulated backend: the interface over node models, fabric and forwarder."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nl2net.emulator.checks import check_against, service_address, target_address
from nl2net.emulator.expand import CLUSTER_NODE, DNS_SERVICE
from nl2net.emulator.interface import IDLE_S, Connect, Emulator, Pair, all_pairs, all_services
from nl2net.emulator.kubernetes.policy import read_policy
from nl2net.emulator.operations import (
    AddAddress,
    AddFilter,
    AddRoute,
    AddRule,
    Applied,
    DeletePolicy,
    FlushAddresses,
    Operation,
    PutPolicy,
    RemoveAddress,
    RemoveFilter,
    RemoveRoute,
    RemoveRule,
    SetChainPolicy,
    SetForwarding,
    SetImpairment,
    SetLink,
    SetMtu,
    filter_item,
)
from nl2net.emulator.results import CommandResult, Hop, Matrix, Path, Probe, Reason
from nl2net.emulator.simulated.cluster import ClusterModel
from nl2net.emulator.simulated.fabric import Fabric
from nl2net.emulator.simulated.forwarding import Fate, Forwarder, Packet
from nl2net.emulator.simulated.lookup import Route, number, text
from nl2net.emulator.simulated.node import Interface, NodeModel, Refusal
from nl2net.emulator.topology import NodeKind, Topology
from nl2net.emulator.transition import plan_node, plan_policies
from nl2net.errors import DataError, UserError

NOT_MEASURED = ("round-trip time", "TCP state", "delay, rate and partial loss")
EPHEMERAL = 40000
MAX_TTL = 32


class _Ended(NamedTuple):
    """Node and port at which a first packet ended."""

    name: str
    port: int


class SimulatedEmulator(Emulator):
    """Reachability, reasons, paths and policy verdicts in pure Python."""

    backend = "simulated"

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology)
        self._nodes = {
            node.name: NodeModel(node.name, forwarding=node.forwards, switch=node.kind is NodeKind.SWITCH)
            for node in topology.nodes
        }
        self._cluster = ClusterModel(topology.cluster, CLUSTER_NODE)
        self._fabric = Fabric(self._nodes)
        self._forwarder = Forwarder(self._nodes, self._fabric, self._cluster.translate, self._cluster.gate)
        self._states: dict[str, dict[str, Any]] = {}
        self._listens = {(node.name, port.number) for node in topology.nodes for port in node.listens}
        self._build()

    def _build(self) -> None:
        for link in self.topology.links:
            for end, far in ((link.a, link.b), (link.b, link.a)):
                interface = Interface(end.interface, mtu=link.mtu, peer=(far.node, far.interface))
                self._nodes[end.node].interfaces[end.interface] = interface
        for node in self.topology.nodes:
            for address in node.loopback:
                self._set_up(node.name, AddAddress(node.name, "lo", address))
        for (node_name, name), end in self.topology.interfaces.items():
            for address in end.addresses:
                self._set_up(node_name, AddAddress(node_name, name, address))
        for route in self.topology.routes:
            operation = AddRoute(route.node, route.prefix, route.via, route.dev, route.metric, route.type)
            self._set_up(route.node, operation)

    def _set_up(self, node: str, operation: AddAddress | AddRoute) -> None:
        try:
            self._change(self._nodes[node], operation)
        except Refusal as refusal:
            raise DataError(f"topology {self.topology.name!r}: {operation} is refused: {refusal}") from None

    def apply(self, operation: Operation) -> Applied:
        """Carry out one operation on the models."""
        check_against(self.topology, operation)
        if isinstance(operation, PutPolicy | DeletePolicy):
            return self._apply_policy(operation)
        node = self._nodes[operation.node]
        before = self._state_of(node)
        try:
            self._change(node, operation)
        except Refusal as refusal:
            return Applied(False, str(refusal))
        finally:  # a refusal may come after a part of the change
            self._states.pop(node.name, None)
            node.forget()
            self._fabric.forget()
        return Applied(True, inverse=plan_node(node.name, self._state_of(node), before))

    def _state_of(self, node: NodeModel) -> dict[str, Any]:
        """State of a node, kept until an operation changes it: the same object as long as nothing has happened."""
        if node.name not in self._states:
            self._states[node.name] = node.state()
        return self._states[node.name]

    def _apply_policy(self, operation: PutPolicy | DeletePolicy) -> Applied:
        policies = dict(self._cluster.policies)
        before = self._cluster.manifests()
        if isinstance(operation, PutPolicy):
            try:
                policy = read_policy(operation.manifest)
            except DataError as error:
                return Applied(False, "invalid", detail=str(error))
            policies[policy.key] = policy
        elif policies.pop(f"{operation.namespace}/{operation.name}", None) is None:
            return Applied(False, "not-found")
        self._cluster.change(policies)
        return Applied(True, inverse=plan_policies(self._cluster.manifests(), before))

    def _change(self, node: NodeModel, operation: Operation) -> None:
        match operation:
            case SetForwarding():
                node.forwarding = operation.enabled
            case SetLink():
                node.set_link(operation.interface, operation.up)
            case SetMtu():
                node.set_mtu(operation.interface, operation.mtu)
            case AddAddress():
                node.add_address(operation.interface, operation.address)
            case RemoveAddress():
                node.remove_address(operation.interface, operation.address)
            case FlushAddresses():
                node.flush(operation.interface)
            case AddRoute():
                node.add_route(_route(operation))
            case RemoveRoute():
                node.remove_route(_route(operation))
            case AddRule():
                node.add_rule(operation.preference, operation.action)
            case RemoveRule():
                node.remove_rule(operation.preference, operation.action)
            case SetImpairment():
                fields = ("loss", "delay_ms", "jitter_ms", "rate_kbit", "packets_s")
                values = {name: getattr(operation, name) for name in fields}
                node.interfaces[operation.interface].impairment = {} if operation.clear else values
            case SetChainPolicy() | AddFilter() | RemoveFilter():
                _change_filters(node, operation)
            case _:
                raise UserError(f"operation {operation.op} is not one of a node")

    def ping_matrix(self, pairs: Sequence[Pair] | None = None, *, idle_s: float = IDLE_S) -> Matrix:
        """Follow one echo request and its answer per pair; ``idle_s`` has no meaning here."""
        started = time.perf_counter()
        chosen = all_pairs(self.topology) if pairs is None else pairs
        probes = tuple(self._ping(self.topology.find(source), target) for source, target in chosen)
        return self._matrix(probes, started)

    def _matrix(self, probes: tuple[Probe, ...], started: float) -> Matrix:
        return Matrix(probes, self.backend, "", NOT_MEASURED, time.perf_counter() - started)

    def _ping(self, source: str, target: str) -> Probe:
        address = target_address(self.topology, target)
        if not address:
            raise DataError(f"{target!r} is neither a node nor an address")
        reason, place, _ = self._echo(source, number(address), 64)
        return Probe(source, target, reason is Reason.OK, reason, self._place(place))

    def _place(self, place: str) -> str:
        return self.topology.owners.get(place, place)

    def _echo(self, source: str, target: int, ttl: int) -> tuple[Reason, str, str]:
        """Reason, place (node or address) and, for an answer, the address that answered."""
        fate = self._forwarder.send(source, Packet(0, target, ttl=ttl))
        if fate.reason is not Reason.OK:
            return self._failure(source, fate)
        back = Packet(target, fate.packet.source, fragment=True, reply=True)
        answer = self._forwarder.send(fate.node, back, socket=False)
        if answer.reason is Reason.OK and answer.node == source:
            return Reason.OK, "", text(target)
        return Reason.TIMEOUT, "", ""

    def _failure(self, source: str, fate: Fate) -> tuple[Reason, str, str]:
        if fate.at_once:
            return fate.reason, source, ""
        reported = self._forwarder.report(fate)
        if reported is None:
            return Reason.TIMEOUT, "", ""
        error, address = reported
        if error.reason is Reason.OK and error.node == source:
            return fate.reason, text(address), text(address)
        return Reason.TIMEOUT, "", ""

    def path(self, source: str, target: str) -> Path:
        """Echo requests with growing TTL."""
        name = self.topology.find(source)
        address = target_address(self.topology, target)
        if not address:
            raise DataError(f"{target!r} is neither a node nor an address")
        hops = [Hop(name, self.topology.address(name))]
        for ttl in range(1, MAX_TTL + 1):
            reason, place, answered = self._echo(name, number(address), ttl)
            if reason is Reason.OK:
                hops.append(Hop(self._place(answered), answered))
                return Path(tuple(hops), reason)
            if reason is not Reason.TTL_EXCEEDED:
                return Path(tuple(hops), reason, self._place(place))
            hops.append(Hop(self._place(answered), answered))
        return Path(tuple(hops), Reason.TTL_EXCEEDED, hops[-1].node)

    def tcp_matrix(
        self, pairs: Sequence[Connect] | None = None, *, idle_s: float = IDLE_S, resolve: bool = True
    ) -> Matrix:
        """Follow name lookup, connection request and answer per pair."""
        started = time.perf_counter()
        chosen = all_services(self.topology) if pairs is None else pairs
        lookups: dict[str, Reason] | None = {} if resolve else None
        probes = tuple(self._connect(self.topology.find(s), target, port, lookups) for s, target, port in chosen)
        return self._matrix(probes, started)

    def _connect(self, source: str, target: str, port: int, lookups: dict[str, Reason] | None) -> Probe:
        """One connection; ``lookups`` remembers within a matrix whether a source reaches the name server."""
        service = service_address(self.topology, target, source)
        stage = ""
        if service and lookups is not None:
            if source not in lookups:
                lookups[source], _ = self._exchange(source, DNS_SERVICE.address, "udp", 53)
            if lookups[source] is not Reason.OK:  # a resolver sees no ICMP error, only silence
                return Probe(source, target, False, Reason.TIMEOUT, port=port)
            stage = "dns"
        address = service or target_address(self.topology, target)
        if not address:
            return Probe(source, target, False, Reason.NAME, port=port)
        reason, node = self._exchange(source, address, "tcp", port)
        if reason is Reason.OK and (node.name, node.port) not in self._listens:
            reason = Reason.REFUSED
        ok = reason is Reason.OK
        return Probe(source, target, ok, reason, port=port, stage="banner" if ok else stage)

    def _exchange(self, source: str, address: str, protocol: str, port: int) -> tuple[Reason, _Ended]:
        fate = self._forwarder.send(source, Packet(0, number(address), protocol, port, size=60))
        ended = _Ended(fate.node, fate.packet.port)
        if fate.reason is not Reason.OK:
            if fate.reason is Reason.FILTERED:  # TCP does not see its own output filter, it tries again
                return Reason.TIMEOUT, ended
            reason, _, _ = self._failure(source, fate)
            return (Reason.HOST_UNREACHABLE if reason is Reason.ADMIN_PROHIBITED else reason), ended
        back = Packet(fate.packet.target, fate.packet.source, protocol, EPHEMERAL, size=60, reply=True)
        answer = self._forwarder.send(fate.node, back, socket=False)
        hairpin = fate.node == source and answer.node == CLUSTER_NODE
        ok = answer.reason is Reason.OK and (answer.node == source or hairpin)
        return (Reason.OK if ok else Reason.TIMEOUT), ended

    def exec(self, node: str, line: str, *, timeout_s: float = 10.0, output_bytes: int = 65536) -> CommandResult:
        """Read a command line and carry it out on the models; what the simulator cannot do it says."""
        from nl2net.emulator.simulated.commands import run_line

        started = time.perf_counter()
        status, output = run_line(self, self.topology.find(node), line)
        cut = output[:output_bytes]
        return CommandResult(status, cut, len(cut) < len(output), False, time.perf_counter() - started)

    def state(self) -> Mapping[str, Any]:
        """Canonical state of all nodes and policies."""
        return {
            "nodes": {name: self._state_of(node) for name, node in sorted(self._nodes.items())},
            "policies": self._cluster.manifests(),
        }

    def close(self) -> None:
        """Nothing is held."""


def _route(operation: AddRoute | RemoveRoute) -> Route:
    network = ipaddress.IPv4Network(operation.prefix)
    return Route(
        int(network.network_address),
        network.prefixlen,
        number(operation.via) if operation.via else None,
        operation.dev,
        operation.metric,
        operation.type,
        connected=isinstance(operation, AddRoute) and operation.connected,
    )


def _change_filters(node: NodeModel, operation: SetChainPolicy | AddFilter | RemoveFilter) -> None:
    chain = node.chains[operation.chain]
    if isinstance(operation, SetChainPolicy):
        chain.policy = operation.policy
        return
    item = filter_item(operation)
    if isinstance(operation, AddFilter):
        place = len(chain.filters) if operation.position is None else operation.position
        chain.filters.insert(place, item)
    elif item in chain.filters:
        chain.filters.remove(item)
    else:
        raise Refusal("not-found")
