"""Slot types of communication graphs."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

import networkx as nx

from nl2net.golden.built import BuiltGraph
from nl2net.golden.slots import Draw, NoOperand, slot

_WEIGHTS = ("bytes", "packets", "flows")


@slot("weight")
def _weight(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    word = draw.stream.pick(_WEIGHTS)
    draw.put(name, draw.built.words[word])
    draw.put(f"{name}_word", word)


@slot("node")
def _node(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put_private(name, draw.pick(list(draw.built.nodes)), "node")


@slot("linked")
def _linked(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put_private(name, draw.pick([n for n, peers in draw.built.peers.items() if peers]), "node")


@slot("sender")
def _sender(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put_private(name, draw.pick(sorted({u for u, _, _ in draw.built.edges})), "node")


@slot("receiver")
def _receiver(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put_private(name, draw.pick(sorted({v for _, v, _ in draw.built.edges})), "node")


@slot("cutter")
def _cutter(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """Mostly hosts whose loss matters, sometimes any linked one."""
    points = sorted(nx.articulation_points(nx.Graph(draw.built.graph)))
    if points:
        draw.put_private(name, draw.pick(points), "node")
    else:
        _linked(draw, name, arguments)


def _put_pair(draw: Draw, u: str, v: str) -> None:
    draw.put_private("x", u, "node")
    draw.put_private("y", v, "node")


@slot("link")
def _link(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    u, v, _ = draw.stream.pick(draw.built.edges)
    if not draw.built.directed and draw.stream.chance(50):
        u, v = v, u
    _put_pair(draw, u, v)


@slot("pair_any")
def _pair_any(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    linked = [n for n, peers in draw.built.peers.items() if peers]
    _put_pair(draw, *draw.stream.sample(linked, 2))


@slot("pair")
def _pair(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """A pair that is linked in half of the cases."""
    if draw.stream.chance(50):
        _link(draw, name, arguments)
    else:
        _put_pair(draw, *_unlinked_pair(draw))


def _unlinked_pair(draw: Draw) -> tuple[str, str]:
    hosts = list(draw.built.nodes)
    for _ in range(100):
        u, v = draw.stream.sample(hosts, 2)
        if v not in draw.built.peers[u]:
            return u, v
    raise NoOperand


@slot("unlinked")
def _unlinked(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    _put_pair(draw, *_unlinked_pair(draw))


@slot("common")
def _common(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """Two hosts with a neighbour in common, and with some difference."""
    peers = draw.built.peers
    hubs = [n for n, found in peers.items() if len(found) >= 2]
    if not hubs:
        raise NoOperand
    _put_pair(draw, *draw.stream.sample(sorted(peers[draw.stream.pick(hubs)]), 2))


def _reachable(built: BuiltGraph, start: str) -> list[str]:
    seen, queue = {start}, [start]
    while queue:
        for peer in sorted(built.peers[queue.pop()] - seen):
            seen.add(peer)
            queue.append(peer)
    return sorted(seen - {start})


@slot("connected")
def _connected(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """Two hosts with a path between them, at least two hops apart where possible."""
    u = draw.pick([n for n, peers in draw.built.peers.items() if peers])
    others = _reachable(draw.built, u)
    far = [n for n in others if n not in draw.built.peers[u]]
    _put_pair(draw, u, draw.stream.pick(far or others))


def _prefixes(built: BuiltGraph, length: int) -> list[str]:
    key = f"prefixes{length}"
    if key not in built.cache:
        addresses: Iterable[str] = (data[built.words["addr"]] for data in built.nodes.values())
        built.cache[key] = sorted({str(ipaddress.ip_network(f"{a}/{length}", strict=False)) for a in addresses})
    found: list[str] = built.cache[key]
    return found


@slot("prefix16")
def _prefix16(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put_private(name, draw.pick(_prefixes(draw.built, 16)), "prefix")


@slot("prefix")
def _prefix(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    length = draw.stream.pick((16, 16, 24))
    draw.put_private(name, draw.pick(_prefixes(draw.built, length)), "prefix")


@slot("node_and_prefix")
def _node_and_prefix(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """A host, and a /16 that some but not all of its neighbours are in, if there is one."""
    host = draw.pick([n for n, peers in draw.built.peers.items() if len(peers) >= 2])
    address = draw.built.nodes[draw.stream.pick(sorted(draw.built.peers[host]))][draw.built.words["addr"]]
    draw.put_private("x", host, "node")
    draw.put_private("p", str(ipaddress.ip_network(f"{address}/16", strict=False)), "prefix")


@slot("prefixlen")
def _prefixlen(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put(name, draw.stream.pick((8, 16, 16, 24, 24)))


@slot("site")
def _site(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    attribute = draw.built.words["site_attr"]
    draw.put_private(name, draw.pick(sorted({data[attribute] for data in draw.built.nodes.values()})), "value")


@slot("role")
def _role(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    attribute = draw.built.words["role_attr"]
    draw.put_private(name, draw.pick(sorted({data[attribute] for data in draw.built.nodes.values()})), "value")


def _quantile(draw: Draw, weight: str, low: int, high: int) -> int:
    """A threshold between the given percentiles that no link meets exactly, rounded to be speakable."""
    values = sorted(data[draw.values[weight]] for _, _, data in draw.built.edges)
    value: int = values[min(len(values) - 1, len(values) * draw.stream.between(low, high) // 100)]
    digits = max(len(str(value)) - 2, 0)
    rounded = round(value, -digits)
    if rounded in values or not values[0] < rounded < values[-1]:
        rounded = value + 1
    if rounded in values or rounded > values[-1]:
        raise NoOperand
    return rounded


@slot("threshold")
def _threshold(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put(name, _quantile(draw, arguments[0], 55, 92))


@slot("threshold_low")
def _threshold_low(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put(name, _quantile(draw, arguments[0], 10, 50))


@slot("value")
def _value(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    draw.put(name, draw.stream.between(10, 5000))


@slot("degree")
def _degree(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    """A bound that some but not all hosts exceed."""
    degrees = sorted({len(peers) for peers in draw.built.peers.values()})
    if len(degrees) < 2:
        raise NoOperand
    draw.put(name, draw.stream.pick(degrees[:-1][-5:]))


@slot("core")
def _core(draw: Draw, name: str, arguments: Sequence[str]) -> None:
    highest = max(nx.core_number(nx.Graph(draw.built.graph)).values())
    draw.put(name, draw.stream.between(2, max(2, highest)))
