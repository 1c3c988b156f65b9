"""Proof of a policy in the emulator: real connects before and after, compared with what the rules intend."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from nl2net.emulator import Cluster, Pod, Port, PutPolicy, Service, ServicePort, Topology, build
from nl2net.errors import DataError, UserError
from nl2net.segmentation.compilers.selectors import ROLE_LABEL
from nl2net.segmentation.compilers.target import Inventory, inner_roles, object_name
from nl2net.segmentation.policy.measure import reach
from nl2net.segmentation.policy.rules import Policy, index_rules

TCP = 6
MOST_PAIRS = 6_000
Connect = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One pair that does not behave as intended, with the rule that should hold or is missing."""

    client: str
    server: str
    port: int
    intended: bool
    seen: str
    rule: str


@dataclass(frozen=True, slots=True)
class Mutation:
    """A deliberate fault in the compiled files, and whether the matrix showed it."""

    what: str
    policy: str
    noticed: bool
    changed: int


@dataclass(frozen=True, slots=True)
class Proof:
    """Outcome of a verification.

    ``pairs`` of the ``possible`` ones were tried; ``before_open`` and ``after_open`` count the open ones.
    ``mismatches`` must be empty; ``dns_broken`` lists pods that can no longer resolve names; ``reach_*`` are shares of
    endpoints reachable in one and up to three hops.
    """

    backend: str
    pods: int
    pairs: int
    possible: int
    before_open: int
    after_open: int
    intended_open: int
    mismatches: tuple[Mismatch, ...]
    dns_broken: tuple[str, ...]
    mutations: tuple[Mutation, ...]
    reach_1: float
    reach_3: float
    not_measured: tuple[str, ...] = ()
    open_pairs: frozenset[Connect] = field(default_factory=frozenset)

    @property
    def ok(self) -> bool:
        """Everything as intended, name lookup works, and every fault was noticed."""
        return not self.mismatches and not self.dns_broken and all(m.noticed for m in self.mutations)


@dataclass(frozen=True, slots=True)
class _Stage:
    """Pods per role, and the role of every pod."""

    cluster: Cluster
    role_of: Mapping[str, str]
    connects: tuple[Connect, ...]


def load_manifests(folder: Path) -> list[dict[str, Any]]:
    """All NetworkPolicies of a folder, as they would be applied.

    Raises
    ------
    DataError
        The folder holds none.
    """
    found = []
    for path in sorted(folder.glob("*.y*ml")):
        found += [item for item in yaml.safe_load_all(path.read_text(encoding="utf-8")) if item]
    manifests = [item for item in found if item.get("kind") == "NetworkPolicy"]
    if not manifests:
        raise DataError("no NetworkPolicy in this folder", path=folder, hint="Compile with --target kubernetes.")
    return manifests


def _labels(role: str, member: str, inventory: Inventory) -> tuple[str, dict[str, str]]:
    workload = inventory.workloads.get(member)
    labels = dict(workload.labels) if workload else {}
    return (workload.namespace if workload else "default"), {**labels, ROLE_LABEL: object_name(role)}


def _stage(policy: Policy, inventory: Inventory, members: int) -> _Stage:
    roles = inner_roles(policy, inventory)
    ports: dict[str, set[int]] = {role: set() for role in roles}
    for rule in policy.rules:
        if rule.proto == TCP and rule.server in ports:
            ports[rule.server] |= {rule.port_low, rule.port_high}
    pods, services, role_of = [], [], {}
    targets: list[tuple[str, int]] = []
    for role in roles:
        listen = sorted(port for port in ports[role] if port) or [9]
        for at, member in enumerate(policy.members[role][:members]):
            space, labels = _labels(role, member, inventory)
            name = f"{object_name(role, 50)}-{at}"
            # A label of its own lets one service stand for one pod, so that every pod is reached through a name.
            labels["verify"] = name
            pods.append(Pod(name, space, labels, "", tuple(Port(port) for port in listen)))
            services.append(
                Service(name, space, {"verify": name}, "", tuple(ServicePort(p, p, name=f"p{p}") for p in listen))
            )
            role_of[f"{space}/{name}"] = role
            targets += [(f"{space}/{name}", port) for port in listen]
    names = list(role_of)
    connects = tuple(
        (client, _service(server), port) for client in names for server, port in targets if client != server
    )
    return _Stage(Cluster(tuple(pods), tuple(services)), role_of, connects)


def _service(pod: str) -> str:
    space, name = pod.split("/", 1)
    return f"{name}.{space}"


def _intended(policy: Policy, stage: _Stage) -> dict[Connect, bool]:
    """What the rules say, without looking at the compiled files."""
    index = index_rules(policy.rules)
    owner = {_service(pod): role for pod, role in stage.role_of.items()}
    return {
        (client, server, port): any(
            low <= port <= high for low, high in index.get((stage.role_of[client], owner[server], TCP), ())
        )
        for client, server, port in stage.connects
    }


