"""Services and NetworkPolicies of a cluster in the node's nft tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nl2net.emulator.expand import CLUSTER_NODE
from nl2net.emulator.kernel import netlink
from nl2net.emulator.kernel.spaces import Spaces
from nl2net.emulator.kubernetes.compile import compile_policies, compile_services, policy_change, policy_table
from nl2net.emulator.kubernetes.policy import NetworkPolicy, read_policy
from nl2net.emulator.operations import DeletePolicy, PutPolicy
from nl2net.emulator.topology import Topology
from nl2net.errors import DataError


class ClusterRules:
    """What the node enforces; every change is in force before `apply` returns."""

    def __init__(self, spaces: Spaces, topology: Topology) -> None:
        assert topology.cluster is not None
        self._spaces = spaces
        self._cluster = topology.cluster
        self._interfaces = {link.b.node: link.a.interface for link in topology.links if link.a.node == CLUSTER_NODE}
        self._policies = {policy.key: policy for policy in topology.cluster.policies}
        self._compiled = compile_policies(self._cluster, self._interfaces)
        self._load(compile_services(self._cluster) + policy_table(self._compiled))

    def _load(self, text: str) -> None:
        ran = self._spaces[CLUSTER_NODE].programs_ran
        self._spaces.run(CLUSTER_NODE, ["nft", "-f", "-"], feed=text)
        # Our own tables say nothing about the node's filters.
        self._spaces[CLUSTER_NODE].programs_ran = ran

    def manifests(self) -> dict[str, Any]:
        """Manifests in force by ``namespace/name``."""
        return {key: dict(policy.manifest) for key, policy in sorted(self._policies.items())}

    def apply(self, operation: PutPolicy | DeletePolicy) -> tuple[str, str]:
        """Create, replace or delete one policy: the class of the refusal or empty, and details."""
        policies = dict(self._policies)
        if isinstance(operation, PutPolicy):
            try:
                policy = read_policy(operation.manifest)
            except DataError as error:
                return "invalid", str(error)
            policies[policy.key] = policy
        elif policies.pop(f"{operation.namespace}/{operation.name}", None) is None:
            return "not-found", ""
        self._enforce(policies)
        return "", ""

    def _enforce(self, policies: dict[str, NetworkPolicy]) -> None:
        cluster = replace(self._cluster, policies=tuple(policies[key] for key in sorted(policies)))
        compiled = compile_policies(cluster, self._interfaces)
        text = policy_change(self._compiled, compiled)
        if text:
            self._load(text)
        self._cluster, self._compiled, self._policies = cluster, compiled, policies
        self.forget_connections()

    def forget_connections(self) -> None:
        """Drop tracked connections: a re-used source port of an old one would pass as established."""
        with self._spaces.inside(CLUSTER_NODE):
            netlink.forget_connections()
