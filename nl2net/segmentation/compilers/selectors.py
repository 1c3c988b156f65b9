"""Selectors that match all members of a role and nobody else, checked against the labels given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from nl2net.segmentation.compilers.target import Inventory, object_name
from nl2net.segmentation.policy.rules import Policy

ROLE_LABEL = "segment.nl2net.dev/role"
VOLATILE = ("pod-template-hash", "controller-revision-hash", "pod-template-generation", "statefulset.kubernetes.io")
_TOPOLOGY = ("topology.kubernetes.io", "failure-domain", "kubernetes.io/hostname", "batch.kubernetes.io", "job-name")
_LIMIT = 3


@dataclass(frozen=True, slots=True)
class Selector:
    """Labels of a role within one namespace; ``missing`` are members that still need the role label."""

    namespace: str
    labels: Mapping[str, str]
    missing: tuple[str, ...] = ()


def usable(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels that outlive a rollout."""
    return {
        key: value for key, value in labels.items() if not any(key.startswith(word) for word in (*VOLATILE, *_TOPOLOGY))
    }


def find_selectors(policy: Policy, inventory: Inventory, roles: Sequence[str]) -> dict[str, list[Selector]]:
    """Selectors per role, one per namespace that it spans.

    Notes
    -----
    The smallest combination of up to three labels that holds for all members of the role in a namespace and for no
    other workload there. Where none exists, the role label is used and its absence is reported.
    """
    role_of = policy.role_of()
    spaces: dict[str, dict[str, list[str]]] = {}
    for role in roles:
        for member in policy.members[role]:
            workload = inventory.workloads.get(member)
            space = workload.namespace if workload else "default"
            spaces.setdefault(space, {}).setdefault(role, []).append(member)
    outsiders = {address: workload for address, workload in inventory.workloads.items() if address not in role_of}
    found: dict[str, list[Selector]] = {role: [] for role in roles}
    for space in sorted(spaces):
        everyone = {m: role for role, members in spaces[space].items() for m in members}
        everyone |= {a: "" for a, workload in outsiders.items() if workload.namespace == space}
        for role in sorted(spaces[space]):
            found[role].append(_selector(space, role, everyone, inventory))
    return found


def _selector(space: str, role: str, everyone: Mapping[str, str], inventory: Inventory) -> Selector:
    members = [name for name, owner in everyone.items() if owner == role]
    others = [name for name, owner in everyone.items() if owner != role]
    labels = {
        name: usable(inventory.workloads[name].labels) if name in inventory.workloads else {} for name in everyone
    }
    common = dict(set.intersection(*(set(labels[name].items()) for name in members)))
    for count in range(1, min(_LIMIT, len(common)) + 1):
        for picked in combinations(sorted(common.items()), count):
            wanted = dict(picked)
            if not any(wanted.items() <= labels[name].items() for name in others):
                return Selector(space, wanted)
    return Selector(space, {ROLE_LABEL: object_name(role)}, tuple(sorted(members)))


def labels_needed(selectors: Mapping[str, Sequence[Selector]]) -> dict[str, list[str]]:
    """Members per role that need the role label before the policy matches them."""
    return {
        role: [member for selector in found for member in selector.missing]
        for role, found in selectors.items()
        if any(selector.missing for selector in found)
    }
