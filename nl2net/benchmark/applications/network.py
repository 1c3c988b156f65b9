"""The executor over an emulated network: operations as actions, commands by ``exec``, flows by ping and TCP."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from nl2net.benchmark.applications.base import Action, Answer, Changed, Executor, Observed, State, canonical
from nl2net.emulator.forms import operation_from_json, operation_to_json
from nl2net.emulator.interface import build
from nl2net.emulator.kubernetes.policy import NetworkPolicy, read_policy
from nl2net.emulator.operations import Operation
from nl2net.emulator.results import Matrix
from nl2net.emulator.topology import Topology, topology_from_json
from nl2net.errors import DataError, UserError

_PASSED = Observed(True)


def action_of(operation: Operation) -> Action:
    """An operation of the emulator as an action."""
    operands = operation_to_json(operation)
    return Action(str(operands.pop("op")), operands)


def operation_of(action: Action) -> Operation:
    """The operation of the emulator that an action stands for."""
    return operation_from_json({"op": action.name, **action.operands})


@lru_cache(maxsize=64)
def _topology(text: str) -> Topology:
    return topology_from_json(json.loads(text))


class NetworkExecutor(Executor):
    """An emulated network with the setup that belongs to its healthy state.

    ``state.data`` holds ``topology`` and ``setup``, a list of operations (filters that are intended).
    """

    def __init__(self, state: State, *, backend: str = "simulated") -> None:
        topology = _topology(canonical(state.data["topology"]))
        self.network = build(topology, backend=backend)
        self.backend = self.network.backend
        self.flows = state.flows
        self._texts: dict[str, tuple[Mapping[str, Any], str]] = {}
        try:
            for item in state.data.get("setup", ()):
                applied = self.network.apply(operation_from_json(item))
                if not applied.accepted:
                    raise DataError(f"setup operation {item['op']} is refused: {applied.reason}")
        except BaseException:
            self.close()
            raise

    def apply(self, action: Action) -> Changed:
        """Carry out one operation."""
        applied = self.network.apply(operation_of(action))
        return Changed(applied.accepted, applied.reason, tuple(action_of(item) for item in applied.inverse))

    def observe(self) -> tuple[Observed, ...]:
        """Ping and connect all flows."""
        return self.probe(range(len(self.flows)))

    def probe(self, places: Sequence[int]) -> tuple[Observed, ...]:
        """Ping and connect some flows, by position."""
        flows = [self.flows[place] for place in places]
        pings = iter(self._seen(self.network.ping_matrix([(f.source, f.target) for f in flows if not f.port])))
        connects = [(f.source, f.target, f.port) for f in flows if f.port]
        tcp = iter(self._seen(self.network.tcp_matrix(connects)) if connects else ())
        return tuple(next(tcp if flow.port else pings) for flow in flows)

    @staticmethod
    def _seen(matrix: Matrix) -> list[Observed]:
        return [_PASSED if p.ok else Observed(False, str(p.reason), p.place) for p in matrix.probes]

    def run(self, place: str, words: Sequence[str], *, timeout_s: float) -> Answer:
        """Run one command in a node; a mistake in it is the command's own failure."""
        try:
            result = self.network.exec(place, shlex.join(words), timeout_s=timeout_s)
        except (UserError, DataError) as error:
            return Answer(2, f"{error}\n")
        late = "\n(stopped: it took too long)" if result.timed_out else ""
        return Answer(result.status, result.output + late)

    def digest(self) -> str:
        """Digest of all nodes and policies."""
        state = self.network.state()
        parts = [self._text(name, item) for name, item in state["nodes"].items()]
        return hash_text("\n".join([*parts, canonical(state["policies"])]))

    def _text(self, name: str, item: Mapping[str, Any]) -> str:
        """Canonical text of a node; the simulator hands out the same object until a node changes."""
        known = self._texts.get(name)
        if known is None or known[0] is not item:
            known = self._texts[name] = (item, f"{name} {canonical(item)}")
        return known[1]

    def close(self) -> None:
        """Take the network down."""
        self.network.close()


class ClusterExecutor(NetworkExecutor):
    """A cluster whose policies are all that changes.

    In the simulator only flows of pods that a changed policy selects are probed again: no policy has an effect on
    traffic between pods that it does not select.
    """

    def __init__(self, state: State, *, backend: str = "simulated") -> None:
        super().__init__(state, backend=backend)
        cluster = self.network.topology.cluster
        assert cluster is not None
        self._pods = cluster.pods
        pods = {pod.name: pod for pod in cluster.pods} | {pod.key: pod for pod in cluster.pods}
        self._ends: list[frozenset[str]] = []
        for flow in self.flows:
            name, _, namespace = flow.target.partition(".")
            owner = pods[flow.source]
            service = next(s for s in cluster.services if s.key == f"{namespace or owner.namespace}/{name}")
            behind = {pod.key for port in service.ports for pod, _ in cluster.endpoints(service, port)}
            self._ends.append(frozenset({owner.key, *behind}))
        self._known: tuple[Mapping[str, Any], tuple[Observed, ...]] | None = None

    def observe(self) -> tuple[Observed, ...]:
        """Connect all flows, or those that a change since the last time can have touched."""
        if self.backend != "simulated":
            return super().observe()
        policies = dict(self.network.state()["policies"])
        if self._known is None:
            found = super().observe()
        else:
            touched = self._touched(self._known[0], policies)
            places = [place for place, ends in enumerate(self._ends) if ends & touched]
            found = self._merge(self._known[1], places)
        self._known = (policies, found)
        return found

    def _merge(self, before: tuple[Observed, ...], places: Sequence[int]) -> tuple[Observed, ...]:
        after = list(before)
        for place, seen in zip(places, self.probe(places), strict=True):
            after[place] = seen
        return tuple(after)

    def _touched(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
        changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        policies = [read(part[key]) for key in changed for part in (before, after) if key in part]
        everyone = {pod.key for pod in self._pods}
        touched = {
            p.key for p in self._pods for y in policies if y.namespace == p.namespace and y.pods.matches(p.labels)
        }
        # A policy on a pod of no flow, such as the name server, can touch every flow.
        return touched if touched <= frozenset().union(*self._ends) else everyone

    def digest(self) -> str:
        """Digest of the policies."""
        policies = self.network.state()["policies"]
        return hash_text("\n".join(self._text(name, item) for name, item in policies.items()))


def hash_text(text: str) -> str:
    """``sha256:`` and the digest."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def read(manifest: Mapping[str, Any]) -> NetworkPolicy:
    """A policy from its manifest."""
    return _read(canonical(manifest))


@lru_cache(maxsize=1024)
def _read(text: str) -> NetworkPolicy:
    return read_policy(json.loads(text))
