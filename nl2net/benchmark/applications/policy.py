"""Policy: NetworkPolicies of a cluster drifted from the intended flows; the agent works with ``kubectl``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nl2net.benchmark.applications.base import Action, Application, Command, Executor, Fault, State, Verdict
from nl2net.benchmark.applications.lines import judge_kubectl, judge_program
from nl2net.benchmark.applications.network import ClusterExecutor, action_of, operation_of
from nl2net.benchmark.applications.policy_faults import MAKERS, make_manifest
from nl2net.benchmark.applications.policy_states import draw_state, read_cluster
from nl2net.emulator.expand import CLUSTER_NODE
from nl2net.emulator.operations import PutPolicy
from nl2net.errors import UserError
from nl2net.golden.streams import Stream

_PARTS = ("podSelector", "policyTypes", "ingress", "egress")
_EXAMPLES = (
    "kubectl get networkpolicy -A",
    "kubectl get networkpolicy NAME -n NAMESPACE -o yaml",
    "kubectl get pods -n NAMESPACE -o yaml",
    "kubectl patch networkpolicy NAME -n NAMESPACE --type merge -p '{\"spec\": {...}}'",
    "kubectl delete networkpolicy NAME -n NAMESPACE",
)


class Policy(Application):
    """Faults in NetworkPolicies of Online Boutique and of random service graphs."""

    name = "policy"
    kinds = tuple(MAKERS)

    def make_state(self, stream: Stream) -> State:
        """Draw a cluster."""
        return draw_state(stream)

    def make_fault(self, state: State, kind: str, stream: Stream) -> Fault | None:
        """Spoil one policy."""
        spoilt = make_manifest(read_cluster(state), state.flows, kind, stream)
        if spoilt is None:
            return None
        place = f"{spoilt['metadata']['namespace']}/{spoilt['metadata']['name']}"
        return Fault(kind, place, (action_of(PutPolicy(spoilt)),))

    def open(self, state: State, *, backend: str = "simulated") -> Executor:
        """Build the cluster."""
        return ClusterExecutor(state, backend=backend)

    def commands(self, state: State, inverse: Sequence[Action]) -> tuple[Command, ...]:
        """One patch per policy."""
        return tuple(Command(CLUSTER_NODE, _patch(action)) for action in inverse)

    def judge(self, state: State, place: str, words: Sequence[str]) -> Verdict:
        """``kubectl`` alone."""
        return judge_program(words, ("kubectl",)) or judge_kubectl(words)

    def describe(self, state: State) -> Mapping[str, Any]:
        """Pods and services. Policies are to be read by ``kubectl``."""
        cluster = read_cluster(state)
        pods = [
            {"pod": pod.key, "labels": dict(pod.labels), "ports": [_port(p.number, p.name) for p in pod.ports]}
            for pod in cluster.pods
        ]
        services = [
            {
                "service": f"{service.name}.{service.namespace}",
                "selector": dict(service.selector),
                "ports": [{"port": p.port, "target": p.target, "protocol": p.protocol} for p in service.ports],
            }
            for service in cluster.services
        ]
        notes = ["Policies match ports after service translation.", "Only network policies may be changed."]
        return {
            "places": [CLUSTER_NODE],
            "repair_at": [CLUSTER_NODE],
            "commands": list(_EXAMPLES),
            "network": {"pods": pods, "services": services, "notes": notes},
        }


def _port(number: int, name: str) -> Any:
    return {"port": number, "name": name} if name else number


def _patch(action: Action) -> str:
    operation = operation_of(action)
    if not isinstance(operation, PutPolicy):
        raise UserError(f"operation {operation.op} has no command line")
    meta, spec = operation.manifest["metadata"], operation.manifest["spec"]
    # A merge patch leaves out what it does not name: parts that the right policy lacks are named as null.
    text = json.dumps({"spec": {part: spec.get(part) for part in _PARTS}}, separators=(",", ":"))
    return f"kubectl patch networkpolicy {meta['name']} -n {meta['namespace']} --type merge -p '{text}'"


def make() -> Policy:
    """The application."""
    return Policy()
