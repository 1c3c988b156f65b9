"""What can go wrong in a NetworkPolicy, in five kinds with several variants each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nl2net.benchmark.applications.base import Flow
from nl2net.benchmark.applications.policy_states import DNS_EGRESS, peer
from nl2net.emulator.kubernetes.objects import Cluster, Pod
from nl2net.emulator.kubernetes.policy import NetworkPolicy
from nl2net.golden.streams import Stream

Spec = dict[str, Any]
Maker = Callable[[Cluster, NetworkPolicy, Spec, Stream], bool]


def missing_source(_: Cluster, __: NetworkPolicy, spec: Spec, stream: Stream) -> bool:
    """A caller is no longer admitted: its peer is gone, its label is misspelt, or the whole rule is gone."""
    rules = [rule for rule in spec["ingress"] if rule.get("from")]
    if not rules:
        return False
    rule = stream.pick(rules)
    chosen = stream.pick(rule["from"])
    variant = stream.below(3)
    if variant == 0 and len(rule["from"]) > 1:
        rule["from"].remove(chosen)
    elif variant == 1 and "matchLabels" in chosen.get("podSelector", {}):
        label = chosen["podSelector"]["matchLabels"]
        label["app"] = stream.pick([label["app"] + "s", label["app"][:-1], label["app"] + "-v2"])
    else:
        spec["ingress"].remove(rule)
    return True


def open_source(cluster: Cluster, policy: NetworkPolicy, spec: Spec, stream: Stream) -> bool:
    """A stranger is admitted: one service, a whole namespace, everyone on the port, or everyone on any port."""
    strangers = [pod for pod in cluster.pods if pod.namespace != "kube-system" and not _selects(policy, pod)]
    stranger = stream.pick(strangers)
    variants: list[dict[str, Any]] = [
        {"from": [peer(stranger.namespace, stranger.name, policy.namespace)]},
        {"from": [{"podSelector": {}}]},
        {"from": [{"namespaceSelector": {}}]},
        {},
    ]
    rule = stream.pick([variants[0], *variants])
    ports = [port for other in spec["ingress"] for port in other.get("ports", ())]
    if ports and stream.chance(50):
        rule = {**rule, "ports": [dict(stream.pick(ports))]}
    spec["ingress"].insert(stream.below(len(spec["ingress"]) + 1), rule)
    return True


def _change_ports(spec: Spec, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
    ports = [rule for rule in spec["ingress"] if rule.get("ports")]
    for rule in ports:
        rule["ports"] = [change(port) for port in rule["ports"]]
    return bool(ports)


def wrong_port(cluster: Cluster, policy: NetworkPolicy, spec: Spec, stream: Stream) -> bool:
    """Another port than the one that the pod listens on: of another service, off by one, or the service's own."""
    own = {p.number for pod in cluster.pods if policy.pods.matches(pod.labels) for p in pod.ports}
    others = sorted({p.number for pod in cluster.pods for p in pod.ports} - own)
    near = sorted({number + step for number in own for step in (-1, 1, 10)} - own)
    outside = sorted({p.port for service in cluster.services for p in service.ports} - own)
    number = stream.pick([stream.pick(pool) for pool in (others, near, outside) if pool])
    return _change_ports(spec, lambda port: {**port, "port": number})


def wrong_protocol(_: Cluster, __: NetworkPolicy, spec: Spec, stream: Stream) -> bool:
    """UDP or SCTP in place of TCP."""
    protocol = stream.pick(["UDP", "SCTP"])
    return _change_ports(spec, lambda port: {**port, "protocol": protocol})


def narrow_egress(cluster: Cluster, policy: NetworkPolicy, spec: Spec, stream: Stream) -> bool:
    """Less may leave: only to a few services, without the name server, or a target forgotten."""
    services = [pod for pod in cluster.pods if pod.namespace != "kube-system" and not _selects(policy, pod)]
    chosen = stream.sample(services, min(len(services), stream.between(1, 2)))
    few: dict[str, Any] = {"to": [peer(pod.namespace, pod.name, policy.namespace) for pod in chosen]}
    variants: list[list[dict[str, Any]]] = [[few], [few, dict(DNS_EGRESS)], [dict(DNS_EGRESS)]]
    old = [rule for rule in spec["egress"] if rule.get("to") and "ports" not in rule]
    if old:
        without = {"to": old[0]["to"][1:]} if len(old[0]["to"]) > 1 else None
        variants += [old, [*([without] if without else []), dict(DNS_EGRESS)]]
    spec["egress"] = stream.pick(variants)
    return True


MAKERS: Mapping[str, Maker] = {
    "missing_source": missing_source,
    "open_source": open_source,
    "wrong_port": wrong_port,
    "wrong_protocol": wrong_protocol,
    "narrow_egress": narrow_egress,
}


def make_manifest(cluster: Cluster, flows: Sequence[Flow], kind: str, stream: Stream) -> dict[str, Any] | None:
    """A policy of the cluster with a fault of that kind, or ``None`` where the policy drawn has no room for it."""
    if kind == "narrow_egress":
        callers = {flow.source for flow in flows if flow.allowed}
        pods = [pod for pod in cluster.pods if pod.key in callers]
        fitting = [p for p in cluster.policies if p.egress and any(_selects(p, pod) for pod in pods)]
    else:
        fitting = [policy for policy in cluster.policies if policy.ingress]
    if not fitting:
        return None
    policy = stream.pick(fitting)
    spoilt: dict[str, Any] = copy.deepcopy(dict(policy.manifest))
    spec = spoilt["spec"]
    spec.setdefault("ingress", [])
    spec.setdefault("egress", [])
    return spoilt if MAKERS[kind](cluster, policy, spec, stream) else None


def _selects(policy: NetworkPolicy, pod: Pod) -> bool:
    return policy.namespace == pod.namespace and policy.pods.matches(pod.labels)
