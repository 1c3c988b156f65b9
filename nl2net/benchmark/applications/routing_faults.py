"""What can go wrong on a router, in five kinds with several variants each."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nl2net.benchmark.applications.base import State
from nl2net.benchmark.applications.routing_states import Lan, read_lans
from nl2net.emulator.operations import (
    AddAddress,
    AddFilter,
    AddRoute,
    AddRule,
    FlushAddresses,
    Operation,
    RemoveRoute,
    SetChainPolicy,
    SetForwarding,
    SetLink,
    SetMtu,
)
from nl2net.golden.streams import Stream


@dataclass(frozen=True, slots=True)
class Site:
    """What fault makers look at."""

    lans: tuple[Lan, ...]
    routers: tuple[str, ...]
    ports: tuple[tuple[str, str, str], ...]  # router, interface, address with length
    routes: tuple[tuple[str, str, str], ...]  # router, prefix, gateway


def read_site(state: State) -> Site:
    """Routers, their ports and static routes."""
    topology = state.data["topology"]
    routers = tuple(node["name"] for node in topology["nodes"] if node.get("kind") == "router")
    ends = [end for link in topology["links"] for end in (link["a"], link["b"]) if end["node"] in routers]
    ports = tuple((end["node"], end["interface"], end["addresses"][0]) for end in ends)
    routes = tuple((r["node"], r["prefix"], r["via"]) for r in topology["routes"] if r["node"] in routers)
    return Site(tuple(read_lans(state)), routers, ports, routes)


Made = tuple[str, list[Operation]]  # place and operations
Maker = Callable[[Site, Stream], Made | None]


def forwarding_off(site: Site, stream: Stream) -> Made:
    """The router passes nothing on: switched off, a chain that drops, or a rule before all routes."""
    router = stream.pick(site.routers)
    variants: list[Operation] = [
        SetForwarding(router, False),
        SetChainPolicy(router, "forward", "drop"),
        AddRule(router, stream.pick(["prohibit", "blackhole", "unreachable"]), 0),
    ]
    return router, [stream.pick(variants)]


def interface_down(site: Site, stream: Stream) -> Made:
    """A port that is down, or whose MTU lets no ordinary packet pass."""
    router, port, _ = stream.pick(site.ports)
    down = stream.chance(60)
    return f"{router}:{port}", [SetLink(router, port, False) if down else SetMtu(router, port, 68)]


def wrong_address(site: Site, stream: Stream) -> Made:
    """A port without its address, with one from elsewhere, or with a mask that leaves neighbours out."""
    router, port, address = stream.pick(site.ports)
    plain = address.partition("/")[0]
    other = f"10.{stream.between(32, 99)}.{stream.between(1, 250)}.1/24"
    neighbour = stream.pick([lan.address(200) for lan in site.lans]) + "/24"
    wrong = stream.pick(["", other, neighbour, f"{plain}/{stream.pick([30, 31, 32])}"])
    operations: list[Operation] = [FlushAddresses(router, port)]
    if wrong and wrong != address:
        operations.append(AddAddress(router, port, wrong))
    return f"{router}:{port}", operations


def traffic_filter(site: Site, stream: Stream) -> Made:
    """A filter too many: for a subnet at the router itself, or for what it passes on."""
    lan = stream.pick(site.lans)
    router = stream.pick(site.routers)
    action = "drop"  # iptables cannot list or delete a reject that nft made, so no agent could repair one
    protocol = stream.pick(["", "icmp"])
    head = stream.chance(50)
    place = 0 if head else None
    far = stream.pick(site.lans)
    variants: list[list[Operation]] = [
        [
            AddFilter(lan.router, "input", action, source=lan.prefix, protocol=protocol, position=place),
            AddFilter(lan.router, "output", action, destination=lan.prefix, protocol=protocol, position=place),
        ],
        [AddFilter(router, "input", action, source=lan.prefix, protocol=protocol, position=place)],
        [AddFilter(router, "forward", action, source=lan.prefix, protocol=protocol, position=place)],
        [AddFilter(router, "forward", action, destination=lan.prefix, protocol=protocol, position=place)],
        [AddFilter(router, "forward", action, source=lan.prefix, destination=far.prefix, position=place)],
    ]
    chosen = stream.pick(variants)
    return next(item.node for item in chosen if isinstance(item, AddFilter)), chosen


def wrong_route(site: Site, stream: Stream) -> Made | None:
    """A route that is missing, leads elsewhere, swallows packets, or hides a right one."""
    router = stream.pick(site.routers)
    lan = stream.pick(site.lans)
    ports = [(port, address) for node, port, address in site.ports if node == router]
    mine = [(prefix, via) for node, prefix, via in site.routes if node == router]
    half = str(next(ipaddress.IPv4Network(lan.prefix).subnets()))  # the half in which the hosts are
    kind = stream.pick(["blackhole", "prohibit", "unreachable"])
    variants: list[list[Operation]] = [[AddRoute(router, half, type=kind)]]
    others = [port for port, _ in ports if (lan.router, lan.interface) != (router, port)]
    if others:
        variants.append([AddRoute(router, half, dev=stream.pick(others))])
    own = stream.pick(ports)[1].partition("/")[0]
    variants.append([AddRoute(router, half, via=own)])
    gateways = sorted({via for _, via in mine})
    if mine:
        prefix, via = stream.pick(mine)
        variants += [[RemoveRoute(router, prefix, via=via)]] * 2
        wrong = [gateway for gateway in gateways if gateway != via]
        if wrong:
            variants.append([RemoveRoute(router, prefix, via=via), AddRoute(router, prefix, via=stream.pick(wrong))])
            variants.append([AddRoute(router, half, via=stream.pick(wrong))])
    elif lan.router == router and others:
        wrong_port = stream.pick(others)
        variants.append([RemoveRoute(router, lan.prefix), AddRoute(router, lan.prefix, dev=wrong_port)])
        variants.append([RemoveRoute(router, lan.prefix), AddRoute(router, lan.prefix, dev=wrong_port, metric=10000)])
    return router, stream.pick(variants)


MAKERS: Mapping[str, Maker] = {
    "forwarding_off": forwarding_off,
    "interface_down": interface_down,
    "wrong_address": wrong_address,
    "traffic_filter": traffic_filter,
    "wrong_route": wrong_route,
}
