"""Kubernetes NetworkPolicy: one per role and namespace, both directions, name lookup always.

References
----------
Kubernetes API reference, networking.k8s.io/v1 NetworkPolicy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from nl2net.segmentation.compilers.selectors import Selector, find_selectors, labels_needed
from nl2net.segmentation.compilers.target import (
    Compiled,
    Inventory,
    Target,
    by_role,
    inner_roles,
    object_name,
    prefixes_of,
)
from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.policy.rules import Policy, Rule

_KNOWN = (6, 17, 132)
_DNS_PEER = {
    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
    "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
}
_NOTES = (
    "traffic from a pod's own node always passes; pods on the host network are not covered",
    "connections that are open when a policy changes may outlive it",
    "ports are those of the pods, after service translation",
)


def dns_egress() -> dict[str, Any]:
    """Egress to the cluster's name server, which no policy may forget."""
    return {"to": [_DNS_PEER], "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}


def _port(rule: Rule) -> list[dict[str, Any]]:
    if rule.proto not in _KNOWN:
        return []
    body: dict[str, Any] = {"protocol": protocol_name(rule.proto).upper(), "port": rule.port_low}
    if rule.port_high > rule.port_low:
        body["endPort"] = rule.port_high
    return [body]


def _peers(
    role: str, policy: Policy, inventory: Inventory, selectors: Mapping[str, Sequence[Selector]]
) -> list[dict[str, Any]]:
    if role not in selectors:
        return [{"ipBlock": {"cidr": prefix}} for prefix in prefixes_of(policy, role, inventory)]
    # Namespace and pod selector in one item mean both at once; in two items they would mean either.
    return [
        {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": selector.namespace}},
            "podSelector": {"matchLabels": dict(selector.labels)},
        }
        for selector in selectors[role]
    ]


def _entries(
    rules: Sequence[Rule],
    side: str,
    word: str,
    *,
    policy: Policy,
    inventory: Inventory,
    selectors: Mapping[str, Sequence[Selector]],
) -> list[dict[str, Any]]:
    """One entry per peer role, with all its ports."""
    grouped: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.proto in _KNOWN:
            grouped.setdefault(getattr(rule, side), []).append(rule)
    found = []
    for role, group in sorted(grouped.items()):
        peers = _peers(role, policy, inventory, selectors)
        if peers:
            ports = [port for rule in sorted(group, key=lambda r: (r.proto, r.port_low)) for port in _port(rule)]
            found.append({word: peers, "ports": ports})
    return found


def network_policies(policy: Policy, inventory: Inventory) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Manifests, and members that need the role label first."""
    roles = inner_roles(policy, inventory)
    selectors = find_selectors(policy, inventory, roles)
    inward, outward = by_role(policy, "server"), by_role(policy, "client")
    manifests = []
    for role in roles:
        ingress = _entries(
            inward.get(role, ()), "client", "from", policy=policy, inventory=inventory, selectors=selectors
        )
        egress = _entries(
            outward.get(role, ()), "server", "to", policy=policy, inventory=inventory, selectors=selectors
        )
        for selector in selectors[role]:
            manifests.append(
                {
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "NetworkPolicy",
                    "metadata": {
                        "name": f"seg-{object_name(role)}",
                        "namespace": selector.namespace,
                        "labels": {"app.kubernetes.io/managed-by": "nl2net-segment"},
                    },
                    "spec": {
                        "podSelector": {"matchLabels": dict(selector.labels)},
                        "policyTypes": ["Ingress", "Egress"],
                        "ingress": ingress,
                        "egress": [*egress, dns_egress()],
                    },
                }
            )
    return manifests, labels_needed(selectors)


def compile_kubernetes(policy: Policy, inventory: Inventory) -> Compiled:
    """One YAML file per role.

    Notes
    -----
    ICMP and other protocols without ports cannot be expressed and are named in the notes.
    """
    manifests, needed = network_policies(policy, inventory)
    files: dict[str, str] = {}
    for manifest in manifests:
        name = f"{manifest['metadata']['namespace']}-{manifest['metadata']['name']}.yaml"
        files[name] = yaml.safe_dump(manifest, sort_keys=False)
    skipped = sorted({protocol_name(rule.proto) for rule in policy.rules if rule.proto not in _KNOWN})
    notes = list(_NOTES)
    if skipped:
        notes.append(f"NetworkPolicy cannot express {', '.join(skipped)}: those rules are left out")
    return Compiled(Target.KUBERNETES, files, needed, tuple(notes))


__all__ = ["compile_kubernetes", "dns_egress", "network_policies"]
