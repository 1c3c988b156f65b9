"""The network inside the worker: built once, changed by operations, measured on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nl2net.emulator.checks import namespace_of, service_address, target_address
from nl2net.emulator.expand import DNS_POD, DNS_SERVICE, resolve_name
from nl2net.emulator.kernel import changes, filters, netlink
from nl2net.emulator.kernel.connect import Attempt, Servers, connect
from nl2net.emulator.kernel.icmp import Answer, Echo, ping
from nl2net.emulator.kernel.impairment import Impairments
from nl2net.emulator.kernel.policies import ClusterRules
from nl2net.emulator.kernel.routing import Daemons
from nl2net.emulator.kernel.shell import run_line
from nl2net.emulator.kernel.spaces import build_spaces, wait_for_links
from nl2net.emulator.kernel.state import read_state
from nl2net.emulator.kernel.system import write_sysctl
from nl2net.emulator.operations import (
    Applied,
    DeletePolicy,
    Operation,
    PutPolicy,
    SetImpairment,
)
from nl2net.emulator.results import CommandResult, Hop, Path, Reason
from nl2net.emulator.topology import NodeKind, Topology
from nl2net.emulator.transition import plan_node, plan_policies
from nl2net.errors import DataError

MAX_TTL = 32
Outcome = tuple[str, str, float | None]


class Network:
    """Everything that runs in the worker."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.spaces = build_spaces(topology)
        self._servers = Servers(self.spaces, self._resolve)
        self._impairments = Impairments(self.spaces, topology)
        self._daemons = Daemons(self.spaces, topology)
        self._rules: ClusterRules | None = None
        self._changed = False
        if topology.cluster is not None:
            self._servers.add_resolver(self.spaces, DNS_POD.key)
            self._rules = ClusterRules(self.spaces, topology)

    def _resolve(self, name: str) -> str:
        return "" if self.topology.cluster is None else resolve_name(self.topology.cluster, name, "default")

    def apply(self, operation: Operation) -> Applied:
        """Carry out one operation."""
        if isinstance(operation, PutPolicy | DeletePolicy):
            return self._apply_policy(operation)
        self._changed = True
        before = self._state_of(operation.node)
        if isinstance(operation, SetImpairment):
            refusal, detail = self._impairments.apply(operation)
        else:
            refusal, detail = changes.change(self.spaces, operation, before), ""
        after = self._state_of(operation.node)
        inverse = plan_node(operation.node, after, before)
        return Applied(not refusal, refusal, () if refusal else inverse, detail)

    def _apply_policy(self, operation: PutPolicy | DeletePolicy) -> Applied:
        assert self._rules is not None
        before = self._rules.manifests()
        refusal, detail = self._rules.apply(operation)
        inverse = () if refusal else plan_policies(self._rules.manifests(), before)
        return Applied(not refusal, refusal, inverse, detail)

    def _state_of(self, name: str) -> dict[str, Any]:
        return read_state(self.spaces, name, self._impairments.of(name))

    def state(self) -> dict[str, Any]:
        """Canonical state of all nodes and policies."""
        return {
            "nodes": {name: self._state_of(name) for name in sorted(self.spaces.by_name)},
            "policies": {} if self._rules is None else self._rules.manifests(),
        }

    def drop_foreign(self) -> None:
        """Remove filters that command lines made outside the operations."""
        for space in self.spaces:
            if space.programs_ran:
                filters.drop_foreign(self.spaces, space.name)

    def _settle(self) -> None:
        """Forget neighbours, cached paths and tracked connections after a change, so that the next probe is honest."""
        if self._rules is not None:
            self._rules.forget_connections()
        if not self._changed:
            return
        self._changed = False
        wait_for_links(self.topology, self.spaces)
        for space in self.spaces:
            if space.node.kind is NodeKind.SWITCH:
                continue
            with self.spaces.link(space.name) as link:
                netlink.forget_neighbours(link)
            with self.spaces.inside(space.name):
                write_sysctl("net.ipv4.route.flush", 1)

    def ping(self, pairs: Sequence[Sequence[str]], idle_s: float) -> list[Outcome]:
        """Reason, place and time per pair."""
        echoes = [Echo(source, self._address(target)) for source, target in pairs]
        self._settle()
        patience = idle_s + self._impairments.round_trip_s
        answers = ping(self.spaces, echoes, patience, again=not self._impairments.lossy)
        return [(str(answer.reason), self._place_of(answer), answer.rtt_ms) for answer in answers]

    def _address(self, target: str) -> str:
        address = target_address(self.topology, target)
        if not address:
            raise DataError(f"{target!r} is neither a node nor an address")
        return address

    def _place_of(self, answer: Answer) -> str:
        return "" if answer.reason is Reason.OK else self._place(answer.place)

    def _place(self, place: str) -> str:
        return self.topology.owners.get(place, place)

    def path(self, source: str, target: str, idle_s: float) -> Path:
        """One TTL after the other up to the first answer that is not about its end.

        All at once would use up what Linux allows a source in errors about one missing route.
        """
        address = self._address(target)
        self._settle()
        patience = idle_s + self._impairments.round_trip_s
        again = not self._impairments.lossy
        hops = [Hop(source, self.topology.address(source))]
        for ttl in range(1, MAX_TTL + 1):
            answer = ping(self.spaces, [Echo(source, address, ttl)], patience, again=again)[0]
            place = self._place(answer.place)
            if answer.reason in {Reason.TTL_EXCEEDED, Reason.OK}:
                hops.append(Hop(place, answer.place))
            if answer.reason is not Reason.TTL_EXCEEDED:
                return Path(tuple(hops), answer.reason, "" if answer.reason is Reason.OK else place)
        return Path(tuple(hops), Reason.TTL_EXCEEDED, hops[-1].node)

    def tcp(self, pairs: Sequence[tuple[str, str, int]], idle_s: float, resolve: bool) -> list[Outcome]:
        """Reason, stage and time per connection."""
        self._settle()
        attempts = [self._attempt(source, target, port, resolve) for source, target, port in pairs]
        open_ones = [attempt for attempt in attempts if attempt.reason is not Reason.NAME]
        patience = idle_s + self._impairments.round_trip_s
        again = not self._impairments.lossy
        connect(self.spaces, self._servers, open_ones, resolver=DNS_SERVICE.address, idle_s=patience, again=again)
        return [(str(attempt.reason), attempt.stage, attempt.rtt_ms) for attempt in attempts]

    def _attempt(self, source: str, target: str, port: int, resolve: bool) -> Attempt:
        service = service_address(self.topology, target, source)
        if not service:
            address = target_address(self.topology, target)
            owner = self.topology.owners.get(address, "")
            reason = Reason.TIMEOUT if address else Reason.NAME
            return Attempt(source, address, port, frozenset({owner}), reason=reason)
        name = ""
        if resolve:
            parts = target.split(".")
            name = f"{parts[0]}.{parts[1] if len(parts) > 1 else namespace_of(source)}.svc.cluster.local"
        return Attempt(source, service, port, self._banners(service, port), name)

    def _banners(self, address: str, port: int) -> frozenset[str]:
        cluster = self.topology.cluster
        assert cluster is not None
        return frozenset(
            pod.key
            for service in cluster.services
            if service.address == address
            for item in service.ports
            if item.port == port
            for pod, _ in cluster.endpoints(service, item)
        )

    def exec(self, node: str, line: str, timeout_s: float, output_bytes: int) -> CommandResult:
        """Run a command line inside a node."""
        self._changed = True
        self.spaces[node].programs_ran = True
        return run_line(self.spaces, self._servers, (node, line), timeout_s=timeout_s, limit=output_bytes)

    def start_routing(self, protocol: str) -> int:
        """Start a routing daemon on every router."""
        return self._daemons.start(protocol)

    def stop_routing(self) -> int:
        """End the routing daemons."""
        return self._daemons.stop()

    def close(self) -> None:
        """End helper processes and drop the namespaces."""
        self._daemons.stop()
        self._impairments.close()
        self._servers.close()
        self.spaces.close()
