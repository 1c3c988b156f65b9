"""What a compiler is given and what it returns."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from nl2net.segmentation.policy.rules import Policy, Rule


class Target(StrEnum):
    """Where a policy is enforced."""

    KUBERNETES = "kubernetes"
    CILIUM = "cilium"
    CALICO = "calico"
    AWS = "aws"
    AZURE = "azure"
    NFTABLES = "nftables"


@dataclass(frozen=True, slots=True)
class Workload:
    """A pod or machine: what selectors can see of it. ``address`` is its name in the policy."""

    address: str
    name: str = ""
    namespace: str = "default"
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is known of the estate besides flows.

    ``prefixes`` maps an external role to its prefixes; ``quarantine`` are roles that get no rule at all.
    """

    workloads: Mapping[str, Workload] = field(default_factory=dict)
    prefixes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    quarantine: frozenset[str] = frozenset()

    def is_external(self, role: str) -> bool:
        """Whether a role lies outside."""
        return role in self.prefixes


@dataclass(frozen=True, slots=True)
class Compiled:
    """Files by name, what the operator must do besides, and remarks."""

    target: Target
    files: Mapping[str, str]
    labels_needed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def object_name(role: str, limit: int = 55) -> str:
    """A name that every target takes: lower case letters, digits and dashes; long ones keep a hash.

    Examples
    --------
    >>> object_name("Web Tier/1"), len(object_name("x" * 99))
    ('web-tier-1', 55)
    """
    clean = re.sub(r"[^a-z0-9]+", "-", role.lower()).strip("-") or "role"
    if len(clean) <= limit:
        return clean
    return f"{clean[: limit - 9]}-{hashlib.sha256(role.encode()).hexdigest()[:8]}"


def by_role(policy: Policy, side: str) -> dict[str, list[Rule]]:
    """Rules grouped by their ``client`` or ``server``, in order."""
    found: dict[str, list[Rule]] = {}
    for rule in policy.rules:
        found.setdefault(getattr(rule, side), []).append(rule)
    return found


def inner_roles(policy: Policy, inventory: Inventory) -> list[str]:
    """Roles that get policies: inside, and not quarantined."""
    return [
        role
        for role in sorted(policy.members)
        if not inventory.is_external(role) and role not in inventory.quarantine and policy.members[role]
    ]


def prefixes_of(policy: Policy, role: str, inventory: Inventory) -> list[str]:
    """Prefixes of a role: given ones, else its members as single addresses."""
    if role in inventory.prefixes:
        return sorted(inventory.prefixes[role])
    found = []
    for member in policy.members.get(role, ()):
        try:
            address = ipaddress.ip_address(member)
        except ValueError:
            continue
        found.append(f"{address}/{address.max_prefixlen}")
    return sorted(found)
