"""What ``rules`` knows about NetworkPolicies: those of the two ends of a wrong flow, judged and written anew."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nl2net.benchmark.applications.flows import Flow
from nl2net.benchmark.applications.tasks import PublicTask
from nl2net.benchmark.interactive import Observation
from nl2net.benchmark.scoring import Cause
from nl2net.emulator.kubernetes.evaluate import Flow as Packet
from nl2net.emulator.kubernetes.evaluate import evaluate
from nl2net.emulator.kubernetes.objects import Pod, Port
from nl2net.emulator.kubernetes.policy import NetworkPolicy, read_policy

_NAME = "kubernetes.io/metadata.name"


class PolicyExpert:
    """Reads the policies of both ends of each wrong flow, finds the side that is wrong, and writes that side anew."""

    def __init__(self, task: PublicTask) -> None:
        self.causes: set[Cause] = set()
        self._output = ""
        self._flows = task.flows
        self._node = str(task.plan["repair_at"][0])
        network = task.plan["network"]
        self._pods = {item["pod"]: _pod(item) for item in network["pods"]}
        self._services = {item["service"]: item for item in network["services"]}
        self._read: dict[str, NetworkPolicy] = {}
        self._names: list[str] = []

    def seen(self, observation: Observation) -> None:
        """Keep what the last command printed."""
        self._output = observation.output
        self._wrong = [flow for flow, _ in observation.wrong()]

    def steps(self, observation: Observation) -> Iterator[tuple[str, str]]:
        """List, read what is concerned, repair one policy after the other."""
        self._wrong = [flow for flow, _ in observation.wrong()]
        yield self._node, "kubectl get networkpolicy -A"
        self._names = ["/".join(line.split()) for line in self._output.splitlines()[1:]]
        tried: set[str] = set()
        while self._wrong:
            flow = next((item for item in self._wrong if str(item) not in tried), None)
            if flow is None:
                return
            tried.add(str(flow))
            yield from self._fetch(flow)
            for name, patch in self._repairs(flow):
                space, _, plain = name.partition("/")
                text = json.dumps({"spec": patch})
                yield self._node, f"kubectl patch networkpolicy {plain} -n {space} --type merge -p '{text}'"

    def _fetch(self, flow: Flow) -> Iterator[tuple[str, str]]:
        ends = {flow.source, self._target(flow)[0].key}
        for name in self._names:
            space, _, plain = name.partition("/")
            near = any(end.partition("/")[0] == space for end in ends)
            if name not in self._read and near and self._concerns(plain, ends):
                yield self._node, f"kubectl get networkpolicy {plain} -n {space} -o json"
                self._keep(name)

    def _concerns(self, name: str, ends: set[str]) -> bool:
        """Policies named after a service belong to it; any other name may concern everyone."""
        services = {key.partition("/")[2] for key in self._pods}
        owner = next((service for service in services if name == service or name.startswith(f"{service}-")), "")
        return not owner or any(end.partition("/")[2] == owner for end in ends)

    def _keep(self, name: str) -> None:
        try:
            self._read[name] = read_policy(json.loads(self._output))
        except ValueError:
            return

    def _target(self, flow: Flow) -> tuple[Pod, int]:
        service = self._services[flow.target]
        space = flow.target.partition(".")[2]
        pods = [pod for pod in self._pods.values() if pod.namespace == space]
        pod = next(p for p in pods if all(p.labels.get(k) == v for k, v in service["selector"].items()))
        target = service["ports"][0]["target"]
        number = target if isinstance(target, int) else next(p.number for p in pod.ports if p.name == target)
        return pod, int(number)

    def _repairs(self, flow: Flow) -> list[tuple[str, Mapping[str, Any]]]:
        pod, number = self._target(flow)
        source = self._pods[flow.source]
        policies = list(self._read.values())
        pods = list(self._pods.values())
        if not flow.allowed:
            return self._rewrite(pod, number, "open_source")
        dns = next((key for key in self._pods if key.startswith("kube-system/")), "")
        found = []
        for packet in (Packet(source.key, dns, 53, "UDP"), Packet(source.key, pod.key, number)):
            verdict = evaluate(policies, pods, packet)
            if not verdict.allowed and verdict.reason.startswith("egress"):
                found += self._open_egress(source)
                break
        without = [item for item in policies if not _selects(item, source)]
        if not evaluate(without, pods, Packet(source.key, pod.key, number)).allowed:
            found += self._rewrite(pod, number, self._kind(pod, source))
        return found

    def _own(self, pod: Pod) -> NetworkPolicy | None:
        """The policy of one service, not one of its whole namespace."""
        return next((p for p in self._read.values() if _selects(p, pod) and p.pods.requirements), None)

    def _kind(self, pod: Pod, source: Pod) -> str:
        policy = self._own(pod)
        rules = policy.manifest["spec"].get("ingress") or [] if policy else []
        if not any(_names(rule, source) for rule in rules):
            return "missing_source"
        ports = [port for rule in rules if _names(rule, source) for port in rule.get("ports", ())]
        return "wrong_protocol" if any(port.get("protocol", "TCP") != "TCP" for port in ports) else "wrong_port"

    def _open_egress(self, source: Pod) -> list[tuple[str, Mapping[str, Any]]]:
        policy = self._own(source)
        if policy is None:
            return []
        self.causes.add(("narrow_egress", policy.key))
        return [(policy.key, {"egress": [{}]})]

    def _rewrite(self, pod: Pod, number: int, kind: str) -> list[tuple[str, Mapping[str, Any]]]:
        policy = self._own(pod)
        if policy is None:
            return []
        self.causes.add((kind, policy.key))
        to_pod = [flow for flow in self._flows if self._target(flow)[0].key == pod.key]
        callers = sorted({flow.source for flow in to_pod if flow.allowed})
        peers = [_peer(self._pods[key]) for key in callers]
        everyone = callers and all(flow.allowed for flow in to_pod)
        rule: dict[str, Any] = {} if everyone else {"from": peers}
        return [
            (policy.key, {"ingress": [{**rule, "ports": [{"port": number, "protocol": "TCP"}]}] if callers else []})
        ]


def _pod(item: Mapping[str, Any]) -> Pod:
    space, _, name = item["pod"].partition("/")
    ports = [Port(p) if isinstance(p, int) else Port(p["port"], name=p["name"]) for p in item["ports"]]
    return Pod(name, space, item["labels"], ports=tuple(ports))


def _peer(pod: Pod) -> dict[str, Any]:
    return {
        "namespaceSelector": {"matchLabels": {_NAME: pod.namespace}},
        "podSelector": {"matchLabels": dict(pod.labels)},
    }


def _selects(policy: NetworkPolicy, pod: Pod) -> bool:
    return policy.namespace == pod.namespace and policy.pods.matches(pod.labels)


def _names(rule: Mapping[str, Any], source: Pod) -> bool:
    peers: Sequence[Mapping[str, Any]] = rule.get("from", ())
    labels = [peer.get("podSelector", {}).get("matchLabels", {}) for peer in peers]
    return not peers or any(label.items() <= dict(source.labels).items() for label in labels)
