"""AWS security groups as Terraform JSON: one group per role, one resource per rule, references instead of addresses.

References
----------
Amazon VPC quotas, "Security groups"; Terraform provider aws, ``aws_vpc_security_group_ingress_rule``.
"""

from __future__ import annotations

import json
from typing import Any

from nl2net.errors import UserError
from nl2net.segmentation.compilers.target import Compiled, Inventory, Target, inner_roles, object_name, prefixes_of
from nl2net.segmentation.flows import protocol_name
from nl2net.segmentation.policy.compress import EVERYONE, compress, fold_baselines
from nl2net.segmentation.policy.rules import Policy, Rule

RULES_PER_DIRECTION = 60
GROUPS_PER_REGION = 2500
_NAMES = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmpv6"}


def _ports(rule: Rule) -> dict[str, Any]:
    if rule.proto in (1, 58):
        return {"ip_protocol": _NAMES[rule.proto], "from_port": -1, "to_port": -1}
    if rule.proto in _NAMES:
        return {"ip_protocol": _NAMES[rule.proto], "from_port": rule.port_low, "to_port": rule.port_high}
    return {"ip_protocol": str(rule.proto)}


def _group(role: str) -> str:
    return f"seg_{object_name(role)}".replace("-", "_")


def compile_aws(policy: Policy, inventory: Inventory) -> Compiled:
    """Terraform JSON with variables ``vpc_id`` and no inline rules.

    Raises
    ------
    UserError
        More groups or rules than the quotas allow, after compression.
    """
    roles = inner_roles(policy, inventory)
    if len(roles) > GROUPS_PER_REGION:
        raise UserError(f"{len(roles)} roles need as many security groups, a region allows {GROUPS_PER_REGION}")
    policy, shared = fold_baselines(_without_loose(policy, inventory), roles)
    roles += [EVERYONE] * (EVERYONE in policy.members)
    smaller, widened = compress(policy, per_role=RULES_PER_DIRECTION)
    groups = {
        _group(role): {
            "name": f"seg-{object_name(role)}",
            "description": f"role {role}"[:255],
            "vpc_id": "${var.vpc_id}",
            "tags": {"managed-by": "nl2net-segment", "role": role[:255]},
        }
        for role in roles
    }
    ingress: dict[str, Any] = {}
    egress: dict[str, Any] = {}
    inner = set(roles)
    for rule in sorted(smaller.rules, key=lambda r: r.id):
        service = f"{protocol_name(rule.proto)}_{rule.port_low}_{rule.port_high}"
        name = f"{_group(rule.client)}__{_group(rule.server)}__{service}"
        common = {"description": rule.id[:255], **_ports(rule)}
        if rule.server in inner:
            body = {"security_group_id": _reference(rule.server), **common}
            ingress |= _expand(name, body, rule.client, policy, inventory, inner=inner)
        if rule.client in inner:
            body = {"security_group_id": _reference(rule.client), **common}
            egress |= _expand(name, body, rule.server, policy, inventory, inner=inner)
    _check_quota(ingress, egress)
    document = {
        "//": "made by nl2net segment; groups carry no inline rules, so they merge with existing files",
        "terraform": {"required_providers": {"aws": {"source": "hashicorp/aws", "version": ">= 5.0, < 7.0"}}},
        "variable": {"vpc_id": {"type": "string"}},
        "resource": {
            "aws_security_group": groups,
            "aws_vpc_security_group_ingress_rule": ingress,
            "aws_vpc_security_group_egress_rule": egress,
        },
    }
    document["resource"] = {kind: body for kind, body in document["resource"].items() if body}  # type: ignore[attr-defined]
    notes = [
        *shared,
        *(f"compression opens {w.opened} more port(s): {w.rule.id} for {', '.join(w.replaces)}" for w in widened),
    ]
    if EVERYONE in policy.members:
        notes.append("every machine carries the group of its role and the group seg-everyone (2 of 5 per interface)")
    notes.append("group references fail across regions and through middleboxes; default egress rules must be removed")
    notes.append("name lookup through the VPC resolver is not filtered by security groups")
    return Compiled(Target.AWS, {"segment.tf.json": json.dumps(document, indent=2) + "\n"}, {}, tuple(notes))


def _without_loose(policy: Policy, inventory: Inventory) -> Policy:
    from dataclasses import replace

    kept = tuple(r for r in policy.rules if not {r.client, r.server} & inventory.quarantine)
    return replace(policy, rules=kept)


def _reference(role: str) -> str:
    return f"${{aws_security_group.{_group(role)}.id}}"


def _expand(
    name: str, body: dict[str, Any], peer: str, policy: Policy, inventory: Inventory, *, inner: set[str]
) -> dict[str, Any]:
    """One rule by reference, or one per prefix when the peer lies outside."""
    if peer in inner:
        return {name: {**body, "referenced_security_group_id": _reference(peer)}}
    found = {}
    for at, prefix in enumerate(prefixes_of(policy, peer, inventory)):
        family = "cidr_ipv6" if ":" in prefix else "cidr_ipv4"
        found[f"{name}_{at}"] = {**body, family: prefix}
    return found


def _check_quota(*directions: dict[str, Any]) -> None:
    for rules in directions:
        counts: dict[tuple[str, bool], int] = {}
        for body in rules.values():
            key = (body["security_group_id"], "cidr_ipv6" in body)
            counts[key] = counts.get(key, 0) + 1
        worst = max(counts.items(), key=lambda item: item[1], default=None)
        if worst and worst[1] > RULES_PER_DIRECTION:
            raise UserError(
                f"{worst[0][0]} needs {worst[1]} rules in one direction, the quota is {RULES_PER_DIRECTION}",
                hint="Fold external prefixes into a managed prefix list, or merge the roles that call it.",
            )
