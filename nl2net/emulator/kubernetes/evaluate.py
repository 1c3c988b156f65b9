"""What NetworkPolicies allow, computed from the objects alone."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nl2net.emulator.kubernetes.objects import Cluster, Pod
from nl2net.emulator.kubernetes.policy import NetworkPolicy, Peer, PortRule, Rule, read_policy
from nl2net.errors import DataError

Labels = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Flow:
    """A first packet, after service translation.

    Attributes
    ----------
    source, target : str
        ``namespace/name`` of a pod, a bare pod name where it is unique, or an IPv4 address outside the cluster.
    port : int
        Port on the target pod; not the service's port.
    protocol : str
        ``TCP``, ``UDP``, ``SCTP`` or ``ICMP`` (which only rules without ports admit).
    """

    source: str
    target: str
    port: int = 0
    protocol: str = "TCP"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a flow passes, why, and the policies that decided (those that admit, or those that isolate)."""

    allowed: bool
    reason: str
    policies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Party:
    """One side of a flow: an address and, for a pod, the pod."""

    address: ipaddress.IPv4Address
    pod: Pod | None = None


def evaluate(
    policies: Sequence[NetworkPolicy | Mapping[str, Any]],
    pods: Sequence[Pod],
    flow: Flow,
    *,
    namespaces: Labels | None = None,
) -> Verdict:
    """Decide one flow.

    Parameters
    ----------
    policies : sequence
        Read policies or manifests.
    pods : sequence of Pod
        All pods, with addresses when ``ipBlock`` occurs.
    flow : Flow
        What is asked.
    namespaces : mapping, optional
        Labels per namespace; the name label is added.

    Notes
    -----
    Egress of the source is judged before ingress of the target; both must pass. Policies add up: a pod that no policy
    selects in a direction is open there, a selected one needs one rule that admits.

    Examples
    --------
    >>> web, db = Pod("web", labels={"app": "web"}), Pod("db", labels={"app": "db"})
    >>> deny = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
    ...         "metadata": {"name": "deny"}, "spec": {"podSelector": {"matchLabels": {"app": "db"}}}}
    >>> evaluate([deny], [web, db], Flow("web", "db", 5432)).reason
    'ingress of default/db: selected by default/deny, no rule admits'
    """
    read = [item if isinstance(item, NetworkPolicy) else read_policy(item) for item in policies]
    cluster = Cluster(pods=tuple(pods), policies=tuple(read), namespaces=namespaces or {})
    return decide(cluster, party(cluster, flow.source), party(cluster, flow.target), flow.protocol, flow.port)


def party(cluster: Cluster, name: str) -> Party:
    """Find a side of a flow by pod name or address."""
    for pod in cluster.pods:
        if name in {pod.key, pod.address}:
            return Party(_address(pod), pod)
    bare = [pod for pod in cluster.pods if pod.name == name]
    if len(bare) == 1:
        return Party(_address(bare[0]), bare[0])
    try:
        return Party(ipaddress.IPv4Address(name))
    except ValueError:
        raise DataError(f"{name!r} is neither a pod of this cluster nor an IPv4 address") from None


def _address(pod: Pod) -> ipaddress.IPv4Address:
    return _parsed(pod.address or "0.0.0.0")  # noqa: S104 - "no address", nothing is bound


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ipaddress.IPv4Address:
    """Reading the addresses of all pods again took two thirds of our own time of a policy change."""
    return ipaddress.IPv4Address(text)


def decide(cluster: Cluster, source: Party, target: Party, protocol: str, port: int) -> Verdict:
    """Judge egress of the source, then ingress of the target."""
    admitted: list[str] = []
    sides = (("egress", source, target), ("ingress", target, source))
    for direction, own, other in sides:
        if own.pod is None:
            continue
        selecting = [p for p in cluster.policies if _selects(p, own.pod, direction)]
        if not selecting:
            continue
        port_owner = other.pod if direction == "egress" else own.pod
        admitting = [
            policy.key
            for policy in selecting
            if any(
                admits(cluster, policy, rule, other) and opens(rule, port_owner, protocol, port)
                for rule in (getattr(policy, direction) or ())
            )
        ]
        if not admitting:
            names = tuple(policy.key for policy in selecting)
            reason = f"{direction} of {own.pod.key}: selected by {', '.join(names)}, no rule admits"
            return Verdict(False, reason, names)
        admitted.extend(admitting)
    if not admitted:
        return Verdict(True, "no policy selects the source for egress or the target for ingress")
    return Verdict(True, "admitted", tuple(dict.fromkeys(admitted)))


def _selects(policy: NetworkPolicy, pod: Pod, direction: str) -> bool:
    rules = policy.ingress if direction == "ingress" else policy.egress
    return rules is not None and policy.namespace == pod.namespace and policy.pods.matches(pod.labels)


def admits(cluster: Cluster, policy: NetworkPolicy, rule: Rule, other: Party) -> bool:
    """Whether a rule's peers include the other side."""
    return not rule.peers or any(peer_matches(cluster, policy, peer, other) for peer in rule.peers)


def peer_matches(cluster: Cluster, policy: NetworkPolicy, peer: Peer, other: Party) -> bool:
    """Whether one peer covers the other side; an address block also covers pods."""
    if peer.block is not None:
        inside = other.address in peer.block
        return inside and not any(other.address in part for part in peer.exceptions)
    if other.pod is None:
        return False
    if peer.namespaces is None:
        right_namespace = other.pod.namespace == policy.namespace
    else:
        right_namespace = peer.namespaces.matches(cluster.labels_of(other.pod.namespace))
    return right_namespace and (peer.pods is None or peer.pods.matches(other.pod.labels))


def opens(rule: Rule, owner: Pod | None, protocol: str, port: int) -> bool:
    """Whether a rule's ports include this one; names are looked up on the pod that listens."""
    return not rule.ports or any(
        item.protocol == protocol and any(low <= port <= high for low, high in port_ranges(item, owner))
        for item in rule.ports
    )


def port_ranges(item: PortRule, owner: Pod | None) -> tuple[tuple[int, int], ...]:
    """Port ranges that an entry means on one pod."""
    if item.port is None:
        return ((0, 65535),)
    if isinstance(item.port, int):
        return ((item.port, item.end or item.port),)
    if owner is None:
        return ()
    return tuple((p.number, p.number) for p in owner.ports if p.name == item.port and p.protocol == item.protocol)
