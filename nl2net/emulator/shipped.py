"""Shipped topologies and builders of common shapes."""

from __future__ import annotations

import ipaddress
import json
from importlib import resources
from typing import Any

from nl2net.emulator.kubernetes.objects import Cluster, Pod, Port, Service, ServicePort
from nl2net.emulator.kubernetes.policy import read_policy
from nl2net.emulator.topology import Endpoint, Link, Node, NodeKind, StaticRoute, Topology
from nl2net.errors import DataError

LISTEN = (Port(80),)
SAMPLES = ("online-boutique", "star", "ring")


def sample(name: str) -> Topology:
    """A shipped topology by name.

    Raises
    ------
    DataError
        No such sample; lists those that exist.
    """
    if name == "online-boutique":
        return online_boutique()
    if name == "star":
        return star()
    if name == "ring":
        return ring()
    raise DataError(f"no shipped topology {name!r}", hint=f"Shipped: {', '.join(SAMPLES)}")


def star(*, subnets: int = 3, hosts: int = 2) -> Topology:
    """One router with a switch and a /24 per subnet, and hosts on each switch.

    Examples
    --------
    >>> len(star(subnets=2, hosts=3).nodes)
    9
    """
    nodes, links, routes = [Node("r1", NodeKind.ROUTER, listens=LISTEN)], [], []
    for subnet in range(1, subnets + 1):
        switch = f"s{subnet}"
        nodes.append(Node(switch, NodeKind.SWITCH))
        gateway = f"10.0.{subnet}.1"
        links.append(Link(Endpoint("r1", f"eth{subnet}", (f"{gateway}/24",)), Endpoint(switch, "port0")))
        for index in range(1, hosts + 1):
            name = f"h{subnet}{index}" if hosts < 10 and subnets < 10 else f"h{subnet}-{index}"
            nodes.append(Node(name, listens=LISTEN))
            end = Endpoint(name, "eth0", (f"10.0.{subnet}.{index + 1}/24",))
            links.append(Link(end, Endpoint(switch, f"port{index}")))
            routes.append(StaticRoute(name, "0.0.0.0/0", via=gateway))
    return Topology("star", tuple(nodes), tuple(links), tuple(routes))


def ring(*, routers: int = 4) -> Topology:
    """Routers in a ring with one host each; static routes go clockwise over the shorter half."""
    if not 3 <= routers <= 200:
        raise DataError("a ring needs 3 to 200 routers")
    edges = [(index, (index + 1) % routers) for index in range(routers)]
    return mesh(routers, edges, name="ring")


def mesh(
    routers: int, edges: list[tuple[int, int]], *, name: str = "mesh", hosts: int = 1, link_routes: bool = True
) -> Topology:
    """Routers joined by numbered edges, ``hosts`` hosts each, and shortest-path static routes to every host subnet.

    Parameters
    ----------
    routers : int
        Number of routers, named ``r0`` and up; their hosts are ``h0`` (or ``h0-1`` with several).
    edges : list of (int, int)
        Router indices; each edge becomes a /30 of 10.255.0.0/16.
    link_routes : bool
        Also route to the links themselves, so that routers answer under every address.
    """
    nodes = [Node(f"r{index}", NodeKind.ROUTER, listens=LISTEN) for index in range(routers)]
    links, routes = [], []
    gateways: dict[tuple[int, int], str] = {}
    for number, (a, b) in enumerate(edges):
        base = 4 * number
        left, right = f"10.255.{base // 256}.{base % 256 + 1}", f"10.255.{base // 256}.{base % 256 + 2}"
        gateways.setdefault((a, b), right)
        gateways.setdefault((b, a), left)
        links.append(
            Link(
                Endpoint(f"r{a}", f"to{b}n{number}", (f"{left}/30",)),
                Endpoint(f"r{b}", f"to{a}n{number}", (f"{right}/30",)),
            )
        )
    for index in range(routers):
        for host in range(hosts):
            host_name = f"h{index}" if hosts == 1 else f"h{index}-{host}"
            nodes.append(Node(host_name, listens=LISTEN))
            subnet = f"10.{index // 250}.{index % 250}"
            low = 4 * host
            gateway = f"{subnet}.{low + 1}"
            links.append(
                Link(
                    Endpoint(f"r{index}", f"host{host}", (f"{gateway}/30",)),
                    Endpoint(host_name, "eth0", (f"{subnet}.{low + 2}/30",)),
                )
            )
            routes.append(StaticRoute(host_name, "0.0.0.0/0", via=gateway))
    networks = {index: [f"10.{index // 250}.{index % 250}.0/24"] for index in range(routers)}
    if link_routes:
        for number, (a, _) in enumerate(edges):
            networks[a].append(f"10.255.{4 * number // 256}.{4 * number % 256}/30")
    own = {
        (end.node, str(ipaddress.IPv4Interface(a).network)) for x in links for end in (x.a, x.b) for a in end.addresses
    }
    routes += [r for r in _shortest_routes(routers, gateways, networks) if (r.node, r.prefix) not in own]
    return Topology(name, tuple(nodes), tuple(links), tuple(routes))


def _shortest_routes(
    routers: int, gateways: dict[tuple[int, int], str], networks: dict[int, list[str]]
) -> list[StaticRoute]:
    neighbours: dict[int, list[int]] = {index: [] for index in range(routers)}
    for a, b in gateways:
        neighbours[a].append(b)
    routes = []
    for target in range(routers):
        nearer, waiting = {target: target}, [target]
        for here in waiting:
            for other in sorted(neighbours[here]):
                if other not in nearer:
                    nearer[other] = here
                    waiting.append(other)
        routes += [
            StaticRoute(f"r{index}", network, via=gateways[index, step])
            for index, step in sorted(nearer.items())
            if index != target
            for network in networks[target]
        ]
    return routes


def online_boutique(*, policies: bool = True) -> Topology:
    """Online Boutique: twelve pods, their services and, unless told otherwise, its 13 published policies.

    Notes
    -----
    Facts of Google's Online Boutique (Apache-2.0); see ``samples/NOTICE``. The flows that are intended to pass are in
    `boutique_calls`.
    """
    data = _boutique()
    labels: dict[str, str] = {}
    pods = tuple(
        Pod(item["name"], labels={**labels, "app": item["name"]}, ports=tuple(Port(p) for p in item["ports"]))
        for item in data["pods"]
    )
    services = tuple(
        Service(item["name"], selector={"app": item["app"]}, ports=(ServicePort(item["port"], item["target"]),))
        for item in data["services"]
    )
    read = tuple(read_policy(manifest) for manifest in data["policies"]) if policies else ()
    return Topology("online-boutique", cluster=Cluster(pods, services, read, {"default": {}}))


def boutique_calls() -> tuple[tuple[str, str, int], ...]:
    """Client, service and service port of every call that the published configuration of Online Boutique makes."""
    return tuple((client, server, port) for client, server, port in _boutique()["calls"])


def _boutique() -> dict[str, Any]:
    folder = resources.files("nl2net.emulator") / "samples"
    data: dict[str, Any] = json.loads((folder / "online_boutique.json").read_text(encoding="utf-8"))
    return data
