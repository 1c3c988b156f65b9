"""Healthy routed networks: stars as in the classic suite, and meshes of routers with static routes."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nl2net.benchmark.applications.base import Flow, State
from nl2net.emulator.forms import operation_to_json
from nl2net.emulator.operations import AddFilter
from nl2net.emulator.topology import Endpoint, Link, Node, NodeKind, StaticRoute, Topology, topology_to_json
from nl2net.golden.streams import Stream

_ROLES = ("web", "db", "mail", "cam", "desk", "lab", "print", "voip", "build", "files")
_SITES = ("north", "south", "east", "west", "core", "edge", "yard", "dock", "tower", "annex")
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Lan:
    """A /24 with its gateway router and hosts."""

    router: str
    interface: str
    prefix: str
    hosts: tuple[str, ...]

    def address(self, number: int) -> str:
        """The address of that number without prefix length; 1 is the gateway."""
        return str(ipaddress.IPv4Network(self.prefix)[number])


@dataclass(slots=True)
class _Draft:
    """Parts of a topology under construction."""

    nodes: list[Node] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    routes: list[StaticRoute] = field(default_factory=list)
    lans: list[Lan] = field(default_factory=list)


def draw_state(stream: Stream) -> State:
    """A star in two of five draws, else a mesh; in two of five a pair of subnets is kept apart by a filter."""
    star = stream.below(5) < _PAIR
    routers = 1 if star else stream.between(3, 5)
    edges = [] if star else _edges(routers, stream)
    names = _router_names(routers, stream)
    draft = _Draft(nodes=[Node(name, NodeKind.ROUTER) for name in names])
    _add_links(draft, names, edges, stream)
    _add_lans(draft, _homes(names, star, stream), stream)
    _add_routes(draft, names, edges)
    topology = Topology("star" if star else "mesh", tuple(draft.nodes), tuple(draft.links), tuple(draft.routes))
    apart = _apart(draft.lans, stream)
    setup = [] if apart is None else [operation_to_json(_barrier(*apart))]
    data = {"topology": topology_to_json(topology), "setup": setup, "lans": [_lan_json(lan) for lan in draft.lans]}
    return State(data, tuple(_flows(draft.lans, names, apart)))


def _edges(routers: int, stream: Stream) -> list[tuple[int, int]]:
    edges = [(stream.below(index), index) for index in range(1, routers)]
    for _ in range(stream.below(3)):
        a, b = sorted(stream.sample(range(routers), _PAIR))
        if (a, b) not in edges:
            edges.append((a, b))
    return edges


def _router_names(routers: int, stream: Stream) -> list[str]:
    if stream.chance(50):
        return [f"r{index + 1}" for index in range(routers)]
    return [f"{site}-gw" for site in stream.sample(_SITES, routers)]


def _homes(names: Sequence[str], star: bool, stream: Stream) -> list[str]:
    """The router of each LAN."""
    if star:
        return [names[0]] * stream.between(2, 4)
    return list(names)


def _add_links(draft: _Draft, names: Sequence[str], edges: Sequence[tuple[int, int]], stream: Stream) -> None:
    base = int(ipaddress.IPv4Address(f"10.{stream.between(200, 254)}.{stream.below(256)}.0"))
    for number, (a, b) in enumerate(edges):
        left, right = (f"{ipaddress.IPv4Address(base + 4 * number + offset)}/30" for offset in (1, 2))
        ends = (Endpoint(names[a], f"up{number}", (left,)), Endpoint(names[b], f"up{number}", (right,)))
        draft.links.append(Link(*ends))


def _add_lans(draft: _Draft, homes: Sequence[str], stream: Stream) -> None:
    first = stream.pick(["10.%d", "172.%d", "192.168"])
    start = first % stream.between(16, 31) if "%" in first else first
    thirds = stream.sample(range(1, 250), len(homes))
    roles = stream.sample(_ROLES, len(homes)) if stream.chance(50) else [f"h{index + 1}" for index in range(len(homes))]
    used: dict[str, int] = {}
    for number, home in enumerate(homes):
        used[home] = used.get(home, 0) + 1
        hosts = stream.between(1, 3) if homes[0] == homes[-1] else 1 + stream.chance(25)
        names = tuple(f"{roles[number]}{index + 1}" for index in range(hosts))
        lan = Lan(home, f"lan{used[home]}", f"{start}.{thirds[number]}.0/24", names)
        draft.lans.append(lan)
        gateway = Endpoint(home, lan.interface, (f"{lan.address(1)}/24",))
        _add_hosts(draft, lan, gateway, number)


def _add_hosts(draft: _Draft, lan: Lan, gateway: Endpoint, number: int) -> None:
    ends = [Endpoint(name, "eth0", (f"{lan.address(10 + index)}/24",)) for index, name in enumerate(lan.hosts)]
    draft.nodes += [Node(name) for name in lan.hosts]
    draft.routes += [StaticRoute(name, "0.0.0.0/0", via=lan.address(1)) for name in lan.hosts]
    if len(ends) == 1:
        draft.links.append(Link(gateway, ends[0]))
        return
    switch = f"sw{number + 1}"
    draft.nodes.append(Node(switch, NodeKind.SWITCH))
    draft.links.append(Link(gateway, Endpoint(switch, "port0")))
    draft.links += [Link(end, Endpoint(switch, f"port{index + 1}")) for index, end in enumerate(ends)]


def _add_routes(draft: _Draft, names: Sequence[str], edges: Sequence[tuple[int, int]]) -> None:
    """Shortest paths to all LANs and links, by breadth-first search from each target."""
    gateways: dict[tuple[int, int], str] = {}
    for (a, b), link in zip(edges, draft.links, strict=False):
        gateways[a, b] = link.b.addresses[0].partition("/")[0]
        gateways[b, a] = link.a.addresses[0].partition("/")[0]
    own = {(end.node, _network(a)) for link in draft.links for end in (link.a, link.b) for a in end.addresses}
    targets = [(names.index(lan.router), lan.prefix) for lan in draft.lans]
    targets += [(a, _network(link.a.addresses[0])) for (a, _), link in zip(edges, draft.links, strict=False)]
    for router, prefix in targets:
        for here, step in next_hops(router, gateways).items():
            if (names[here], prefix) not in own:
                draft.routes.append(StaticRoute(names[here], prefix, via=gateways[here, step]))


def next_hops(target: int, gateways: dict[tuple[int, int], str]) -> dict[int, int]:
    """The neighbour towards a target, for every other router."""
    found, waiting = {target: target}, [target]
    for here in waiting:
        for other, _ in sorted(pair for pair in gateways if pair[1] == here):
            if other not in found:
                found[other] = here
                waiting.append(other)
    del found[target]
    return found


def _network(cidr: str) -> str:
    return str(ipaddress.IPv4Interface(cidr).network)


def _apart(lans: Sequence[Lan], stream: Stream) -> tuple[Lan, Lan] | None:
    if len(lans) <= _PAIR or stream.below(5) >= _PAIR:
        return None
    first, second = stream.sample(lans, _PAIR)
    return first, second


def _barrier(first: Lan, second: Lan) -> AddFilter:
    return AddFilter(second.router, "forward", "drop", source=first.prefix, destination=second.prefix)


def _flows(lans: Sequence[Lan], routers: Sequence[str], apart: tuple[Lan, Lan] | None) -> list[Flow]:
    """Hosts to hosts both ways, and one host of each LAN to the routers, which shows what they do to own packets."""
    pairs = set() if apart is None else {(apart[0].prefix, apart[1].prefix), (apart[1].prefix, apart[0].prefix)}
    found = []
    for near in lans:
        for source in near.hosts:
            for far in lans:
                allowed = (near.prefix, far.prefix) not in pairs
                found += [Flow(source, target, 0, allowed) for target in far.hosts if target != source]
        found += [Flow(near.hosts[0], router, 0, True) for router in routers]
    return found


def _lan_json(lan: Lan) -> dict[str, Any]:
    return {"router": lan.router, "interface": lan.interface, "prefix": lan.prefix, "hosts": list(lan.hosts)}


def read_lans(state: State) -> list[Lan]:
    """The LANs of a state."""
    return [Lan(i["router"], i["interface"], i["prefix"], tuple(i["hosts"])) for i in state.data["lans"]]
