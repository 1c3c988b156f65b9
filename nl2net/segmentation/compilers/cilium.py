"""CiliumNetworkPolicy: endpoint selectors, entities and prefixes.

References
----------
Cilium documentation, "Layer 3 Examples" and "Layer 4 Examples"; issue 48027 for the label key that is refused here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from nl2net.errors import UserError
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
from nl2net.segmentation.flows import ICMP, protocol_name
from nl2net.segmentation.policy.rules import Policy, Rule

_PORTS = (6, 17, 132)
_NAMESPACE = "k8s:io.kubernetes.pod.namespace"


def _labels(selector: Selector, *, own: bool) -> dict[str, str]:
    for key in selector.labels:
        if key == "host":
            raise UserError(
                "label key `host` switches enforcement off on some Cilium versions", hint="Select by another label."
            )
    labels = {f"k8s:{key}": value for key, value in selector.labels.items()}
    return labels if own else {**labels, _NAMESPACE: selector.namespace}


def _ports(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    ports = []
    for rule in sorted(rules, key=lambda r: (r.proto, r.port_low)):
        if rule.proto not in _PORTS:
            continue
        body: dict[str, Any] = {"port": str(rule.port_low), "protocol": protocol_name(rule.proto).upper()}
        if rule.port_high > rule.port_low:
            body["endPort"] = rule.port_high
        ports.append(body)
    return [{"ports": ports}] if ports else []


def _entries(
    rules: Sequence[Rule],
    inward: bool,
    *,
    policy: Policy,
    inventory: Inventory,
    selectors: Mapping[str, Sequence[Selector]],
) -> list[dict[str, Any]]:
    grouped: dict[str, list[Rule]] = {}
    for rule in rules:
        grouped.setdefault(rule.client if inward else rule.server, []).append(rule)
    word = "from" if inward else "to"
    found = []
    for role, group in sorted(grouped.items()):
        if role in selectors:
            peer: dict[str, Any] = {
                f"{word}Endpoints": [{"matchLabels": _labels(s, own=False)} for s in selectors[role]]
            }
        else:
            peer = {f"{word}CIDR": prefixes_of(policy, role, inventory)}
            if not peer[f"{word}CIDR"]:
                continue
        ports = _ports(group)
        if ports:
            found.append({**peer, "toPorts": ports})
        if any(rule.proto in ICMP for rule in group):
            fields = [{"family": "IPv4", "type": 8}, {"family": "IPv6", "type": 128}]
            found.append({**peer, "icmps": [{"fields": fields}]})
    return found


def compile_cilium(policy: Policy, inventory: Inventory) -> Compiled:
    """One policy per role and namespace, name lookup through the proxy included."""
    roles = inner_roles(policy, inventory)
    selectors = find_selectors(policy, inventory, roles)
    inward, outward = by_role(policy, "server"), by_role(policy, "client")
    dns = {
        "toEndpoints": [{"matchLabels": {_NAMESPACE: "kube-system", "k8s:k8s-app": "kube-dns"}}],
        "toPorts": [{"ports": [{"port": "53", "protocol": "ANY"}], "rules": {"dns": [{"matchPattern": "*"}]}}],
    }
    files = {}
    for role in roles:
        ingress = _entries(inward.get(role, ()), True, policy=policy, inventory=inventory, selectors=selectors)
        egress = _entries(outward.get(role, ()), False, policy=policy, inventory=inventory, selectors=selectors)
        for selector in selectors[role]:
            manifest = {
                "apiVersion": "cilium.io/v2",
                "kind": "CiliumNetworkPolicy",
                "metadata": {"name": f"seg-{object_name(role)}", "namespace": selector.namespace},
                "spec": {
                    "endpointSelector": {"matchLabels": _labels(selector, own=True)},
                    # An empty list would leave the direction open; an empty rule closes it.
                    "ingress": ingress or [{}],
                    "egress": [*egress, dns],
                },
            }
            files[f"{selector.namespace}-seg-{object_name(role)}.yaml"] = yaml.safe_dump(manifest, sort_keys=False)
    notes = ("audit mode covers layers 3 and 4 and switches enforcement off for the endpoint",)
    return Compiled(Target.CILIUM, files, labels_needed(selectors), notes)
