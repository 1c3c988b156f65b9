"""Azure network security groups with application security groups, as Terraform JSON.

References
----------
Azure documentation, "Network security groups" and "Application security groups"; Terraform provider azurerm.
"""

from __future__ import annotations

import json
from typing import Any

from nl2net.errors import UserError
from nl2net.segmentation.compilers.target import Compiled, Inventory, Target, inner_roles, object_name, prefixes_of
from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.policy.compress import EVERYONE, fold_baselines
from nl2net.segmentation.policy.rules import Policy, Rule

RULES_PER_GROUP = 1000
FIRST, LAST = 100, 4096
_NAMES = {1: "Icmp", 6: "Tcp", 17: "Udp"}


def _asg(role: str) -> str:
    return f"seg_{object_name(role)}".replace("-", "_")


def _side(word: str, role: str, policy: Policy, inventory: Inventory, *, inner: set[str]) -> dict[str, Any]:
    if role in inner:
        return {f"{word}_application_security_group_ids": [f"${{azurerm_application_security_group.{_asg(role)}.id}}"]}
    return {f"{word}_address_prefixes": prefixes_of(policy, role, inventory)}


def _rule(rule: Rule, direction: str, priority: int, *, sides: dict[str, Any]) -> dict[str, Any]:
    ports = str(rule.port_low) if rule.port_low == rule.port_high else f"{rule.port_low}-{rule.port_high}"
    return {
        "name": f"seg-{object_name(rule.id, 60)}-{direction[:2].lower()}",
        "description": rule.id[:140],
        "priority": priority,
        "direction": direction,
        "access": "Allow",
        "protocol": _NAMES.get(rule.proto, "*"),
        "source_port_range": "*",
        "destination_port_range": "*" if rule.proto not in (6, 17) else ports,
        "resource_group_name": "${var.resource_group_name}",
        "network_security_group_name": "${azurerm_network_security_group.seg.name}",
        **sides,
    }


def compile_azure(policy: Policy, inventory: Inventory) -> Compiled:
    """One network security group, one application security group per role, explicit deny before the default allow.

    Raises
    ------
    UserError
        More rules than a group can hold.
    """
    roles = inner_roles(policy, inventory)
    policy, shared = fold_baselines(policy, roles)
    roles += [EVERYONE] * (EVERYONE in policy.members)
    inner = set(roles)
    rules: dict[str, Any] = {}
    priority = {"Inbound": FIRST, "Outbound": FIRST}
    skipped = []
    for rule in sorted(policy.rules, key=lambda r: (not r.baseline, r.id)):
        if {rule.client, rule.server} & inventory.quarantine:
            continue
        if rule.proto not in _NAMES:
            skipped.append(protocol_name(rule.proto))
            continue
        for direction, owner in (("Inbound", rule.server), ("Outbound", rule.client)):
            if owner not in inner:
                continue
            sides = _side("source", rule.client, policy, inventory, inner=inner)
            sides |= _side("destination", rule.server, policy, inventory, inner=inner)
            if any(value == [] for value in sides.values()):
                continue
            body = _rule(rule, direction, priority[direction], sides=sides)
            rules[f"{direction.lower()}_{priority[direction]}"] = body
            priority[direction] += 1
    if len(rules) + 2 > RULES_PER_GROUP:
        raise UserError(
            f"{len(rules) + 2} rules in one network security group, the limit is {RULES_PER_GROUP}",
            hint="Compile fewer roles at a time, one group per subnet, or use the generalised mode.",
        )
    for direction in ("Inbound", "Outbound"):
        rules[f"{direction.lower()}_deny"] = _deny(direction)
    document = {
        "//": "made by nl2net segment",
        "terraform": {"required_providers": {"azurerm": {"source": "hashicorp/azurerm", "version": ">= 3.0, < 5.0"}}},
        "variable": {"resource_group_name": {"type": "string"}, "location": {"type": "string"}},
        "resource": {
            "azurerm_application_security_group": {_asg(role): _place(f"seg-{object_name(role)}") for role in roles},
            "azurerm_network_security_group": {"seg": _place("seg")},
            "azurerm_network_security_rule": rules,
        },
    }
    notes = [*shared, "members of an application security group must lie in one virtual network"]
    if skipped:
        notes.append(f"Azure cannot express {', '.join(sorted(set(skipped)))}: those rules are left out")
    return Compiled(Target.AZURE, {"segment.tf.json": json.dumps(document, indent=2) + "\n"}, {}, tuple(notes))


def _place(name: str) -> dict[str, str]:
    return {"name": name, "location": "${var.location}", "resource_group_name": "${var.resource_group_name}"}


def _deny(direction: str) -> dict[str, Any]:
    """Before AllowVnetInBound (65000), which would let everything pass inside the network."""
    return {
        "name": f"seg-deny-{direction.lower()}",
        "description": "what no role rule allows",
        "priority": LAST,
        "direction": direction,
        "access": "Deny",
        "protocol": "*",
        "source_port_range": "*",
        "destination_port_range": "*",
        "source_address_prefix": "VirtualNetwork",
        "destination_address_prefix": "VirtualNetwork",
        "resource_group_name": "${var.resource_group_name}",
        "network_security_group_name": "${azurerm_network_security_group.seg.name}",
    }