def verify_policy(
    policy: Policy,
    manifests: Sequence[Mapping[str, Any]],
    inventory: Inventory | None = None,
    *,
    backend: str = "auto",
    members: int = 3,
    pairs: int = MOST_PAIRS,
) -> Proof:
    """Load compiled policies into the emulator and compare real connects with the rules.

    Parameters
    ----------
    policy : Policy
        The intent.
    manifests : sequence of mapping
        Compiled NetworkPolicies.
    inventory : Inventory, optional
        Labels and namespaces of endpoints.
    backend : str
        ``auto``, ``kernel``, ``simulated`` or ``cluster``.
    members : int
        Pods per role at most; fewer when the matrix would be too large.
    pairs : int
        Connects at most. Above it, all pairs that should be open and a fixed sample of the others are tried; the proof
        says how many there were.
    """
    inventory = inventory or Inventory()
    stage = _stage(policy, inventory, members)
    while len(stage.connects) > pairs and members > 1:
        members -= 1
        stage = _stage(policy, inventory, members)
    possible = len(stage.connects)
    if not stage.connects:
        raise UserError("nothing to verify: fewer than two endpoints inside")
    intended = _intended(policy, stage)
    if possible > pairs:
        stage = replace(stage, connects=_sample(intended, pairs))
        intended = {pair: intended[pair] for pair in stage.connects}
    with build(Topology("segment", cluster=stage.cluster), backend=backend) as network:
        before = network.tcp_matrix(stage.connects)
        for manifest in manifests:
            applied = network.apply(PutPolicy(dict(manifest)))
            if not applied.accepted:
                raise UserError(f"{manifest['metadata']['name']} was refused: {applied.reason}")
        after = network.tcp_matrix(stage.connects)
        mutations = _mutations(network, manifests, stage, after.reachable())
    seen = after.reachable()
    stages = {probe.pair: probe.stage for probe in after.probes}
    mismatches = _compare(policy, stage, intended, seen=seen, stages=stages)
    broken = sorted({pair[0] for pair, reached in stages.items() if reached == "" and not seen[pair]})
    return Proof(
        backend=after.backend,
        pods=len(stage.role_of),
        pairs=len(stage.connects),
        possible=possible,
        before_open=sum(before.reachable().values()),
        after_open=sum(seen.values()),
        intended_open=sum(intended.values()),
        mismatches=mismatches,
        dns_broken=tuple(broken),
        mutations=mutations,
        reach_1=reach(policy, 1),
        reach_3=reach(policy, 3),
        not_measured=(*after.not_measured, "UDP and other protocols: no connects"),
        open_pairs=frozenset(pair for pair, ok in seen.items() if ok),
    )


def _sample(intended: Mapping[Connect, bool], count: int) -> tuple[Connect, ...]:
    """All pairs that should be open, filled up with closed ones, chosen with a fixed seed."""
    wanted = [pair for pair, is_open in intended.items() if is_open]
    closed = [pair for pair, is_open in intended.items() if not is_open]
    picked = random.Random(1).sample(closed, max(0, min(len(closed), count - len(wanted))))  # noqa: S311 - no secret
    chosen = {*wanted, *picked}
    return tuple(pair for pair in intended if pair in chosen)


def _compare(
    policy: Policy,
    stage: _Stage,
    intended: Mapping[Connect, bool],
    *,
    seen: Mapping[Connect, bool],
    stages: Mapping[Connect, str],
) -> tuple[Mismatch, ...]:
    owner = {_service(pod): role for pod, role in stage.role_of.items()}
    found = []
    for pair, wanted in intended.items():
        if seen[pair] == wanted:
            continue
        client, server, port = pair
        c, s = stage.role_of[client], owner[server]
        rule = next((r.id for r in policy.rules if r.client == c and r.server == s and r.covers(TCP, port)), "no rule")
        found.append(Mismatch(client, server, port, wanted, stages[pair] or ("open" if seen[pair] else "closed"), rule))
    return tuple(found)


def _mutants(manifest: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Faulty copies of one policy."""
    spec = manifest["spec"]
    found = []
    ingress = [
        entry for entry in spec.get("ingress", ()) if any(p["protocol"] == "TCP" for p in entry.get("ports", ()))
    ]
    if ingress:
        first = ingress[0]
        rest = [entry for entry in spec["ingress"] if entry is not first]
        found.append(("rule dropped", {**spec, "ingress": rest}))
        moved = [{**p, "port": p["port"] % 65535 + 1} if p["protocol"] == "TCP" else p for p in first["ports"]]
        moved = [{k: v for k, v in p.items() if k != "endPort"} for p in moved]
        found.append(("port changed", {**spec, "ingress": [{**first, "ports": moved}, *rest]}))
        udp = [{**p, "protocol": "UDP"} for p in first["ports"]]
        found.append(("protocol changed", {**spec, "ingress": [{**first, "ports": udp}, *rest]}))
    found.append(("opened to everyone", {**spec, "ingress": [{}]}))
    return [(what, {**manifest, "spec": body}) for what, body in found]


def _mutations(
    network: Any, manifests: Sequence[Mapping[str, Any]], stage: _Stage, good: Mapping[Connect, bool]
) -> tuple[Mutation, ...]:
    """Put faulty policies in place one at a time; each must change the matrix, or the check is blind."""
    found: list[Mutation] = []
    kinds = ("rule dropped", "port changed", "protocol changed", "opened to everyone")
    owners = {_service(pod): pod for pod in stage.role_of}
    for what in kinds:
        for manifest in manifests:
            mutant = next((body for name, body in _mutants(manifest) if name == what), None)
            if mutant is None:
                continue
            wanted = manifest["spec"]["podSelector"].get("matchLabels", {})
            pods = {pod.key for pod in stage.cluster.pods if wanted.items() <= pod.labels.items()}
            pairs = tuple(pair for pair in stage.connects if owners[pair[1]] in pods)
            # Widening only shows where the client may leave; judge pairs whose clients have some way out.
            if what != "opened to everyone" and not any(good[pair] for pair in pairs):
                continue
            network.apply(PutPolicy(mutant))
            now = network.tcp_matrix(pairs).reachable()
            network.apply(PutPolicy(dict(manifest)))
            changed = sum(now[pair] != good[pair] for pair in pairs)
            if what == "opened to everyone" and changed == 0:
                continue  # egress of every client still closes it: another policy shows the fault better
            found.append(Mutation(what, manifest["metadata"]["name"], changed > 0, changed))
            break
    return tuple(found)
