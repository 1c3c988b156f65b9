"""Calico: staged policies in a tier of their own, network sets for what lies outside.

References
----------
Calico documentation, "Network policy", "Staged network policy", "Network set" and "Tier".
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

TIER = "seg"
_API = "projectcalico.org/v3"
_NETWORK_LABEL = "segment.nl2net.dev/network"
_NAMES = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP"}


def _expression(labels: Mapping[str, str]) -> str:
    return " && ".join(f"{key} == '{value}'" for key, value in sorted(labels.items()))


def _entities(role: str, inventory: Inventory, selectors: Mapping[str, Sequence[Selector]]) -> list[dict[str, Any]]:
    if role not in selectors:
        # A global selector: without it Calico would look for the set in the policy's own namespace only.
        return [{"selector": f"{_NETWORK_LABEL} == '{object_name(role)}'", "namespaceSelector": "global()"}]
    return [
        {
            "selector": _expression(selector.labels),
            "namespaceSelector": f"projectcalico.org/name == '{selector.namespace}'",
        }
        for selector in selectors[role]
    ]


def _rules(
    rules: Sequence[Rule], inward: bool, inventory: Inventory, *, selectors: Mapping[str, Sequence[Selector]]
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    grouped: dict[tuple[str, int], list[Rule]] = {}
    for rule in rules:
        grouped.setdefault((rule.client if inward else rule.server, rule.proto), []).append(rule)
    for (role, proto), group in sorted(grouped.items()):
        ports: list[int | str] = [
            rule.port_low if rule.port_low == rule.port_high else f"{rule.port_low}:{rule.port_high}" for rule in group
        ]
        for entity in _entities(role, inventory, selectors):
            body: dict[str, Any] = {"action": "Allow", "protocol": _NAMES.get(proto, proto)}
            if inward:
                body["source"] = entity
            else:
                body["destination"] = dict(entity)
            if proto in (6, 17, 132):
                body.setdefault("destination", {})["ports"] = ports
            found.append(body)
    return found


def compile_calico(policy: Policy, inventory: Inventory) -> Compiled:
    """Staged policies, a tier that ends with Deny, and network sets; enforcing means the same files unstaged."""
    roles = inner_roles(policy, inventory)
    selectors = find_selectors(policy, inventory, roles)
    inward, outward = by_role(policy, "server"), by_role(policy, "client")
    tier = {
        "apiVersion": _API,
        "kind": "Tier",
        "metadata": {"name": TIER},
        "spec": {"order": 500, "defaultAction": "Deny"},
    }
    files = {"00-tier.yaml": yaml.safe_dump(tier, sort_keys=False)}
    used = {name for rule in policy.rules for name in (rule.client, rule.server) if name not in selectors}
    for role in sorted(used - inventory.quarantine):
        nets = {
            "apiVersion": _API,
            "kind": "GlobalNetworkSet",
            "metadata": {"name": f"{TIER}-{object_name(role)}", "labels": {_NETWORK_LABEL: object_name(role)}},
            "spec": {"nets": prefixes_of(policy, role, inventory)},
        }
        files[f"10-network-{object_name(role)}.yaml"] = yaml.safe_dump(nets, sort_keys=False)
    dns = [
        {
            "action": "Allow",
            "protocol": proto,
            "destination": {
                "selector": "k8s-app == 'kube-dns'",
                "namespaceSelector": "projectcalico.org/name == 'kube-system'",
                "ports": [53],
            },
        }
        for proto in ("UDP", "TCP")
    ]
    for role in roles:
        for selector in selectors[role]:
            manifest = {
                "apiVersion": _API,
                "kind": "StagedNetworkPolicy",
                "metadata": {"name": f"{TIER}.{object_name(role)}", "namespace": selector.namespace},
                "spec": {
                    "stagedAction": "Set",
                    "tier": TIER,
                    "order": 100,
                    "selector": _expression(selector.labels),
                    "types": ["Ingress", "Egress"],
                    "ingress": _rules(inward.get(role, ()), True, inventory, selectors=selectors),
                    "egress": [*_rules(outward.get(role, ()), False, inventory, selectors=selectors), *dns],
                },
            }
            files[f"20-{selector.namespace}-{object_name(role)}.yaml"] = yaml.safe_dump(manifest, sort_keys=False)
    others = sorted({protocol_name(rule.proto) for rule in policy.rules if rule.proto not in _NAMES})
    notes = ["policies are staged: they report and do not enforce until their kind is NetworkPolicy"]
    notes += [f"protocol {name} is matched by number" for name in others]
    return Compiled(Target.CALICO, files, labels_needed(selectors), tuple(notes))
