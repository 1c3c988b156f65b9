"""Healthy clusters: Online Boutique as in the classic suite, and random service graphs over several namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from nl2net.benchmark.applications.base import Flow, State
from nl2net.emulator.expand import complete_cluster
from nl2net.emulator.kubernetes.objects import Cluster, Pod, Port, Service, ServicePort
from nl2net.emulator.kubernetes.policy import read_policy
from nl2net.emulator.shipped import boutique_calls, online_boutique
from nl2net.emulator.topology import Topology, topology_from_json, topology_to_json
from nl2net.golden.streams import Stream

_NAMES = (
    *("orders", "billing", "catalog", "basket", "search", "users", "gateway", "mailer", "stock", "prices", "reviews"),
    *("ledger", "images", "sessions", "reports", "metrics", "queue", "coupons", "returns", "routes", "tickets"),
    *("alerts", "devices", "sensors", "planner", "audit", "quotes", "claims", "shifts", "rooms"),
)
_SPACES = ("shop", "core", "data", "ops", "edge", "lab")
_NUMBERS = (5432, 6379, 7070, 8000, 8080, 8443, 9000, 9090, 3306, 50051)
# A pod without any policy, that must reach nothing: what is opened too far shows even where other egress is closed.
_VISITOR = Pod("visitor", "guest", {"app": "visitor"})
_OPEN_TO_ALL = ("frontend", "frontend-external")
_LABEL = "kubernetes.io/metadata.name"
DNS_EGRESS: Mapping[str, Any] = {
    "to": [{"namespaceSelector": {"matchLabels": {_LABEL: "kube-system"}}}],
    "ports": [{"port": 53, "protocol": "UDP"}],
}


def draw_state(stream: Stream) -> State:
    """Online Boutique in one of three draws, else a random service graph."""
    return _boutique() if stream.below(3) == 0 else _random_state(stream)


@cache
def _boutique() -> State:
    topology = online_boutique()
    assert topology.cluster is not None
    manifests = []
    for policy in topology.cluster.policies:
        meta = {**policy.manifest["metadata"], "namespace": policy.namespace}
        manifests.append({**policy.manifest, "metadata": meta})
    calls = {(client, service) for client, service, _ in boutique_calls()}
    cluster = topology.cluster
    allowed = {
        (pod.name, service.name)
        for pod in cluster.pods
        for service in cluster.services
        if (pod.name, service.name) in calls or service.name in _OPEN_TO_ALL
    }
    flows = []
    for pod in cluster.pods:
        for service in cluster.services:
            if service.selector["app"] != pod.name:
                passes = (pod.name, service.name) in allowed
                flows.append(Flow(f"default/{pod.name}", f"{service.name}.default", service.ports[0].port, passes))
    policies = tuple(read_policy(manifest) for manifest in manifests)
    return _state("online-boutique", Cluster(cluster.pods, cluster.services, policies, {"default": {}}), flows)


def _state(name: str, cluster: Cluster, flows: Sequence[Flow]) -> State:
    topology = Topology(name, cluster=complete_cluster(cluster))
    return State({"topology": topology_to_json(topology), "setup": []}, tuple(flows))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A service with its pod, and the services that it calls."""

    name: str
    space: str
    port: int
    outside: int  # port of the service
    named: bool
    calls: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"{self.space}/{self.name}"


def _random_state(stream: Stream) -> State:
    drafts = _services(stream)
    by_key = {draft.key: draft for draft in drafts}
    callers: dict[str, list[_Draft]] = {draft.key: [] for draft in drafts}
    for draft in drafts:
        for target in draft.calls:
            callers[target].append(draft)
    spaces = sorted({draft.space for draft in drafts})
    manifests = [_deny(space, stream) for space in spaces]
    manifests += [_policy(draft, callers[draft.key], by_key, stream) for draft in drafts]
    pods = [
        Pod(d.name, d.space, {"app": d.name}, ports=(Port(d.port, name="main" if d.named else ""),)) for d in drafts
    ]
    services = tuple(
        Service(d.name, d.space, {"app": d.name}, ports=(ServicePort(d.outside, "main" if d.named else d.port),))
        for d in drafts
    )
    policies = tuple(read_policy(manifest) for manifest in manifests)
    flows = [
        Flow(source.key, f"{target.name}.{target.space}", target.outside, target.key in source.calls)
        for source in drafts
        for target in drafts
        if source is not target
    ]
    flows += [Flow(_VISITOR.key, f"{target.name}.{target.space}", target.outside, False) for target in drafts]
    namespaces: dict[str, dict[str, str]] = {space: {} for space in (*spaces, _VISITOR.namespace)}
    return _state("services", Cluster((*pods, _VISITOR), services, policies, namespaces), flows)


def _services(stream: Stream) -> list[_Draft]:
    spaces = stream.sample(_SPACES, stream.between(1, 3))
    drafts = []
    for name in stream.sample(_NAMES, stream.between(5, 8)):
        port = stream.pick(_NUMBERS)
        outside = 80 if stream.chance(30) else port
        drafts.append(_Draft(name, stream.pick(spaces), port, outside, stream.chance(40)))
    for place, draft in enumerate(drafts[1:], start=1):
        callers = stream.sample(range(place), stream.between(1, min(2, place)))
        for caller in callers:
            drafts[caller].calls.append(draft.key)
    return drafts


def _deny(space: str, stream: Stream) -> dict[str, Any]:
    name = stream.pick(["deny-all", "default-deny", "closed"])
    return manifest(space, name, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})


def _policy(draft: _Draft, callers: Sequence[_Draft], by_key: Mapping[str, _Draft], stream: Stream) -> dict[str, Any]:
    """One policy of a service: its callers on its port; egress open, or to its targets and the name server."""
    port: Any = "main" if draft.named and stream.chance(60) else draft.port
    rule = {"from": [peer(d.space, d.name, draft.space) for d in callers], "ports": [{"port": port, "protocol": "TCP"}]}
    egress: list[dict[str, Any]] = [{}]
    if stream.chance(40):
        targets = [by_key[key] for key in draft.calls]
        egress = [{"to": [peer(t.space, t.name, draft.space) for t in targets]}] if targets else []
        egress.append(dict(DNS_EGRESS))
    spec = {
        "podSelector": {"matchLabels": {"app": draft.name}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [rule] if callers else [],
        "egress": egress,
    }
    return manifest(draft.space, f"{draft.name}{stream.pick(['', '-policy', '-access'])}", spec)


def peer(space: str, name: str, home: str) -> dict[str, Any]:
    """A peer that selects one service's pods, seen from a policy of the namespace ``home``."""
    found: dict[str, Any] = {"podSelector": {"matchLabels": {"app": name}}}
    return found if space == home else {"namespaceSelector": {"matchLabels": {_LABEL: space}}, **found}


def manifest(space: str, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A NetworkPolicy."""
    meta = {"name": name, "namespace": space}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta, "spec": dict(spec)}


def read_cluster(state: State) -> Cluster:
    """The cluster of a state."""
    cluster = _clusters.get(state.digest)
    if cluster is None:
        cluster = topology_from_json(state.data["topology"]).cluster
        assert cluster is not None
        _clusters.clear()
        _clusters[state.digest] = cluster
    return cluster


_clusters: dict[str, Cluster] = {}
