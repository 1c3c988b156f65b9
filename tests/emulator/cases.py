"""Random networks and changes for the differential tests; every draw comes from the generator that is passed in."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from nl2net.emulator import (
    AddAddress,
    AddFilter,
    AddRoute,
    AddRule,
    Cluster,
    FlushAddresses,
    Operation,
    Pod,
    Port,
    PutPolicy,
    RemoveRoute,
    Service,
    ServicePort,
    SetChainPolicy,
    SetForwarding,
    SetLink,
    SetMtu,
    Topology,
    mesh,
    online_boutique,
    operation_to_json,
    star,
    topology_to_json,
)

NAMESPACES = ("red", "green", "blue")
APPS = ("web", "api", "db", "queue")


@dataclass(frozen=True)
class Case:
    """A topology and what is done to it."""

    topology: Topology
    operations: tuple[Operation, ...]

    def replay(self, detail: object = None) -> str:
        """One JSON line that repeats the case."""
        operations = [operation_to_json(operation) for operation in self.operations]
        body = {"topology": topology_to_json(self.topology), "operations": operations, "detail": repr(detail)}
        return json.dumps(body)


def star_case(draw: random.Random) -> Case:
    """A router with two to four subnets and one or two of the faults of the NetPress kind."""
    topology = star(subnets=draw.randint(2, 4), hosts=draw.randint(1, 2))
    return Case(topology, star_faults(draw, topology))


def star_faults(draw: random.Random, topology: Topology) -> tuple[Operation, ...]:
    """One or two faults of a star."""
    operations: list[Operation] = []
    for _ in range(draw.randint(1, 2)):
        operations += _star_fault(draw, topology)
    return tuple(operations)


def _star_fault(draw: random.Random, topology: Topology) -> list[Operation]:
    ports = [interface for node, interface in topology.interfaces if node == "r1"]
    number = draw.randint(1, len(ports))
    port, other = f"eth{number}", f"eth{draw.randint(1, len(ports))}"
    subnet, gateway = f"10.0.{number}.0/24", f"10.0.{number}.1"
    mask = draw.choice([8, 16, 25, 30, 31, 32])
    faults: list[list[Operation]] = [
        [SetForwarding("r1", False)],
        [SetChainPolicy("r1", "forward", "drop")],
        [AddRule("r1", "prohibit", 0)],
        [AddFilter("r1", "forward", "drop", source=subnet)],
        [SetLink("r1", port, False)],
        [SetLink("r1", port, False), SetLink("r1", port, True)],
        [SetMtu("r1", port, 68)],
        [FlushAddresses("r1", port)],
        [FlushAddresses("r1", port), AddAddress("r1", port, f"10.{draw.randint(10, 200)}.3.1/24")],
        [FlushAddresses("r1", port), AddAddress("r1", port, f"{gateway}/{mask}")],
        [FlushAddresses("r1", port), AddAddress("r1", port, f"10.0.{draw.randint(1, len(ports))}.200/24")],
        [AddFilter("r1", "input", "drop", source=subnet), AddFilter("r1", "output", "drop", destination=subnet)],
        [AddFilter("r1", "input", "reject", source=subnet)],
        [AddFilter("r1", "output", "reject", protocol="icmp", destination=subnet)],
        [RemoveRoute("r1", subnet), AddRoute("r1", subnet, dev=other)],
        [RemoveRoute("r1", subnet), AddRoute("r1", subnet, via="172.16.9.9")],
        [RemoveRoute("r1", subnet), AddRoute("r1", subnet, dev=other, metric=10000)],
        [RemoveRoute("r1", subnet), AddRoute("r1", subnet, via=f"10.0.{draw.randint(1, len(ports))}.1")],
    ]
    return draw.choice(faults)


def mesh_case(draw: random.Random) -> Case:
    """Connected routers with one to four faults of any kind at any node."""
    routers = draw.randint(2, 6)
    edges = [(draw.randrange(index), index) for index in range(1, routers)]
    for _ in range(draw.randint(0, 3)):
        a, b = draw.sample(range(routers), 2)
        if (a, b) not in edges and (b, a) not in edges:
            edges.append((a, b))
    topology = mesh(routers, edges)
    operations = tuple(any_fault(draw, topology) for _ in range(draw.randint(1, 4)))
    return Case(topology, operations)


def any_fault(draw: random.Random, topology: Topology) -> Operation:
    """One change of any kind at any node."""
    node, interface = draw.choice(list(topology.interfaces))
    other = draw.choice(topology.probed())
    address = topology.address(other)
    prefix = f"{address.rsplit('.', 1)[0]}.0/24"
    via = draw.choice(draw.choice([v for v in topology.addresses.values() if v]))
    routes = [r for r in topology.routes if r.node == node]
    known = draw.choice(routes).prefix if routes else prefix
    chain = draw.choice(["input", "forward", "output"])
    action = draw.choice(["drop", "reject", "accept"])
    own = topology.interfaces[node, interface].addresses[0]
    kinds: list[Operation] = [
        SetLink(node, interface, False),
        SetMtu(node, interface, draw.choice([68, 80, 84, 100, 1280])),
        FlushAddresses(node, interface),
        AddAddress(node, interface, f"{own.split('/')[0]}/{draw.choice([8, 16, 24, 29, 31, 32])}"),
        AddAddress(node, interface, f"10.77.{draw.randint(0, 9)}.{draw.randint(1, 250)}/{draw.choice([24, 30, 32])}"),
        SetForwarding(node, draw.random() < 0.3),
        AddRoute(node, prefix, via=via, metric=draw.choice([0, 0, 5])),
        AddRoute(node, f"{address}/32", via=via),
        AddRoute(node, f"{address}/32", dev=interface),
        AddRoute(node, f"{address}/32", type=draw.choice(["blackhole", "prohibit", "unreachable"])),
        RemoveRoute(node, known),
        RemoveRoute(node, "0.0.0.0/0"),
        AddRule(node, draw.choice(["prohibit", "blackhole", "unreachable"]), draw.choice([0, 100])),
        SetChainPolicy(node, chain, "drop"),
        AddFilter(
            node, chain, action, source=draw.choice(["", prefix, f"{address}/32"]), protocol=draw.choice(["", "icmp"])
        ),
        AddFilter(node, chain, action, destination=prefix, protocol="tcp", port=80),
    ]
    return draw.choice(kinds)


def cluster_case(draw: random.Random, pods_wanted: int = 0) -> Case:
    """Pods in three namespaces with random labels, services and one to six policies."""
    pods, services = [], []
    for index in range(pods_wanted or draw.randint(4, 9)):
        app, namespace = draw.choice(APPS), draw.choice(NAMESPACES)
        labels = {"app": app, **({"tier": draw.choice(["front", "back"])} if draw.random() < 0.6 else {})}
        name = f"{app}{index}"
        ports = (Port(draw.choice([80, 8080, 9000]), name="main"), Port(5432, name="data"))
        pods.append(Pod(name, namespace, {**labels, "name": name}, f"10.244.{draw.randint(0, 3)}.{10 + index}", ports))
        choices: list[int | str] = ["main", ports[0].number, 5432]
        target = draw.choice(choices)
        services.append(Service(name, namespace, {"name": name}, ports=(ServicePort(80, target),)))
    namespaces = {name: {"team": draw.choice(["a", "b"])} for name in NAMESPACES}
    topology = Topology("cluster", cluster=Cluster(tuple(pods), tuple(services), (), namespaces))
    operations = tuple(PutPolicy(policy(draw, f"p{index}")) for index in range(draw.randint(1, 6)))
    return Case(topology, operations)


def policy(draw: random.Random, name: str) -> dict[str, Any]:
    """A random NetworkPolicy that uses every feature now and then."""
    types = draw.choice([["Ingress"], ["Egress"], ["Ingress", "Egress"], None])
    spec: dict[str, Any] = {"podSelector": _selector(draw)}
    if types is not None:
        spec["policyTypes"] = types
    if draw.random() < 0.8:
        spec["ingress"] = [_rule(draw, "from") for _ in range(draw.randint(0, 2))]
    if draw.random() < 0.6:
        spec["egress"] = [_rule(draw, "to") for _ in range(draw.randint(0, 2))]
        if draw.random() < 0.6:
            dns = {"ports": [{"port": 53, "protocol": "UDP"}]}
            spec["egress"].append(dns)
    meta = {"name": name, "namespace": draw.choice(NAMESPACES)}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta, "spec": spec}


def _selector(draw: random.Random) -> dict[str, Any]:
    kind = draw.randrange(5)
    if kind == 0:
        return {}
    if kind < 3:
        return {"matchLabels": {"app": draw.choice(APPS)}}
    operator = draw.choice(["In", "NotIn", "Exists", "DoesNotExist"])
    expression: dict[str, Any] = {"key": draw.choice(["app", "tier"]), "operator": operator}
    if operator in {"In", "NotIn"}:
        expression["values"] = draw.sample([*APPS, "front", "back"], 2)
    return {"matchExpressions": [expression]}


def _rule(draw: random.Random, peers: str) -> dict[str, Any]:
    rule: dict[str, Any] = {}
    if draw.random() < 0.8:
        rule[peers] = [_peer(draw) for _ in range(draw.randint(1, 2))]
    if draw.random() < 0.7:
        rule["ports"] = [_port(draw) for _ in range(draw.randint(1, 2))]
    return rule


def _peer(draw: random.Random) -> dict[str, Any]:
    kind = draw.randrange(4)
    if kind == 0:
        return {"podSelector": _selector(draw)}
    namespaces = draw.choice(
        [
            {},
            {"matchLabels": {"team": draw.choice(["a", "b"])}},
            {"matchLabels": {"kubernetes.io/metadata.name": draw.choice(NAMESPACES)}},
        ]
    )
    if kind == 1:
        return {"namespaceSelector": namespaces}
    if kind == 2:
        return {"namespaceSelector": namespaces, "podSelector": _selector(draw)}
    block: dict[str, Any] = {"cidr": draw.choice(["10.244.0.0/16", "10.244.0.0/23", "0.0.0.0/0"])}
    if draw.random() < 0.5:
        block["except"] = [draw.choice(["10.244.0.0/24", "10.244.1.0/28"])]
    return {"ipBlock": block}


def _port(draw: random.Random) -> dict[str, Any]:
    kind = draw.randrange(5)
    if kind == 0:
        return {"protocol": draw.choice(["TCP", "UDP", "SCTP"])}
    if kind == 1:
        return {"port": draw.choice(["main", "data", "other"])}
    if kind == 2:
        return {"port": 8000, "endPort": draw.choice([8080, 9500])}
    return {"port": draw.choice([80, 8080, 9000, 5432]), "protocol": draw.choice(["TCP", "TCP", "UDP"])}


def boutique_faults(draw: random.Random) -> tuple[Operation, ...]:
    """One or two faults of the NetPress policy kinds in the published policies of Online Boutique."""
    cluster = online_boutique().cluster
    assert cluster is not None
    chosen = draw.sample([p for p in cluster.policies if p.ingress], draw.randint(1, 2))
    return tuple(PutPolicy(_spoilt(draw, dict(policy.manifest))) for policy in chosen)


def _spoilt(draw: random.Random, manifest: dict[str, Any]) -> dict[str, Any]:
    spec = json.loads(json.dumps(manifest["spec"]))
    kind = draw.randrange(5)
    if kind == 0:
        spec["ingress"] = spec["ingress"][1:]
    elif kind == 1:
        spec["ingress"].append({"from": [{"podSelector": {"matchLabels": {"app": "adservice"}}}]})
    elif kind == 2:
        spec["ingress"] = [{**rule, "ports": [{"port": draw.randint(1, 65535)}]} for rule in spec["ingress"]]
    elif kind == 3:
        spec["ingress"] = [{**rule, "ports": [{"protocol": draw.choice(["UDP", "SCTP"])}]} for rule in spec["ingress"]]
    else:
        spec["egress"] = [{"to": [{"podSelector": {"matchLabels": {"app": "redis-cart"}}}]}]
    return {**manifest, "spec": spec}
