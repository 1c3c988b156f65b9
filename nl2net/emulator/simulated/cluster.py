"""Services and policies at the cluster's node: what nft does there in the kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nl2net.emulator.expand import GATEWAY
from nl2net.emulator.kubernetes.evaluate import Party, decide, party
from nl2net.emulator.kubernetes.objects import Cluster
from nl2net.emulator.kubernetes.policy import NetworkPolicy
from nl2net.emulator.simulated.forwarding import Packet
from nl2net.emulator.simulated.lookup import number, text


class ClusterModel:
    """Service translation and policy verdicts of one cluster; without a cluster it lets everything pass."""

    def __init__(self, cluster: Cluster | None, node: str) -> None:
        self._cluster = cluster or Cluster()
        self._node = node
        self._policies = {policy.key: policy for policy in self._cluster.policies}
        self._manifests: dict[str, tuple[NetworkPolicy, dict[str, Any]]] = {}
        self._parties: dict[int, Party] = {}
        self._services: dict[tuple[int, str, int], tuple[int, int]] = {}
        self._verdicts: dict[tuple[int, int, str, int], bool] = {}
        for service in self._cluster.services:
            for port in service.ports:
                for pod, target in self._cluster.endpoints(service, port)[:1]:
                    key = (number(service.address), port.protocol.lower(), port.port)
                    self._services[key] = (number(pod.address), target)

    @property
    def policies(self) -> dict[str, NetworkPolicy]:
        """Policies in force by ``namespace/name``."""
        return self._policies

    def manifests(self) -> dict[str, dict[str, Any]]:
        """Manifests by ``namespace/name``, sorted; the same object as long as a policy stays."""
        for key, policy in self._policies.items():
            if key not in self._manifests or self._manifests[key][0] is not policy:
                self._manifests[key] = (policy, dict(policy.manifest))
        return {key: self._manifests[key][1] for key in sorted(self._policies)}

    def _party(self, address: int) -> Party:
        # Pods and their addresses never change while the network is up.
        if address not in self._parties:
            self._parties[address] = party(self._cluster, text(address))
        return self._parties[address]

    def change(self, policies: dict[str, NetworkPolicy]) -> None:
        """Replace the policies in force."""
        self._policies = policies
        self._verdicts.clear()
        self._cluster = replace(self._cluster, policies=tuple(policies[key] for key in sorted(policies)))

    def translate(self, node: str, packet: Packet) -> Packet:
        """Destination translation of a first packet that enters the node."""
        if node != self._node or packet.reply:
            return packet
        found = self._services.get((packet.target, packet.protocol, packet.port))
        return packet if found is None else packet.sent_to(*found)

    def gate(self, node: str, packet: Packet, _inward: str, _outward: str) -> Packet | None:
        """The packet when policies admit it, else ``None``."""
        if node != self._node or packet.reply or not self._policies:
            return packet if packet.reply else self._hairpin(packet)
        key = (packet.source, packet.target, packet.protocol, packet.port)
        if key not in self._verdicts:
            sides = self._party(packet.source), self._party(packet.target)
            self._verdicts[key] = decide(self._cluster, *sides, packet.protocol.upper(), packet.port).allowed
        return self._hairpin(packet) if self._verdicts[key] else None

    @staticmethod
    def _hairpin(packet: Packet) -> Packet:
        # A pod that reaches itself through its service would drop its own address as source.
        return packet.sent_from(number(GATEWAY)) if packet.source == packet.target else packet
